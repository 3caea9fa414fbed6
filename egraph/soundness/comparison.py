"""Do programs that a law equates compute the same?  On random inputs, with random numbers for tile symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from egglift.codegen.terms.reduce_to_fold import in_order
from egglift.egraph.graph.encode import binary
from egglift.egraph.graph.graph import Graph
from egglift.egraph.soundness.batched_rewriting import Rewritten
from egglift.egraph.soundness.counterexample import Wrong, against, valued
from egglift.egraph.soundness.random_inputs import close, equal, narrowed, random_value
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError
from egglift.ir.patterns import Expr
from egglift.ir.sizes import evaluate as number
from egglift.ir.sizes import symbols
from egglift.ir.tile_kinds import PREFETCH
from egglift.ir.traverse import instantiate, rebuild, subterms
from egglift.ir.types import leaves


@dataclass(frozen=True)
class Meeting:
    """Where programs are compared with the first: numbers for tile symbols, inputs, and its value there.

    exact: the values are to be equal bit for bit; else floats may differ by what another order of operations changes.
    """

    program: Expr
    exact: bool
    numbers: Mapping[str, int]
    inputs: Mapping[str, Any] = field(repr=False)
    value: Any = field(repr=False)
    met: set[Expr] = field(default_factory=set)  # programs that were compared

    def differs(self, other: Expr) -> Wrong | None:
        """How `other`, a program of the same graph, differs from the first; None also if it was compared before."""
        try:
            other = instantiate(other, dict(self.numbers)) if self.numbers else other
        except EggliftError as error:
            return Wrong(self.program, other, f"{type(error).__name__}: {error}")
        if self.exact:
            other = left_to_right(other)
        if other is self.program or other in self.met:
            return None
        self.met.add(other)
        reason = against(self.value, self.program, other, self.inputs, same(self.exact))
        if reason is None or (not self.exact and self._rounding(other)):
            return None
        return Wrong(self.program, other, reason, self.inputs)

    def _rounding(self, other: Expr) -> bool:
        """Is a difference of floats one of rounding, or of an overflow on the way: does float64 show none?"""
        try:
            one, two = (narrowed(valued(e, self.inputs, wide=True), self.value) for e in (self.program, other))
        except EggliftError:
            return False
        return type_of(other) == type_of(self.program) and close(one, two)


def meeting(program: Expr, there: Rewritten, exact: bool, rng: Random) -> Meeting | None:
    """Random numbers and inputs for an instance and its graph; None if the program has no value there."""
    lengths = [*there.tiles.values(), *(n for i in _inputs(there.graph) for shape, _ in leaves(i.type) for n in shape)]
    names = dict.fromkeys([*there.graph.symbols, *(s for n in lengths for s in sorted(symbols(n)))])
    numbers = {
        name: rng.choice((0, 1, 2) if name.startswith(PREFETCH.letter) else (1, 2, 2, 3, 4, 5)) for name in names
    }
    try:
        program = binary(instantiate(program, {name: number(n, numbers) for name, n in there.tiles.items()}))
        asked = [t for t in subterms(program) if isinstance(t, p.Input)]
        asked += [i for t in _inputs(there.graph) if isinstance(i := instantiate(t, numbers), p.Input)]
        inputs = {t.name: random_value(t.type, rng, exact) for t in dict.fromkeys(asked)}
        program = left_to_right(program) if exact else program
        return Meeting(program, exact, numbers, inputs, valued(program, inputs))
    except EggliftError:
        return None


def _inputs(graph: Graph) -> list[p.Input]:
    """The inputs in a graph: its program's, and those that a law, or an instance beside it, has brought in."""
    return [p.Input(*node.data) for nodes in graph.classes.values() for node in nodes if node.op == "Input"]


def left_to_right(e: Expr) -> Expr:
    """`e` with its reductions of floats from left to right: the order that laws keep which do not reassociate."""
    if not any(_reduces_floats(t) for t in subterms(e)):
        return e
    memo: dict[Expr, Expr] = {}
    for t in subterms(e):
        new = rebuild(t, memo.__getitem__, memo.__getitem__)
        memo[t] = in_order(new) if _reduces_floats(t) else new
    return memo[e]


def _reduces_floats(t: Expr) -> bool:
    return isinstance(t, p.Reduce | p.Scan) and any(s.is_float for _, s in leaves(type_of(t.op.body)))


def same(exact: bool) -> Callable[[Any, Any], bool]:
    """Are two values equal, as far as a law says that they are?"""
    return equal if exact else close
