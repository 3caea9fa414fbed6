"""Rows that are read once, as low-level programs: groups take them in turn, and add to accumulators of their own.

    for parts of the rows, groups:  for 0, in turn:  for rows beside each other, teams of items:
      t = sum_1 A[0,1] x[1], by the items of a team;  for 1, items: acc[1] += A[0,1] t
    then the teams' accumulators are added, and the parts

What a team's items have of a row stays in their registers, or is read again while it is in a cache.
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
from egglift.egraph.schedules.one_reading import OneReading
from egglift.egraph.schedules.operand_arrays import Digit
from egglift.egraph.schedules.schedule import Schedule
from egglift.egraph.stages.loops import Axis, Body, Tensor, folded, nest
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.sharing import added
from egglift.egraph.stages.stage import Dim, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, cut, merged, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.tuples import as_one
from egglift.ir.types import BOOL, I32, Scalar, Tuple, Type

#: what is read, and what is given of a row's elements by its name, as it is in a turn
_Here: TypeAlias = dict[Tensor | Expr, Tensor]

ALONE = 16  # partial results that each item adds up itself; more are added in two steps


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


@dataclass(frozen=True)
class RowParts:
    """kernel: the low-level program of the parts; added: the stage that adds them, which reads `arrays` by name.

    Among the arrays are those of the starts that are wanted elsewhere.
    """

    kernel: Expr
    added: Stage
    arrays: Mapping[str, Expr]


def in_parts(x: OneReading, sizes: Sizes, kind: str) -> RowParts:
    """Rows in parts, of a group each.

    kind: of the device, "gpu" or "cpu", where an item is a group, and its lanes are the team.
    """
    return _Reading(x, sizes, kind).parts()


class _Reading:
    """A translation as that of lower.py, of several stages in one loop over rows."""

    def __init__(self, x: OneReading, sizes: Sizes, kind: str) -> None:
        self.x, self.sizes, self.gpu = x, sizes, kind == "gpu"
        none = Schedule((), ())
        self.starts, self.last = [Lowering(s, none) for s in x.starts], Lowering(x.last, none)
        self.batch = [d for d in x.last.dims if d != x.columns]
        self.teams, self.items = (sizes.teams, sizes.items) if self.gpu else (1, 1)
        self.turns = -(-number(x.rows) // (sizes.parts * self.teams))
        self.padded = number(x.rows) % (self.turns * self.teams) != 0
        self.wanted = [w for w in self.starts if w.stage.name in x.wanted]
        #: who has the results that are wanted of rows: the items of a team take turns
        self.owner: list[Digit] = [(x.rows, 3), (x.rows, 4)]
        #: the loops within a turn: teams and, along a row, turns, items and lanes
        self.team: Digit = (x.rows, 2)
        self.columns: list[Digit] = [(x.columns, i) for i in range(3)]
        levels = (Level("local", 1), Level("seq"), Level("local", 0), Level("vec"))
        own = zip((self.team, *self.columns), levels, strict=True)
        self.levels: dict[Axis, Level | None] = {a: v for a, v in own if self.gpu or v in (levels[1], levels[3])}

    def parts(self) -> RowParts:
        """The program over the batch and the parts, and the arrays in it."""
        name, n = f"{self.x.last.name}.parts", len(self.batch)
        kernel = self.program()
        kept = p.To("global", kernel)

        def array(i: int) -> Expr:
            return at_depth(n + 1, kept, lambda e: p.Get(i, e)) if self.wanted else kept

        parts = merged(array(0), n + 1, len(self._along))
        parts = at_depth(n + 1, parts, lambda e: p.Take(self.x.columns.extent, e))
        arrays = {name: parts}
        for i, work in enumerate(self.wanted):
            found = at_depth(n, merged(array(i + 1), n, 2), lambda e: p.Take(self.x.rows.extent, e))
            arrays[work.stage.name] = permuted(found, (*self.batch, self.x.rows), work.stage.dims)
        count = -(-number(self.x.rows) // (self.turns * self.teams))  # fewer, where parts of so many rows are enough
        dims = (*self.batch, self.x.last.names.dim(count), self.x.columns)
        return RowParts(kernel, added(self.x.last, p.Input(name, type_of(parts)), dims, dims[-2]), arrays)

    def program(self) -> Expr:
        """An array over the batch and the parts: of accumulators, and of what is wanted of rows."""
        level, n = "workgroup" if self.gpu else "global", len(self.batch)
        axes: list[tuple[Axis, Level | None]] = [((d, 0), Level(level, n - i)) for i, d in enumerate(self.batch)]
        axes.append(((self.x.rows, 0), Level(level, 0)))
        return nest(axes, self.tensors, self._part)

    # ------------------------------------------------------------------------------------ what is read

    @cached_property
    def tensors(self) -> list[Tensor]:
        """What is read, each once, and where rows and columns end."""
        read = [self._tensor(o) for work in (*self.starts, self.last) for o in self._reads(work)]
        return list(dict.fromkeys([*self._ends, *read]))

    def _reads(self, work: Lowering) -> list[Operand]:
        """What a stage reads in the loop over rows and is not given; of the last one, not what follows."""
        read = [o for phase in work.phases for o in phase.operands] + (work.after if work is not self.last else [])
        return [o for o in read if o.at not in work.stage.given]

    @cached_property
    def _ends(self) -> tuple[Tensor, Tensor]:
        return self._tensor(_there(self.x.rows)), self._tensor(_there(self.x.columns))

    def _tensor(self, o: Operand) -> Tensor:
        """An operand cut into parts of rows, and along a row; beyond the end, what is there is read again."""
        dims = [d for d in (*self.batch, self.x.rows, self.x.columns) if d in o.dims]
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
        if d == self.x.rows:
            inner = [self.teams] if self.gpu else []
            return [self.turns * self.teams, *inner], [(d, 0), (d, 1), *([self.team] if self.gpu else [])]
        return [self.items * self.sizes.lanes, *([self.sizes.lanes] if self.gpu else [])], self._along

    @property
    def _along(self) -> list[Digit]:
        """The digits along a row."""
        return [c for c in self.columns if c in self.levels]

    # ------------------------------------------------------------------------------------ loops

    def _nest(self, axes: Sequence[Axis], tensors: Sequence[Tensor], f: Body) -> Expr:
        owner: dict[Axis, Level | None] = dict(zip(self.owner, (Level("seq"), Level("local", 0)), strict=True))
        return nest([(a, (self.levels | owner)[a]) for a in axes], tensors, f)

    @property
    def _inner(self) -> list[Axis]:
        """The loops within a turn, in their order."""
        return list(self.levels)

    def _part(self, tensors: list[Tensor]) -> Expr:
        """The accumulators of a part, once all its rows have been added."""
        here = [self._held(t) if self._is_kept(whole) else t for whole, t in zip(self.tensors, tensors, strict=True)]
        turn, init = (self.x.rows, 1), self._begun()
        if not self.wanted:
            return self._finished(folded(turn, init, here, lambda acc, ts: self._row([acc], ts)[0]))
        init = p.Tup((init, *(self._unknown(w) for w in self.wanted)))
        numbers = Tensor(p.Iota(self.turns, I32), (turn,))

        def row(state: Expr, ts: list[Tensor]) -> Expr:
            return p.Tup(tuple(self._row([p.Get(i, state) for i in range(len(self.wanted) + 1)], ts)))

        state = folded(turn, init, [*here, numbers], row)
        return p.Tup(
            (self._finished(p.Get(0, state)), *(self._found(p.Get(i + 1, state)) for i in range(len(self.wanted))))
        )

    def _begun(self) -> Expr:
        """The accumulators before all rows."""
        init, turn = self.last.neutral(), self.items * self.sizes.lanes
        lengths: dict[Axis, int] = {
            self.team: self.teams,
            self.columns[0]: -(-number(self.x.columns) // turn),
            self.columns[1]: self.items,
            self.columns[2]: self.sizes.lanes,
        }
        if not self.gpu:
            lengths[self.columns[1]] = self.sizes.lanes
        for a in reversed(self._inner):
            init = p.Fill(lengths[a], init)
        return init

    def _finished(self, total: Expr) -> Expr:
        """The accumulators of all teams, as one."""
        found = Tensor(total, tuple(self._inner))
        if self.teams > 1:
            return self._of_teams(found)
        if self.gpu:
            found = Tensor(p.At(0, total), tuple(self._along))
        return self._nest(self._along, [found], lambda ts: ts[0].x)

    def _of_teams(self, found: Tensor) -> Expr:
        """The accumulators of all teams, added."""
        own = p.To("local", self._nest(self._inner, [found], lambda ts: ts[0].x))
        order = (*self._along, self.team)
        t = Tensor(permuted(own, found.axes, order), order)
        return self._nest(self._along, [t], lambda ts: self.last.total(self.team, ts[0], "local", alone=False))

    def _row(self, state: list[Expr], tensors: list[Tensor]) -> list[Expr]:
        """The state with a row of each team added: what it needs first."""
        here: _Here = dict(zip(self.tensors, tensors, strict=False))
        here |= {t: self._held(here[t]) for t in self._of_rows()}
        known: dict[Expr, _Needed] = {}
        row, end = (here[t] for t in self._ends)
        for work in self.starts:
            if self.x.columns in work.stage.dims:
                here[_name(work)] = self._of_elements(work, here, known)
            else:
                known[_name(work)] = self._needed(work, here, known, end)
        phase = self.last.phases[0]

        def add(ts: list[Tensor]) -> Expr:
            old, there, *elements = ts
            new = self.last.step(phase, old.x, [t.x for t in elements])
            return if_there(there.x, new, old.x) if self.padded else new

        total, *results = state
        read = [Tensor(total, tuple(self._inner)), row, *self._own(self.last, phase.operands, here)]
        found = [self._by_teams(self._along, read, known, add)]
        for work, old in zip(self.wanted, results, strict=True):
            found.append(self._with_row(work, old, tensors[-1].x, known))
        return found

    def _by_teams(
        self, axes: Sequence[Axis], read: Sequence[Tensor | Expr], known: Mapping[Expr, _Needed], f: Body
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
            return self._nest(axes, [next(mine) if isinstance(x, Tensor) else Tensor(values[x]) for x in read], f)

        return self._nest(
            self._inner[:1] if self.gpu else [], [*own, *(t for n in needed for t in known[n].tensors)], of_row
        )

    # ------------------------------------------------------------------------------------ what is wanted elsewhere

    @property
    def _each(self) -> int:
        """Of how many rows of its team an item has the results."""
        return -(-self.turns // self.items)

    def _unknown(self, work: Lowering) -> Expr:
        """The results of rows before all rows."""
        return p.Fill(self.teams, p.Fill(self._each, p.Fill(self.items, _zero(type_of(work.stage.body)))))

    def _with_row(self, work: Lowering, old: Expr, turn: Expr, known: Mapping[Expr, _Needed]) -> Expr:
        """The results of rows with those of this turn, of each team's: the item whose turn it is keeps it."""
        numbers = Tensor(p.Split(self.items, p.Iota(self._each * self.items, I32)), tuple(self.owner))

        def keep(ts: list[Tensor]) -> Expr:
            old, own, now, new = (t.x for t in ts)
            return if_there(p.Apply("eq", (own, now)), new, old)

        read = [Tensor(old, (self.team, *self.owner)), numbers, Tensor(turn), _name(work)]
        return self._by_teams(self.owner, read, known, keep)

    def _found(self, results: Expr) -> Expr:
        """The results of a part's rows, in their order."""
        axes = (self.team, *self.owner)
        x = merged(self._nest(axes, [Tensor(results, axes)], lambda ts: ts[0].x), 1, 2)
        x = at_depth(1, x, lambda e: p.Take(self.turns, e))
        return merged(permuted(x, "tr", "rt"), 0, 2)

    # ------------------------------------------------------------------------------------ what is held

    def _of_rows(self) -> list[Tensor]:
        """What a GPU's items hold of a row in registers: what is summed up, and read again then."""
        again = [t for t, n in self._times.items() if n > 1 and self.team in t.axes]
        return [t for t in again if self.sizes.held and t in self._summed]

    def _is_kept(self, t: Tensor) -> bool:
        """Is it held for all rows?"""
        return self.sizes.beside and self.team not in t.axes and t in self._summed

    @cached_property
    def _times(self) -> Counter[Tensor]:
        """How many stages read it."""
        works = (*self.starts, self.last)
        return Counter(t for work in works for t in {self._tensor(o): None for o in self._reads(work)})

    @cached_property
    def _summed(self) -> list[Tensor]:
        """What is summed up along rows by a GPU's items."""
        operands = ((s, o) for s in self.starts for phase in s.phases for o in phase.operands)
        read = (self._tensor(o) for s, o in operands if o in self._reads(s))
        return [t for t in dict.fromkeys(read) if self.gpu and t.axes[-1] == self.columns[-1]]

    def _held(self, t: Tensor) -> Tensor:
        """What each item reads of it, in its registers."""
        own = t if self.team in t.axes else Tensor(p.Fill(self.teams, t.x), (self.team, *t.axes))
        return Tensor(p.To("private", self._nest(own.axes, [own], lambda ts: ts[0].x)), own.axes)

    def _own(self, work: Lowering, operands: Sequence[Operand], here: _Here) -> list[Tensor | Expr]:
        """What a stage reads; the name of what is given of a row."""
        return [here.get(o.array, o.array) if o.at in work.stage.given else here[self._tensor(o)] for o in operands]

    def _of_elements(self, work: Lowering, here: _Here, known: Mapping[Expr, _Needed]) -> Tensor:
        """What a stage computes of a row's elements, in the registers of the items that have these."""

        def element(ts: list[Tensor]) -> Expr:
            return work.epilogue(p.Tup(()), [t.x for t in ts])

        found = self._by_teams(self._along, self._own(work, work.after, here), known, element)
        return Tensor(p.To("private", found), tuple(self._inner))

    # ------------------------------------------------------------------------------------ what rows need

    def _needed(self, work: Lowering, here: _Here, known: Mapping[Expr, _Needed], end: Tensor) -> _Needed:
        """What a row needs, by all who share it."""
        after = self._own(work, work.after, here)
        if not work.phases:
            return _Needed(work, None, after, self.gpu)
        phase = work.phases[0]
        share = self.columns[1] if self.gpu else self.columns[2]
        inner = [c for c in self._along if c != share]
        padded = number(self.x.columns) % (self.items * self.sizes.lanes) != 0

        def fold(ts: list[Tensor]) -> Expr:
            """What an executor has of a row: by vectors, whose lanes are then added."""
            if not self.gpu:
                return folded(inner[0], work.neutral(), ts, step)
            turn, lane = inner
            sums = folded(turn, p.Fill(self.sizes.lanes, work.neutral()), ts, lambda acc, e: lanes(acc, lane, e), True)
            return _combined(work, lane, Tensor(sums, (lane,)), work.neutral())

        def lanes(total: Expr, lane: Digit, ts: list[Tensor]) -> Expr:
            return self._nest([lane], [Tensor(total, (lane,)), *ts], lambda e: step(e[0].x, e[1:]))

        def step(total: Expr, ts: list[Tensor]) -> Expr:
            there, *elements = ts
            new = work.step(phase, total, [t.x for t in elements])
            return if_there(there.x, new, total) if padded else new

        order = [self.team, share, *inner]
        read = [_along(t, order) if isinstance(t, Tensor) else t for t in (end, *self._own(work, phase.operands, here))]
        parts = self._by_teams([share], read, known, fold)
        found = Tensor(p.To("local" if self.gpu else "private", parts), (self.team, share) if self.gpu else (share,))
        return _Needed(work, self._few(work, found) if self.gpu else found, after, self.gpu)

    def _few(self, work: Lowering, parts: Tensor) -> Tensor:
        """Partial results of teams, of which each item can add up all: of some items each, if they are many."""
        few = next((n for n in range(isqrt(self.items), 1, -1) if self.items % n == 0), 1)
        if self.items <= ALONE or few == 1:
            return parts
        some, others = (self.x.columns, 3), (self.x.columns, 4)  # neighbours read neighbours
        x = permuted(cut(parts.x, 1, [few]), (self.team, others, some), (self.team, some, others))
        sums = nest(
            [(self.team, Level("local", 1)), (some, Level("local", 0))],
            [Tensor(x, (self.team, some, others))],
            lambda ts: _combined(work, others, ts[0], work.neutral()),
        )
        return Tensor(p.To("local", sums), (self.team, some))


