"""A counter-example of a law: two programs that it equates, and inputs on which they differ, to be pasted and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError
from egglift.ir.interpret import evaluate
from egglift.ir.layout import lines
from egglift.ir.patterns import Expr
from egglift.ir.printer import document
from egglift.ir.traverse import subterms
from egglift.ir.types import is_floating

TYPES = "the types"  # what a reason begins with where they differ


@dataclass(frozen=True)
class Wrong:
    """Two programs that a law equates and that are different.  `reason`: how they differ, or why one has no value.

    Where saturation itself found a clash of types, `other` is the program it was found in; `rules` are the law's, if
    the book does not have them; `alone`: was the law without the book?
    """

    program: Expr
    other: Expr
    reason: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    rules: str = ""
    alone: bool = True

    def __str__(self) -> str:
        """A Python program that shows the difference: two results, two types, or an error where a type clashes."""
        lines = [f"# {line}" for line in self.reason.splitlines()]
        lines += ["import numpy as np", "", "import egglift as el", "", f"p = {_loads(self.program)}"]
        if self.other is self.program:
            rules = f', rules=["""\n;;; tested\n{self.rules}\n"""]' if self.rules else ""
            laws = ', laws=["tested"]' if self.alone else ""
            lines += ["from egglift.egraph.saturation.saturate import saturate", ""]
            return "\n".join([*lines, f"saturate(p{rules}{laws}, check=True)"])
        if any(is_floating(a.dtype) for value in self.inputs.values() for a in _parts(value)):
            lines.insert(-1, "np.set_printoptions(precision=17)")  # a difference may be in the last digit
        lines.append(f"q = {_loads(self.other)}")
        if self.reason.startswith(TYPES):
            lines += ["from egglift.ir.check import type_of", "", "print(type_of(p), type_of(q), sep='\\n')"]
            return "\n".join(lines)
        lines += ["inputs = {", *(f"    {k!r}: {_literal(v)}," for k, v in self.inputs.items()), "}"]
        one, other = (self._given(e) for e in (self.program, self.other))
        lines.append(f"print(el.interpret(p, {one}), el.interpret(q, {other}), sep='\\n')")
        return "\n".join(lines)

    def _given(self, e: Expr) -> str:
        """Python text of the inputs that a program takes."""
        names = sorted(inputs_of(e))
        return "**inputs" if set(names) == set(self.inputs) else f"**{{k: inputs[k] for k in {names}}}"


def inputs_of(e: Expr) -> set[str]:
    """The names of a program's inputs."""
    return {t.name for t in subterms(e) if isinstance(t, p.Input)}


def difference(program: Expr, other: Expr, inputs: Mapping[str, Any], same: Callable[[Any, Any], bool]) -> str | None:
    """How two programs differ on inputs, or None; EggliftError where the first has no value there."""
    return against(valued(program, inputs), program, other, inputs, same)


def valued(e: Expr, inputs: Mapping[str, Any], wide: bool = False) -> Any:
    """The value of a program on those of the inputs that it takes; with `wide`, floats are float64."""
    names = inputs_of(e)
    return evaluate(e, {k: v for k, v in inputs.items() if k in names}, wide)


def against(
    expected: Any, program: Expr, other: Expr, inputs: Mapping[str, Any], same: Callable[[Any, Any], bool]
) -> str | None:
    """The same, where the value of `program` is known."""
    try:
        if type_of(other) != type_of(program):
            return f"{TYPES} {type_of(program)} and {type_of(other)} differ"
        actual = valued(other, inputs)
    except EggliftError as error:
        return f"{type(error).__name__}: {error}"
    return None if same(expected, actual) else f"{_short(expected)} and {_short(actual)} differ"


def simplest(wrong: Wrong, same: Callable[[Any, Any], bool]) -> Wrong:
    """The same programs on inputs with as many zeros as still show the difference."""
    for name in wrong.inputs:
        for simpler in _simpler(wrong, name):
            inputs = {**wrong.inputs, name: simpler(wrong.inputs[name])}
            try:
                reason = difference(wrong.program, wrong.other, inputs, same)
            except EggliftError:
                continue
            if reason:
                wrong = replace(wrong, inputs=inputs, reason=reason)
    return wrong


def _simpler(wrong: Wrong, name: str) -> Iterator[Callable[[Any], Any]]:
    """Ways to simplify an input: all zero, then element by element where there are few."""
    yield partial(_changed, change=np.zeros_like)
    for i in range(min(32, max(a.size for a in _parts(wrong.inputs[name])))):
        yield partial(_changed, change=partial(_zeroed, i=i))


def _zeroed(a: Any, i: int) -> Any:
    made = a.copy()
    made.reshape(-1)[i : i + 1] = 0
    return made


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    return tuple(_changed(v, change) for v in value) if isinstance(value, tuple) else change(value)


def _parts(value: Any) -> tuple[Any, ...]:
    return tuple(a for v in value for a in _parts(v)) if isinstance(value, tuple) else (value,)


# ---------------------------------------------------------------------------------------- text


def _loads(e: Expr) -> str:
    return f'el.loads("""\n{lines(document(e), 100)}\n""")'


def _short(value: Any) -> str:
    with np.printoptions(precision=17):
        text = " ".join(str(value).split())
    return text if len(text) < 200 else f"{text[:200]}..."


def _literal(value: Any) -> str:
    """Python text of an input."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))})"
    shape = "" if value.ndim == 1 else f".reshape({', '.join(map(str, value.shape))})"
    if value.ndim and value.size > 2 and value.dtype != bool and (value.reshape(-1) == np.arange(value.size)).all():
        return f"np.arange({value.size}, dtype={value.dtype.name!r}){shape}"
    if value.size > 2 and not value.any():
        return f"np.zeros({value.shape}, {value.dtype.name!r})"
    numbers = str(value.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    return f"np.array({numbers}, {value.dtype.name!r}){shape if value.size == 0 else ''}"
