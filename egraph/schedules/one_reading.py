"""Reductions over rows of what is made of a row and of results for it, all rows read once.

    s[0] = sum_1 A[0,1] x[1]                    for parts of the rows, groups:  for 0, in turn:
    y[0] = sum_1 A[1,0] s[1]         ->           t = sum_1 A[0,1] x[1], by all items;  for 1, items: acc[1] += A[0,1] t
                                                then the parts are added

What a row needs starts within the loop over rows.  Accumulators for its elements are registers of the items, on a CPU
an array in its cache; the row's second reading finds it in a cache.
source: fusion of maps and reductions, [Hagedorn2018] (20) and (25)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from egglift.egraph.schedules.edges import if_there
from egglift.egraph.schedules.lower import Lowering
from egglift.egraph.schedules.operand_arrays import Digit
from egglift.egraph.schedules.rows import at_rows, with_starts
from egglift.egraph.schedules.schedule import Schedule
from egglift.egraph.stages.as_pattern import ordered, reads_of
from egglift.egraph.stages.given import Given, NotGiven
from egglift.egraph.stages.loops import Tensor, folded, mapped, nest
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.partition import Stages
from egglift.egraph.stages.sharing import added, can_share, commutes
from egglift.egraph.stages.stage import Dim, Read, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, cut, merged, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.types import BOOL

GRID = 3  # dimensions that a grid has


@dataclass(frozen=True)
class OneReading:
    """starts: what each row needs, each after those that it reads; last: reduces over `rows` what is made of a row's
    elements, which lie along `columns`, and of these."""

    starts: tuple[Stage, ...]
    last: Stage
    rows: Dim
    columns: Dim

    def __str__(self) -> str:
        name = self.last.name.lstrip("%")
        return f"each of {number(self.rows)} rows is read once, for what it needs and for what it adds to {name}"


@dataclass(frozen=True)
class Sizes:
    """parts: of the rows; items: of a group, which share a row; lanes: of a vector."""

    parts: int
    items: int
    lanes: int


def one_readings(whole: Stages) -> Iterator[OneReading]:
    """The stages whose rows can be read once for what they need themselves, and for what they add to the result."""
    for starts, last in with_starts(whole):
        with suppress(NotGiven):
            yield _found(starts, last)


def _found(starts: Sequence[Stage], last: Stage) -> OneReading:
    given = Given({s.name: s for s in starts})
    last = given.within(last)
    at = given.at.get(starts[-1].name, ())
    own: list[Stage] = []
    for s in reversed(starts):  # a stage knows its row when those that read it are known
        if not _reduces_alone(s) or given.at.get(s.name) != at or len(s.phases[0][0].dims) != 1:
            raise NotGiven
        own.insert(0, given.within(at_rows(s, at)))
    rows = [d for d in at if d not in last.dims]
    columns = [d for d in last.dims if d not in at]
    if not _reduces_alone(last) or len(rows) != 1 or len(columns) != 1 or len(at) > GRID:
        raise NotGiven
    found = OneReading(tuple(_along(s, columns[0]) for s in own), last, rows[0], columns[0])
    if any(r.dims != (rows[0],) for r in last.reductions) or not _reads_again(found):
        raise NotGiven
    return found


def _reduces_alone(stage: Stage) -> bool:
    """Are a stage's reductions one loop, whose elements may come in any order?"""
    return len(stage.phases) == 1 and can_share(stage) and commutes(stage)


def _along(stage: Stage, columns: Dim) -> Stage:
    """A stage that reduces over `columns`, of as many indices as its own.  NotGiven if it has more or fewer."""
    (own,) = stage.phases[0][0].dims
    if own.extent != columns.extent:
        raise NotGiven
    return replace(stage, body=stage.names.at(stage.body, {own: columns}))


def _reads_again(x: OneReading) -> bool:
    """Does the last stage read what a start has read, the same row of it?"""
    order = (*(d for d in x.last.dims if d != x.columns), x.rows, x.columns)
    again = {ordered(r, order) for r in _reads(x.last)}
    rows = [r for s in x.starts for r in _reads(s) if x.rows in r.dims and x.columns in r.dims]
    return any(ordered(r, order) in again for r in rows)


