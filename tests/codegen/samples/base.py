"""What a sample is: a small program, how it is launched, its inputs; and words for writing them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from egglift.codegen.kernel.imperative import Launch
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.types import BOOL, F32, Array, Tuple, Type
from tests.codegen.low import add_of, lit, op, vector

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """A program, how it is launched, and its inputs (small integers where not given)."""

    term: Expr
    launch: Launch
    given: Inputs

    def inputs(self) -> Inputs:
        """Values for the program's inputs: small integers where none are given."""
        rng = np.random.default_rng(7)
        return {name: self.given.get(name, _values(t, (), rng)) for name, t in inputs_of(self.term).items()}


def _values(t: Type, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    match t:
        case Tuple(items):
            return tuple(_values(i, shape, rng) for i in items)
        case Array(n, element):
            assert isinstance(n, int)
            return _values(element, (*shape, n), rng)
        case _:
            low = 0 if t == BOOL or not t.is_signed else -8
            return np.asarray(rng.integers(low, 2 if t == BOOL else 9, shape)).astype(t.dtype)


SAMPLES: dict[str, Sample] = {}


def sample(name: str, term: Expr, group_size: int = 16, max_groups: int = 1 << 20, **given: Any) -> None:
    """Register a sample under its name."""
    assert name not in SAMPLES, name
    SAMPLES[name] = Sample(term, Launch(group_size, max_groups), given)


x, y, z = vector("x", 100), vector("y", 100), vector("z", 100)
A, B = vector("A", 6, 40), vector("B", 40, 5)
cube = vector("cube", 3, 5, 7)
arg = p.Arg(F32)
plus = add_of()


def double(e: Expr) -> Expr:
    return op("mul", lit(2.0), e)


def row(n: int, t: Type = F32) -> Expr:
    """The argument of a body over arrays of n."""
    return p.Arg(Array(n, t))


def both(f: str) -> Callable[[Expr], Expr]:
    """The function `f` of a pair's components."""
    return lambda e: op(f, p.Get(0, e), p.Get(1, e))
