"""Chains of small stages as one kernel: each work-item computes all of them for its index of the outermost dimension.

    s[0,1] = sum_2 A[0,1,2] x[0,2]            for 0, work-items:  s = [ sum_2 A[0,1,2] x[0,2] ]  in registers
    y[0,1] = sum_2 B[0,1,2] s[0,2]     ->                         [ sum_2 B[0,1,2] s[2] ]

What is between the stages is no array in global memory: of small matrices, that is most of the traffic.
source: fusion of maps, [Hagedorn2018] (20)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from egglift.egraph.schedules.lower import Lowering
from egglift.egraph.schedules.operand_arrays import Digit
from egglift.egraph.schedules.rows import at_rows, read_by
from egglift.egraph.schedules.schedule import Loop, Schedule
from egglift.egraph.stages.as_pattern import reads_of, views_of
from egglift.egraph.stages.given import NotGiven
from egglift.egraph.stages.loops import Axis, Tensor, mapped, nest
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.partition import Stages
from egglift.egraph.stages.stage import Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import element_type, permuted
from egglift.ir.patterns import Expr, Level
from egglift.ir.traverse import subterms, with_argument
from egglift.ir.tuples import as_one

SMALL = 64  # results of a stage for each index of the batch, and elements that one of them is reduced of
MANY = 1024  # indices that a batch has at least


@dataclass(frozen=True)
class Batch:
    """Stages over one outermost dimension, in an order in which they can run.  ends: those that others read."""

    stages: tuple[Stage, ...]
    ends: tuple[str, ...]

    def __str__(self) -> str:
        count, n = len(self.stages), number(self.stages[0].dims[0])
        return f"each of {n} work-items computes all {count} stages for its index of the outermost dimension"


def batches(whole: Stages) -> Iterator[Batch]:
    """The chains of a program: stages as long, small but for that, which read each other at their own index."""
    wanted = {t.name for t in subterms(whole.result) if isinstance(t, p.Input)}
    for n in dict.fromkeys(number(s.dims[0]) for s in whole.stages if s.dims):
        inside = [s for s in whole.stages if s.dims and number(s.dims[0]) == n and _is_small(s) and not s.is_apart]
        names = {s.name for s in inside}
        outside = [s for s in whole.stages if s.name not in names]
        needed = set[str]().union(*(read_by(s, whole.stages) for s in inside))
        if n < MANY or len(inside) < 2 or any(read_by(s, whole.stages) & names for s in outside if s.name in needed):
            continue
        read = wanted.union(*(read_by(s, whole.stages) for s in outside))
        try:
            yield _batch(inside, tuple(s.name for s in inside if s.name in read))
        except NotGiven:
            continue


def _is_small(s: Stage) -> bool:
    reduced = [d for phase in s.phases for d in dict.fromkeys(phase[0].dims)]
    return all(prod(map(number, dims)) <= SMALL for dims in (s.dims[1:], reduced))


def _batch(stages: Sequence[Stage], ends: tuple[str, ...]) -> Batch:
    """NotGiven if a stage reads another one elsewhere than at its own index."""
    outer, names, found = stages[0].dims[0], {s.name for s in stages}, []
    for s in stages:
        own = at_rows(s, (outer, *s.dims[1:]))
        reads = reads_of(own.names, own.body)
        if any(_started(view, names) for view in views_of(own.names, own.body)[len(reads) :]):
            raise NotGiven
        for r in reads:
            if _started(r.view, names):
                if r.dims[:1] != (outer,) or outer in r.dims[1:]:
                    raise NotGiven
                _at_index(r.view, {name: p.Input(name, own.type) for name in names})
        # what is computed of reads is computed where it is needed: all is near
        near = (own.names.read(r) for r in reads)
        found.append(replace(own, given=frozenset(x for x in near if isinstance(x, p.Input))))
    return Batch(tuple(found), ends)


def _started(view: Expr, names: set[str]) -> bool:
    return any(isinstance(t, p.Input) and t.name in names for t in subterms(view))


def _at_index(view: Expr, values: Mapping[str, Expr]) -> Expr:
    """A view of an array of a stage at an index of its outermost axis, where the stage's value there is known.

    map transpose s -> transpose (value of s)
    """
    match view:
        case p.Input(name) if name in values:
            return values[name]
        case p.Map(body, x, None):
            return with_argument(body, _at_index(x, values))
    raise NotGiven


def in_one_kernel(batch: Batch) -> Expr:
    """The low-level program of a batch: an array of what its ends yield for each index, tuples if they are several."""
    return _Together(batch).program()


class _Together:
    """A translation as that of rows.py, all in the private memory of a work-item."""

    def __init__(self, batch: Batch) -> None:
        self.batch, self.outer = batch, batch.stages[0].dims[0]
        self.works = [Lowering(s, Schedule(tuple(self._steps(s)), ())) for s in batch.stages]

    def _steps(self, s: Stage) -> Iterator[Loop]:
        yield Loop(self.outer, 0, "grid", Level("global", 0))
        for d in s.dims[1:]:
            yield Loop(d, 0, "own", Level("seq"))
        for d in s.phases[0][0].dims if s.phases else ():
            yield Loop(d, 0, "sequential")

    def program(self) -> Expr:
        """An array over the outermost dimension."""
        return mapped((self.outer, 0), self._tensors, self._of_index, Level("global", 0))

    @cached_property
    def _tensors(self) -> list[Tensor]:
        """What is read of arrays, each once."""
        read = (work.tensor(o, phase) for work in self.works for o, phase in work.operands if not self._is_near(o))
        return list(dict.fromkeys(read))

    def _is_near(self, o: Operand) -> bool:
        return _started(o.array, {s.name for s in self.batch.stages})

    def _of_index(self, tensors: list[Tensor]) -> Expr:
        here, done = dict(zip(self._tensors, map(self._held, self._tensors, tensors), strict=True)), dict[str, Expr]()
        for work in self.works:
            own = [
                self._near(work, o, done) if self._is_near(o) else here[work.tensor(o, phase)]
                for o, phase in work.operands
            ]
            done[work.stage.name] = p.To("private", work.outside(work.schedule.steps[1:], own))
        ends = [done[name] for name in self.batch.ends]
        return as_one(ends)

    def _held(self, whole: Tensor, t: Tensor) -> Tensor:
        """What an index has of its own, read once, by vectors."""
        if whole.axes[:1] != ((self.outer, 0),) or not t.axes:
            return t
        levels = [(a, Level("vec" if a == t.axes[-1] and _is_vector(whole.axes[-1]) else "seq")) for a in t.axes]
        return Tensor(p.To("private", nest(levels, [t], lambda ts: ts[0].x)), t.axes)

    def _near(self, work: Lowering, o: Operand, done: Mapping[str, Expr]) -> Tensor:
        """What is read of a stage before, with axes in the order of the loops."""
        axes: list[Digit] = [(d, 0) for d in o.dims[1:]]
        order = [(loop.dim, loop.digit) for loop in work.schedule.loops if (loop.dim, loop.digit) in axes]
        return Tensor(permuted(_at_index(o.array, done), axes, order), tuple(order))


def _is_vector(axis: Axis) -> bool:
    """Is a dimension as long as vectors of OpenCL are?"""
    assert isinstance(axis, tuple)
    return number(axis[0]) in (2, 4, 8, 16)


def placed_ends(batch: Batch, kernel: Expr) -> dict[str, Expr]:
    """The arrays of a batch's ends by their names, where `kernel` is what all of it yields."""
    if len(batch.ends) == 1:
        return {batch.ends[0]: kernel}
    return {name: p.Map(p.Get(i, p.Arg(element_type(kernel))), kernel) for i, name in enumerate(batch.ends)}
