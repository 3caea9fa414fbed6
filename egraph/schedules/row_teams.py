"""Stages of rows, each of which a team of work-items has: what rows need, and what items keep of them in registers.

    s[0] = sum_1 A[0,1]    ->    for 0, groups and teams:  r[1] = A[0,1], in registers;  s = sum_1 r[1], by all items

What a row needs is reduced by all items of its team through local memory; what several stages compute of an element,
and what is read again, stays with the item that has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import TypeAlias

from egglift.egraph.schedules.edges import if_there
from egglift.egraph.schedules.lower import Lowering
from egglift.egraph.schedules.operand_arrays import Digit
from egglift.egraph.schedules.schedule import Schedule
from egglift.egraph.stages.loops import Axis, Body, Tensor, folded, nest
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.stage import Dim, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, cut, permuted
from egglift.ir.patterns import Expr, Level
from egglift.ir.tuples import as_one
from egglift.ir.types import BOOL

#: what is read, and what is given of a row's elements by its name, as it is in a turn
Here: TypeAlias = dict[Tensor | Expr, Tensor]

ALONE = 16  # partial results that each item adds up itself; more are added in two steps


@dataclass(frozen=True)
class RowStages:
    """starts: what each row needs, each after those that it reads; last: what is made of these and of a row's elements,
    which lie along `columns`."""

    starts: tuple[Stage, ...]
    last: Stage
    rows: Dim
    columns: Dim


@dataclass(frozen=True)
class Sizes:
    """parts: of the rows; items: of a team, which share a row; lanes: of a vector; teams: of a group, each of which has
    a row.

    held: do items keep what they have of a row in registers?  Else it is read again.  beside: do they keep what they
    have of what all rows need, too?
    """

    parts: int
    items: int
    lanes: int
    teams: int = 1
    held: bool = True
    beside: bool = False


class RowTeams:
    """A translation as that of lower.py, of several stages of the same rows.

    in_turn: how many rows a team has, one after the other; None: one.
    """

    def __init__(self, x: RowStages, sizes: Sizes, kind: str, in_turn: int | None = None) -> None:
        self.sizes, self.gpu, self.turns = sizes, kind == "gpu", in_turn
        none = Schedule((), ())
        self.starts, self.last = [Lowering(s, none) for s in x.starts], Lowering(x.last, none)
        self.rows, self.columns = x.rows, x.columns
        self.batch = [d for d in x.last.dims if d not in (x.rows, x.columns)]
        self.teams, self.items = (sizes.teams, sizes.items) if self.gpu else (1, 1)
        #: the loops within a turn: teams and, along a row, turns, items and lanes
        self.team: Digit = (x.rows, 2)
        self.digits: list[Digit] = [(x.columns, i) for i in range(3)]
        levels = (Level("local", 1), Level("seq"), Level("local", 0), Level("vec"))
        own = zip((self.team, *self.digits), levels, strict=True)
        self.levels: dict[Axis, Level | None] = {a: v for a, v in own if self.gpu or v in (levels[1], levels[3])}

    def over_parts(self, part: Body) -> Expr:
        """An array over the batch and the parts of rows, of what the tensors make of a part."""
        level, n = "workgroup" if self.gpu else "global", len(self.batch)
        axes: list[tuple[Axis, Level | None]] = [((d, 0), Level(level, n - i)) for i, d in enumerate(self.batch)]
        axes.append(((self.rows, 0), Level(level, 0)))
        return nest(axes, self.tensors, part)

    def started(self, tensors: Sequence[Tensor]) -> tuple[Here, dict[Expr, Needed]]:
        """What is at hand of a row of each team, and what it needs, once all stages have started."""
        here: Here = dict(zip(self.tensors, tensors, strict=False))
        here |= {t: self.held(here[t]) for t in self.of_rows()}
        known: dict[Expr, Needed] = {}
        for work in self.starts:
            if self.columns in work.stage.dims:
                here[name_of(work)] = self._of_elements(work, here, known)
            else:
                known[name_of(work)] = self._needed(work, here, known)
        return here, known

    # ------------------------------------------------------------------------------------ what is read

    @cached_property
    def tensors(self) -> list[Tensor]:
        """What is read, each once, and where rows and columns end."""
        read = [self._tensor(o) for work in (*self.starts, self.last) for o in self._reads(work)]
        return list(dict.fromkeys([*self.ends, *read]))

    def _reads(self, work: Lowering) -> list[Operand]:
        """What a stage reads of rows and is not given; of the last one, not what follows its reductions."""
        follows = [] if work is self.last and work.phases else work.after
        read = [o for phase in work.phases for o in phase.operands] + follows
        return [o for o in read if o.at not in work.stage.given]

    @cached_property
    def ends(self) -> tuple[Tensor, Tensor]:
        """Where rows end, and columns."""
        return self._tensor(_there(self.rows)), self._tensor(_there(self.columns))

    def _tensor(self, o: Operand) -> Tensor:
        """An operand cut into parts of rows, and along a row; beyond the end, what is there is read again."""
        dims = [d for d in (*self.batch, self.rows, self.columns) if d in o.dims]
        x, axes = permuted(o.array, o.dims, dims), list[Axis]()
        for d in dims:
            blocks, digits = self._cut(d)
            if blocks and number(d) % blocks[0]:
                x = at_depth(len(axes), x, lambda e, b=blocks[0]: _padded(b, e, o))  # type: ignore[misc]
            x = cut(x, len(axes), blocks)
            axes += digits
        return Tensor(x, tuple(axes))

    def _cut(self, d: Dim) -> tuple[list[int], list[Digit]]:
        """The blocks of a dimension, and its digits."""
        if d in self.batch:
            return [], [(d, 0)]
        if d == self.rows:
            turns = [] if self.turns is None else [self.turns * self.teams]
            inner = [self.teams] if self.gpu else []
            return [*turns, *inner], [(d, 0), *([(d, 1)] if turns else []), *([self.team] if self.gpu else [])]
        return [self.items * self.sizes.lanes, *([self.sizes.lanes] if self.gpu else [])], self.along

    @property
    def along(self) -> list[Digit]:
        """The digits along a row."""
        return [c for c in self.digits if c in self.levels]

    # ------------------------------------------------------------------------------------ loops

    def nest(self, axes: Sequence[Axis], tensors: Sequence[Tensor], f: Body) -> Expr:
        """Loops over axes of a row."""
        return nest([(a, self.levels[a]) for a in axes], tensors, f)

    @property
    def inner(self) -> list[Axis]:
        """The loops within a turn, in their order."""
        return [a for a in (self.team, *self.digits) if a in self.levels]

    def by_teams(
        self, axes: Sequence[Axis], read: Sequence[Tensor | Expr], known: Mapping[Expr, Needed], f: Body
    ) -> Expr:
        """Loops of teams over axes along a row; what is read, and is known of rows by name, is computed before."""
        needed = _all_needed([x for x in read if not isinstance(x, Tensor)], known)
        own = [x for x in read if isinstance(x, Tensor)]

        def of_row(ts: list[Tensor]) -> Expr:
            left, values = iter(ts[len(own) :]), dict[Expr, Expr]()
            for name in needed:
                found = known[name].value([next(left) for _ in known[name].tensors], values)
                values[name] = p.To("private", found)
            mine = iter(ts)
            return self.nest(axes, [next(mine) if isinstance(x, Tensor) else Tensor(values[x]) for x in read], f)

        return self.nest(
            self.inner[:1] if self.gpu else [], [*own, *(t for n in needed for t in known[n].tensors)], of_row
        )

    # ------------------------------------------------------------------------------------ what is held

    def of_rows(self) -> list[Tensor]:
        """What a GPU's items hold of a row in registers: what is summed up, and read again then."""
        again = [t for t, n in self._times.items() if n > 1 and self.team in t.axes]
        return [t for t in again if self.sizes.held and t in self.summed]

    @cached_property
    def _times(self) -> Counter[Tensor]:
        """How many stages read it."""
        works = (*self.starts, self.last)
        return Counter(t for work in works for t in {self._tensor(o): None for o in self._reads(work)})

    @cached_property
    def summed(self) -> list[Tensor]:
        """What is summed up along rows by a GPU's items."""
        operands = ((s, o) for s in self.starts for phase in s.phases for o in phase.operands)
        read = (self._tensor(o) for s, o in operands if o in self._reads(s))
        return [t for t in dict.fromkeys(read) if self.gpu and t.axes[-1] == self.digits[-1]]

    def held(self, t: Tensor) -> Tensor:
        """What each item reads of it, in its registers."""
        own = t if self.team in t.axes else Tensor(p.Fill(self.teams, t.x), (self.team, *t.axes))
        return Tensor(p.To("private", self.nest(own.axes, [own], lambda ts: ts[0].x)), own.axes)

    def own(self, work: Lowering, operands: Sequence[Operand], here: Here) -> list[Tensor | Expr]:
        """What a stage reads; the name of what is given of a row."""
        return [here.get(o.array, o.array) if o.at in work.stage.given else here[self._tensor(o)] for o in operands]

    def _of_elements(self, work: Lowering, here: Here, known: Mapping[Expr, Needed]) -> Tensor:
        """What a stage computes of a row's elements, in the registers of the items that have these."""

        def element(ts: list[Tensor]) -> Expr:
            return work.epilogue(p.Tup(()), [t.x for t in ts])

        found = self.by_teams(self.along, self.own(work, work.after, here), known, element)
        return Tensor(p.To("private", found), tuple(self.inner))

    # ------------------------------------------------------------------------------------ what rows need

    def _needed(self, work: Lowering, here: Here, known: Mapping[Expr, Needed]) -> Needed:
        """What a row needs, by all who share it."""
        after = self.own(work, work.after, here)
        if not work.phases:
            return Needed(work, None, after, self.gpu)
        phase = work.phases[0]
        share = self.digits[1] if self.gpu else self.digits[2]
        inner = [c for c in self.along if c != share]
        padded = number(self.columns) % (self.items * self.sizes.lanes) != 0

        def fold(ts: list[Tensor]) -> Expr:
            """What an executor has of a row: by vectors, whose lanes are then added."""
            if not self.gpu:
                return folded(inner[0], work.neutral(), ts, step)
            turn, lane = inner
            sums = folded(turn, p.Fill(self.sizes.lanes, work.neutral()), ts, lambda acc, e: lanes(acc, lane, e), True)
            return combined(work, lane, Tensor(sums, (lane,)), work.neutral())

        def lanes(total: Expr, lane: Digit, ts: list[Tensor]) -> Expr:
            return self.nest([lane], [Tensor(total, (lane,)), *ts], lambda e: step(e[0].x, e[1:]))

        def step(total: Expr, ts: list[Tensor]) -> Expr:
            there, *elements = ts
            new = work.step(phase, total, [t.x for t in elements])
            return if_there(there.x, new, total) if padded else new

        order = [self.team, share, *inner]
        read = [
            _in_order(t, order) if isinstance(t, Tensor) else t
            for t in (here[self.ends[1]], *self.own(work, phase.operands, here))
        ]
        parts = self.by_teams([share], read, known, fold)
        found = Tensor(p.To("local" if self.gpu else "private", parts), (self.team, share) if self.gpu else (share,))
        return Needed(work, self._few(work, found) if self.gpu else found, after, self.gpu)

    def _few(self, work: Lowering, parts: Tensor) -> Tensor:
        """Partial results of teams, of which each item can add up all: of some items each, if they are many."""
        few = next((n for n in range(isqrt(self.items), 1, -1) if self.items % n == 0), 1)
        if self.items <= ALONE or few == 1:
            return parts
        some, others = (self.columns, 3), (self.columns, 4)  # neighbours read neighbours
        x = permuted(cut(parts.x, 1, [few]), (self.team, others, some), (self.team, some, others))
        sums = nest(
            [(self.team, Level("local", 1)), (some, Level("local", 0))],
            [Tensor(x, (self.team, some, others))],
            lambda ts: combined(work, others, ts[0], work.neutral()),
        )
        return Tensor(p.To("local", sums), (self.team, some))


