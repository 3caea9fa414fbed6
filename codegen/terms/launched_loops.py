"""Loops whose steps are launched one by one, whatever pattern they are: what a step computes, and where that goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

from egglift.codegen.kernel.views import length, number
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import CodegenError
from egglift.ir.named_states import Loop, components, states_in
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.tuples import as_one
from egglift.ir.types import Type, leaves


@dataclass(frozen=True)
class LaunchedLoop:
    """A loop, by the value of one step: its next state, and what else a scan keeps.

    names: which component of what a step is given its names stand for.  next: which component of a step's value each
    component of the next state is.  kept: which of them a scan keeps; () of other loops.  counts: is it a loop over
    numbers of steps, and no iteration?
    """

    count: int
    start: Expr
    step: Expr
    names: Mapping[str, int]
    next: tuple[int, ...]
    kept: tuple[int, ...] = ()
    counts: bool = True

    @property
    def states(self) -> tuple[int, ...]:
        """For each leaf of a state, in order, the leaf of a step's value that is the next one."""
        parts = leaves_of(type_of(self.step))
        return tuple(i for k in self.next for i in parts[k])

    @property
    def results(self) -> tuple[int, ...]:
        """For each leaf of what a scan keeps, in order, the leaf of a step's value."""
        parts = leaves_of(type_of(self.step))
        return tuple(i for k in self.kept for i in parts[k])


def leaves_of(t: Type) -> tuple[range, ...]:
    """The numbers of the leaves of each component of a value."""
    ends = accumulate((len(leaves(item)) for item in components(t)), initial=0)
    return tuple(range(start, end) for start, end in pairwise(ends))


def launched_loop(t: Loop) -> LaunchedLoop:
    """The steps of a loop that is launched (terms/kernel_boundaries.py)."""
    names = states_in(t.body)
    if isinstance(t, p.Iterate):  # so many launches: of a length, of that one only
        return LaunchedLoop(int(number(t.count)), t.x, t.body, names, _all(t.body), counts=False)
    count = int(length(type_of(t.x)))
    if isinstance(t, p.Fold):
        return LaunchedLoop(count, t.init, t.body, names, _all(t.body))
    return _scan(t, count, names)


def _all(step: Expr) -> tuple[int, ...]:
    return tuple(range(len(components(type_of(step)))))


def _scan(t: p.ScanSeq, count: int, names: Mapping[str, int]) -> LaunchedLoop:
    """A scan: <next state, what is kept>, each of which may be a tuple, and have parts in common."""
    if not isinstance(t.body, p.Tup):
        raise CodegenError(f"{brief(t)}: it says nowhere which part of a step is the state, and which is kept")
    after, kept = (x.items if isinstance(x, p.Tup) else (x,) for x in t.body.items)
    if len(set(kept)) < len(kept):
        raise CodegenError(f"{brief(t)}: it keeps the same part of a step twice")
    parts = tuple(dict.fromkeys((*after, *kept)))
    whole = {x.x if isinstance(x, p.Get) else x for x in parts}
    if len(whole) == 1 and all(isinstance(x, p.Get) for x in parts):
        numbers: dict[Expr, int] = {x: x.index for x in parts if isinstance(x, p.Get)}
        step = whole.pop()
    else:
        numbers, step = {x: i for i, x in enumerate(parts)}, as_one(parts)
    return LaunchedLoop(count, t.init, step, names, tuple(numbers[x] for x in after), tuple(numbers[x] for x in kept))