@dataclass(frozen=True)
class _Needed:
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
                found = _combined(work, parts.axes[0], parts, as_one([r.init for r in work.first]))
            else:
                found = work.total(parts.axes[0], parts, "private", alone=True)  # type: ignore[arg-type]
        return work.epilogue(found, [next(rest).x if isinstance(t, Tensor) else known[t] for t in self.after])


def _combined(work: Lowering, axis: Axis, parts: Tensor, init: Expr) -> Expr:
    """Few partial results as one, one after the other."""
    return folded(axis, init, [parts], lambda total, e: work.combined(total, e[0].x), unroll=True)


def _all_needed(names: Sequence[Expr], known: Mapping[Expr, _Needed]) -> list[Expr]:
    """Some results, and those that they are computed from, in their order."""
    found, todo = set(names), list(names)
    while todo:
        new = [x for x in known[todo.pop()].after if not isinstance(x, Tensor) and x not in found]
        found.update(new)
        todo += new
    return [name for name in known if name in found]


def _name(work: Lowering) -> Expr:
    """What stands for the array of a stage."""
    return p.Input(work.stage.name, work.stage.type)


def _zero(t: Type) -> Expr:
    """Something of a type."""
    if isinstance(t, Tuple):
        return p.Tup(tuple(map(_zero, t.items)))
    assert isinstance(t, Scalar)
    return p.Literal(False if t == BOOL else 0.0 if t.is_float else 0, t)


def _along(t: Tensor, axes: Sequence[Axis]) -> Tensor:
    """A tensor with its axes in the order of `axes`."""
    order = tuple(a for a in axes if a in t.axes)
    return Tensor(permuted(t.x, t.axes, order), order)


def _there(d: Dim) -> Operand:
    """Is an index of a dimension before its end?"""
    return Operand(p.Fill(d.extent, p.Literal(True, BOOL)), (d,), _THERE)


_THERE = p.Input("%there", BOOL)


def _padded(block: int, x: Expr, o: Operand) -> Expr:
    return p.PadUp(block, x, p.Literal(False, BOOL)) if o.at is _THERE else p.PadUp(block, x)
