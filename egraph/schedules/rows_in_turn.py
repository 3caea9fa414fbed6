"""Rows that are read once, as low-level programs: groups take them in turn, and add to accumulators of their own.

    for parts of the rows, groups:  for 0, in turn:  for rows beside each other, teams of items:
      t = sum_1 A[0,1] x[1], by the items of a team;  for 1, items: acc[1] += A[0,1] t
    then the teams' accumulators are added, and the parts

What a team's items have of a row stays in their registers, or is read again while it is in a cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from egglift.egraph.schedules.edges import if_there
from egglift.egraph.schedules.lower import Lowering
from egglift.egraph.schedules.one_reading import OneReading
from egglift.egraph.schedules.operand_arrays import Digit
from egglift.egraph.schedules.row_teams import Needed, RowTeams, Sizes, name_of
from egglift.egraph.stages.loops import Axis, Tensor, folded
from egglift.egraph.stages.sharing import added
from egglift.egraph.stages.stage import Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, merged, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.types import BOOL, I32, Scalar, Tuple, Type


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


class _Reading(RowTeams):
    """Rows in turn, whose accumulators are registers."""

    def __init__(self, x: OneReading, sizes: Sizes, kind: str) -> None:
        teams, rows = sizes.teams if kind == "gpu" else 1, number(x.rows)
        self.count = -(-rows // (sizes.parts * teams))
        super().__init__(x, sizes, kind, in_turn=self.count)
        self.padded = rows % (self.count * teams) != 0
        self.wanted = [w for w in self.starts if w.stage.name in x.wanted]
        #: who has the results that are wanted of rows: the items of a team take turns
        self.owner: list[Digit] = [(x.rows, 3), (x.rows, 4)]
        self.levels |= dict(zip(self.owner, (Level("seq"), Level("local", 0)), strict=True))

    def parts(self) -> RowParts:
        """The program over the batch and the parts, and the arrays in it."""
        name, n = f"{self.last.stage.name}.parts", len(self.batch)
        kernel = self.over_parts(self._part)
        kept = p.To("global", kernel)

        def array(i: int) -> Expr:
            return at_depth(n + 1, kept, lambda e: p.Get(i, e)) if self.wanted else kept

        parts = merged(array(0), n + 1, len(self.along))
        parts = at_depth(n + 1, parts, lambda e: p.Take(self.columns.extent, e))
        arrays = {name: parts}
        for i, work in enumerate(self.wanted):
            found = at_depth(n, merged(array(i + 1), n, 2), lambda e: p.Take(self.rows.extent, e))
            arrays[work.stage.name] = permuted(found, (*self.batch, self.rows), work.stage.dims)
        count = -(-number(self.rows) // (self.count * self.teams))  # fewer, where parts of so many rows are enough
        dims = (*self.batch, self.last.stage.names.dim(count), self.columns)
        return RowParts(kernel, added(self.last.stage, p.Input(name, type_of(parts)), dims, dims[-2]), arrays)

    def _part(self, tensors: list[Tensor]) -> Expr:
        """The accumulators of a part, once all its rows have been added."""
        here = [self.held(t) if self._is_kept(whole) else t for whole, t in zip(self.tensors, tensors, strict=True)]
        turn, init = (self.rows, 1), self._begun()
        if not self.wanted:
            return self._finished(folded(turn, init, here, lambda acc, ts: self._row([acc], ts)[0]))
        init = p.Tup((init, *(self._unknown(w) for w in self.wanted)))
        numbers = Tensor(p.Iota(self.count, I32), (turn,))

        def row(state: Expr, ts: list[Tensor]) -> Expr:
            return p.Tup(tuple(self._row([p.Get(i, state) for i in range(len(self.wanted) + 1)], ts)))

        state = folded(turn, init, [*here, numbers], row)
        return p.Tup(
            (self._finished(p.Get(0, state)), *(self._found(p.Get(i + 1, state)) for i in range(len(self.wanted))))
        )

    def _is_kept(self, t: Tensor) -> bool:
        """Is it held for all rows?"""
        return self.sizes.beside and self.team not in t.axes and t in self.summed

    def _begun(self) -> Expr:
        """The accumulators before all rows."""
        init, turn = self.last.neutral(), self.items * self.sizes.lanes
        lengths: dict[Axis, int] = {
            self.team: self.teams,
            self.digits[0]: -(-number(self.columns) // turn),
            self.digits[1]: self.items,
            self.digits[2]: self.sizes.lanes,
        }
        if not self.gpu:
            lengths[self.digits[1]] = self.sizes.lanes
        for a in reversed(self.inner):
            init = p.Fill(lengths[a], init)
        return init

    def _finished(self, total: Expr) -> Expr:
        """The accumulators of all teams, as one."""
        found = Tensor(total, tuple(self.inner))
        if self.teams > 1:
            return self._of_teams(found)
        if self.gpu:
            found = Tensor(p.At(0, total), tuple(self.along))
        return self.nest(self.along, [found], lambda ts: ts[0].x)

    def _of_teams(self, found: Tensor) -> Expr:
        """The accumulators of all teams, added."""
        own = p.To("local", self.nest(self.inner, [found], lambda ts: ts[0].x))
        order = (*self.along, self.team)
        t = Tensor(permuted(own, found.axes, order), order)
        return self.nest(self.along, [t], lambda ts: self.last.total(self.team, ts[0], "local", alone=False))

    def _row(self, state: list[Expr], tensors: list[Tensor]) -> list[Expr]:
        """The state with a row of each team added: what it needs first."""
        here, known = self.started(tensors)
        row, _ = self.ends
        phase = self.last.phases[0]

        def add(ts: list[Tensor]) -> Expr:
            old, there, *elements = ts
            new = self.last.step(phase, old.x, [t.x for t in elements])
            return if_there(there.x, new, old.x) if self.padded else new

        total, *results = state
        read = [Tensor(total, tuple(self.inner)), here[row], *self.own(self.last, phase.operands, here)]
        found = [self.by_teams(self.along, read, known, add)]
        for work, old in zip(self.wanted, results, strict=True):
            found.append(self._with_row(work, old, tensors[-1].x, known))
        return found

    # ------------------------------------------------------------------------------------ what is wanted elsewhere

    @property
    def _each(self) -> int:
        """Of how many rows of its team an item has the results."""
        return -(-self.count // self.items)

    def _unknown(self, work: Lowering) -> Expr:
        """The results of rows before all rows."""
        return p.Fill(self.teams, p.Fill(self._each, p.Fill(self.items, _zero(type_of(work.stage.body)))))

    def _with_row(self, work: Lowering, old: Expr, turn: Expr, known: Mapping[Expr, Needed]) -> Expr:
        """The results of rows with those of this turn, of each team's: the item whose turn it is keeps it."""
        numbers = Tensor(p.Split(self.items, p.Iota(self._each * self.items, I32)), tuple(self.owner))

        def keep(ts: list[Tensor]) -> Expr:
            old, own, now, new = (t.x for t in ts)
            return if_there(p.Apply("eq", (own, now)), new, old)

        read = [Tensor(old, (self.team, *self.owner)), numbers, Tensor(turn), name_of(work)]
        return self.by_teams(self.owner, read, known, keep)

    def _found(self, results: Expr) -> Expr:
        """The results of a part's rows, in their order."""
        axes = (self.team, *self.owner)
        x = merged(self.nest(axes, [Tensor(results, axes)], lambda ts: ts[0].x), 1, 2)
        x = at_depth(1, x, lambda e: p.Take(self.count, e))
        return merged(permuted(x, "tr", "rt"), 0, 2)


def _zero(t: Type) -> Expr:
    """Something of a type."""
    if isinstance(t, Tuple):
        return p.Tup(tuple(map(_zero, t.items)))
    assert isinstance(t, Scalar)
    return p.Literal(False if t == BOOL else 0.0 if t.is_float else 0, t)