@dataclass(frozen=True)
class Needed:
    """What a stage makes of a row: partial results of what it reduces, and what it reads in what follows."""

    work: Lowering
    found: Tensor | None
    after: list[Tensor | Expr]
    gpu: bool

    @property
    def tensors(self) -> list[Tensor]:
        return [t for t in (self.found, *self.after) if isinstance(t, Tensor)]

    def value(self, tensors: list[Tensor], known: Mapping[Expr, Expr]) -> Expr:
        """The result, of the tensors' elements for a row, where results before it are known."""
        work, rest = self.work, iter(tensors)
        found: Expr = p.Tup(())
        if self.found is not None:
            parts = next(rest)
            if self.gpu:
                found = combined(work, parts.axes[0], parts, as_one([r.init for r in work.first]))
            else:
                found = work.total(parts.axes[0], parts, "private", alone=True)  # type: ignore[arg-type]
        return work.epilogue(found, [next(rest).x if isinstance(t, Tensor) else known[t] for t in self.after])


def combined(work: Lowering, axis: Axis, parts: Tensor, init: Expr) -> Expr:
    """Few partial results as one, one after the other."""
    return folded(axis, init, [parts], lambda total, e: work.combined(total, e[0].x), unroll=True)


def _all_needed(names: Sequence[Expr], known: Mapping[Expr, Needed]) -> list[Expr]:
    """Some results, and those that they are computed from, in their order."""
    found, todo = set(names), list(names)
    while todo:
        new = [x for x in known[todo.pop()].after if not isinstance(x, Tensor) and x not in found]
        found.update(new)
        todo += new
    return [name for name in known if name in found]


def name_of(work: Lowering) -> Expr:
    """What stands for the array of a stage."""
    return p.Input(work.stage.name, work.stage.type)


def _in_order(t: Tensor, axes: Sequence[Axis]) -> Tensor:
    """A tensor with its axes in the order of `axes`."""
    order = tuple(a for a in axes if a in t.axes)
    return Tensor(permuted(t.x, t.axes, order), order)


def _there(d: Dim) -> Operand:
    """Is an index of a dimension before its end?"""
    return Operand(p.Fill(d.extent, p.Literal(True, BOOL)), (d,), _THERE)


_THERE = p.Input("%there", BOOL)


def _padded(block: int, x: Expr, o: Operand) -> Expr:
    return p.PadUp(block, x, p.Literal(False, BOOL)) if o.at is _THERE else p.PadUp(block, x)