def _reads(stage: Stage) -> list[Read]:
    return [r for reduction in stage.reductions for r in reads_of(stage.names, reduction.element)]


def in_parts(x: OneReading, sizes: Sizes, kind: str) -> tuple[Expr, Stage]:
    """The low-level program of the parts, and the stage that adds them, which reads them by the name of their array.

    kind: of the device, "gpu" or "cpu".
    """
    work = _Reading(x, sizes, kind)
    term = work.program()
    dims = (*work.batch, x.last.names.dim(sizes.parts), x.columns)
    return term, added(x.last, p.Input(f"{x.last.name}.parts", type_of(term)), dims, dims[-2])


class _Reading:
    """A translation as that of lower.py, of several stages in one loop over rows."""

    def __init__(self, x: OneReading, sizes: Sizes, kind: str) -> None:
        self.x, self.sizes, self.gpu = x, sizes, kind == "gpu"
        none = Schedule((), ())
        self.starts, self.last = [Lowering(s, none) for s in x.starts], Lowering(x.last, none)
        self.batch = [d for d in x.last.dims if d != x.columns]
        self.rows = -(-number(x.rows) // sizes.parts)
        self.turn = (sizes.items if self.gpu else 1) * sizes.lanes

    def program(self) -> Expr:
        """An array over the batch, the parts and the columns."""
        level, n = "workgroup" if self.gpu else "global", len(self.batch)
        axes: list[tuple[Digit, Level | None]] = [((d, 0), Level(level, n - i)) for i, d in enumerate(self.batch)]
        axes.append(((self.x.rows, 0), Level(level, 0)))
        found = nest(axes, self.tensors, self._part)
        found = merged(found, len(axes), len(self._columns))
        return at_depth(len(axes), found, lambda e: p.Take(self.x.columns.extent, e))

    @cached_property
    def tensors(self) -> list[Tensor]:
        """What is read, each once, and where rows and columns end."""
        read = [self._tensor(o) for work in (*self.starts, self.last) for o in self._reads(work)]
        return list(dict.fromkeys([*self._ends, *read]))

    def _reads(self, work: Lowering) -> list[Operand]:
        """What a stage reads in the loop over rows and is not given; of the last one, not what follows."""
        return [o for o in self._operands(work) if o.at not in work.stage.given]

    def _operands(self, work: Lowering) -> list[Operand]:
        return [*work.phases[0].operands, *(work.after if work is not self.last else [])]

    @cached_property
    def _ends(self) -> tuple[Tensor, Tensor]:
        return self._tensor(_there(self.x.rows)), self._tensor(_there(self.x.columns))

    # ------------------------------------------------------------------------------------ loops

    @property
    def _columns(self) -> list[Digit]:
        """The digits along a row: turns, items, lanes."""
        return [(self.x.columns, i) for i in range(3 if self.gpu else 2)]

    def _tensor(self, o: Operand) -> Tensor:
        """An operand cut into parts of rows, and along a row; beyond the end, what is there is read again."""
        dims = [d for d in (*self.batch, self.x.rows, self.x.columns) if d in o.dims]
        x, axes = permuted(o.array, o.dims, dims), list[Digit]()
        for d in dims:
            blocks = self._blocks(d)
            if blocks and number(d) % blocks[0]:
                x = at_depth(len(axes), x, lambda e, b=blocks[0]: _padded(b, e, o))  # type: ignore[misc]
            x = cut(x, len(axes), blocks)
            axes += [(d, i) for i in range(len(blocks) + 1)]
        return Tensor(x, tuple(axes))

    def _blocks(self, d: Dim) -> list[int]:
        if d in self.batch:
            return []
        if d == self.x.rows:
            return [self.rows]
        return [self.turn, self.sizes.lanes] if self.gpu else [self.turn]

    def _part(self, tensors: list[Tensor]) -> Expr:
        """The accumulators of a part, once all its rows have been added."""
        init = self.last.neutral()
        extents = [-(-number(self.x.columns) // self.turn), *((self.sizes.items,) if self.gpu else ())]
        for n in reversed([*extents, self.sizes.lanes]):
            init = p.Fill(n, init)
        total = folded((self.x.rows, 1), init, tensors, self._row)
        return nest(self._levels(), [Tensor(total, tuple(self._columns))], lambda ts: ts[0].x)

    def _levels(self) -> list[tuple[Digit, Level | None]]:
        levels = [Level("seq"), *((Level("local", 0),) if self.gpu else ()), Level("vec")]
        return list(zip(self._columns, levels, strict=True))

    def _row(self, total: Expr, tensors: list[Tensor]) -> Expr:
        """The accumulators with a row added: what it needs first."""
        here = dict(zip(self.tensors, tensors, strict=True))
        here |= {t: self._held(here[t]) for t in self._by_vectors()}
        done = dict[Expr, Tensor]()
        row, end = (here[t] for t in self._ends)
        for work in self.starts:
            name = work.stage.name
            done[p.Input(name, work.stage.type)] = Tensor(self._needed(work, self._own(work, here, done), end))
        phase = self.last.phases[0]

        def add(ts: list[Tensor]) -> Expr:
            old, there, *elements = ts
            new = self.last.step(phase, old.x, [t.x for t in elements])
            return new if number(self.x.rows) % self.rows == 0 else if_there(there.x, new, old.x)

        accumulators = Tensor(total, tuple(self._columns))
        return nest(self._levels(), [accumulators, row, *self._own(self.last, here, done)], add)

    def _by_vectors(self) -> list[Tensor]:
        """What a GPU's items hold of a row in registers: what is summed up, and read again then."""
        read = (self._tensor(o) for s in self.starts for o in s.phases[0].operands if o in self._reads(s))
        return [t for t in dict.fromkeys(read) if self.gpu and t.axes[-1] == self._columns[-1]]

    def _held(self, t: Tensor) -> Tensor:
        return Tensor(p.To("private", nest(self._levels(), [t], lambda ts: ts[0].x)), t.axes)

    def _own(self, work: Lowering, here: Mapping[Tensor, Tensor], done: Mapping[Expr, Tensor]) -> list[Tensor]:
        given = work.stage.given
        return [done[o.array] if o.at in given else here[self._tensor(o)] for o in self._operands(work)]

    def _needed(self, work: Lowering, tensors: list[Tensor], end: Tensor) -> Expr:
        """What a row needs, by all who share it."""
        phase, d = work.phases[0], self.x.columns
        count = len(phase.operands)
        share, *inner = sorted(self._columns, key=lambda digit: digit[1] != 1)
        padded = number(d) % self.turn != 0

        def fold(axes: list[Digit], total: Expr, ts: list[Tensor]) -> Expr:
            if axes:
                return folded(axes[0], total, ts, lambda acc, inner: fold(axes[1:], acc, inner), unroll=self.gpu)
            there, *elements = ts
            new = work.step(phase, total, [t.x for t in elements])
            return if_there(there.x, new, total) if padded else new

        level = Level("local", 0) if self.gpu else Level("vec")
        own = [_outermost(share, t) for t in (end, *tensors[:count])]
        parts = mapped(share, own, lambda ts: fold(inner, work.neutral(), ts), level)
        space = "local" if self.gpu else "private"
        found = work.total(share, Tensor(p.To(space, parts), (share,)), space, alone=True)
        return work.epilogue(found, [t.x for t in tensors[count:]])


def _outermost(axis: Digit, t: Tensor) -> Tensor:
    """A tensor whose first axis is `axis`."""
    order = (axis, *(a for a in t.axes if a != axis))
    return Tensor(permuted(t.x, t.axes, order), order) if axis in t.axes else t


def _there(d: Dim) -> Operand:
    """Is an index of a dimension before its end?"""
    return Operand(p.Fill(d.extent, p.Literal(True, BOOL)), (d,), _THERE)


_THERE = p.Input("%there", BOOL)


def _padded(block: int, x: Expr, o: Operand) -> Expr:
    return p.PadUp(block, x, p.Literal(False, BOOL)) if o.at is _THERE else p.PadUp(block, x)
