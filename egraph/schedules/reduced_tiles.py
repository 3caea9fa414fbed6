"""Reductions of what is computed in tiles: each tile is reduced while it is in registers, and never written.

    d[0,1] = sum_2 f(A[0,2], B[1,2])            for blocks of 0, groups:
    s[0]   = min_1 d[0,1]                 ->      for blocks of 1, in turn:
                                                    a tile of d, by all items; acc[0] = min(acc[0], their elements)
                                                  then the items' accumulators of a row are combined

source: `compute_at` of Ragan-Kelley et al., Halide, 2013; the reduction is shared out, [Hagedorn2018] (25)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from egglift.egraph.schedules.edges import if_there
from egglift.egraph.schedules.lower import Lowering
from egglift.egraph.schedules.operand_arrays import Digit, cut_operand, sizes_of
from egglift.egraph.schedules.rows import at_rows, directly_read_by
from egglift.egraph.schedules.schedule import Loop, Schedule, Step
from egglift.egraph.schedules.structures import GRID, Structure, Work
from egglift.egraph.schedules.ways import CHUNKS
from egglift.egraph.stages.given import Given, NotGiven
from egglift.egraph.stages.loops import Tensor, folded, nest
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.partition import Stages
from egglift.egraph.stages.sharing import added, can_share, commutes
from egglift.egraph.stages.stage import Dim, Read, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, merged, permuted
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import Size
from egglift.ir.traverse import subterms
from egglift.ir.tuples import as_one
from egglift.ir.types import BOOL


@dataclass(frozen=True)
class ReducedTiles:
    """first: what is computed in tiles of `rows` and `columns`; last: reduces it along `columns`."""

    first: Stage
    last: Stage
    rows: Dim
    columns: Dim

    def __str__(self) -> str:
        first, last = (s.name.lstrip("%") for s in (self.first, self.last))
        return f"each tile of {first} is reduced to {last} in registers"


def reduced_tiles(whole: Stages) -> Iterator[ReducedTiles]:
    """The stages that reduce another one's elements, along one dimension, which nothing else reads."""
    wanted = {t.name for t in subterms(whole.result) if isinstance(t, p.Input)}
    for last in whole.stages:
        for first in whole.stages:
            readers = [s for s in whole.stages if first.name in directly_read_by(s, whole.stages)]
            if readers == [last] and first.name not in wanted:
                with suppress(NotGiven):
                    yield _found(first, last)


def tiled(whole: Stages) -> Iterator[tuple[Stages, ReducedTiles]]:
    """Stages that may be reduced in tiles, of the program's stages, or of these with totals added row by row."""
    yield from ((whole, x) for x in reduced_tiles(whole))
    for last in whole.stages:
        if (pair := _in_rows(last)) is not None:
            stages = [s for one in whole.stages for s in (pair if one is last else (one,))]
            cut = Stages(tuple(stages), whole.result)
            yield from ((cut, x) for x in reduced_tiles(cut) if x.last.name == pair[0].name)


def _in_rows(last: Stage) -> tuple[Stage, Stage] | None:
    """A reduction over two dimensions as those over rows, and the one of what these come to.

    s = sum_0,1 d[0,1]  ->  rows[0] = sum_1 d[0,1];  s = sum_0 rows[0]
    """
    if last.is_apart or len(last.phases) != 1 or len(last.phases[0][0].dims) != 2:
        return None
    if not (can_share(last) and commutes(last)):
        return None
    row, column = last.phases[0][0].dims
    rows = _parts(last, "rows", (*last.dims, row), column)
    return rows, added(last, p.Input(rows.name, rows.type), rows.dims, row)


def _parts(
    last: Stage, name: str, dims: tuple[Dim, ...], over: Dim, element: Callable[[Expr], Expr] = lambda e: e
) -> Stage:
    """What the reductions of a stage come to over one dimension, at each index of `dims`; element: of its elements."""
    reduced: list[Expr] = []
    for r in last.reductions:
        assert r.op is not None and r.op.neutral is not None
        reduced.append(last.names.reduced(replace(r, init=r.op.neutral, dims=(over,), element=element(r.element))))
    body = as_one(reduced)
    return Stage(f"{last.name}.{name}", dims, body, last.names)


def _found(first: Stage, last: Stage) -> ReducedTiles:
    """NotGiven if the first is no tile of the last one's reduction."""
    if any(s.is_apart or len(s.phases) != 1 or not can_share(s) for s in (first, last)) or not commutes(last):
        raise NotGiven
    given = Given({first.name: first})
    last = given.within(last)
    at, dims = given.at.get(first.name, ()), last.phases[0][0].dims
    if len(dims) != 1 or set(at) != {*last.dims, *dims} or not last.dims or len(at) > 1 + GRID:
        raise NotGiven
    own = at_rows(first, at)
    return ReducedTiles(replace(own, dims=(*last.dims, *dims)), last, last.dims[-1], dims[0])


def in_pieces(x: ReducedTiles, pieces: int) -> tuple[ReducedTiles, Stage]:
    """Both stages with the columns in so many pieces of one length, each reduced by groups of its own; and the stage
    that adds the pieces, which reads them by the name of their array.

    s[0] = min_1 d[0,1]  ->  pieces[2,0] = min_1 d[2,0,1],  s[0] = min_2 pieces[2,0]
    """
    names, (whole,) = x.last.names, x.last.given
    piece, inner = names.dim(pieces), names.dim(number(x.columns) // pieces)

    def cut(read: Read) -> Read:
        return read.along(x.columns, lambda a: p.Split(inner.extent, a), (piece, inner))

    first = replace(x.first, dims=(piece, *x.first.dims[:-1], inner), body=names.with_reads(x.first.body, cut))
    own = Read(p.Input(first.name, first.type), first.dims)

    def element(e: Expr) -> Expr:
        return names.with_reads(e, lambda read: own if read == names.reads[whole.name] else cut(read))

    given = names.read(own)
    assert isinstance(given, p.Input)
    parts = replace(_parts(x.last, "parts", (piece, *x.last.dims), inner, element), given=frozenset({given}))
    last = added(replace(x.last, given=frozenset()), p.Input(parts.name, parts.type), parts.dims, piece)
    return ReducedTiles(first, parts, x.rows, inner), last


def reduced_structure(x: ReducedTiles, reassociate: bool) -> Structure | None:
    """The structure of tiles that are reduced, for a GPU, if the laws make its run.

    Its price is that of the tiles, one after the other in a group, all written: what computes them well is best.
    """
    work = Work(x.first, CHUNKS, x.rows, x.columns, reassociate)
    steps = work.steps()
    if steps is None:
        return None
    groups = [s.dim for s in steps if isinstance(s, Loop) and s.kind == "grid" and s.dim != x.columns]
    levels = {d: Level("workgroup", len(groups) - 1 - i) for i, d in enumerate(groups)}
    schedule = Schedule(tuple(_in_turn(s, levels) for s in steps), tuple(work.cuts.items()))
    return Structure("reduced tiles", x.first, schedule, _Reducing(x, schedule).program(), work.tiles)


def _in_turn(step: Step, levels: Mapping[Dim, Level]) -> Step:
    """A step of the tiles' own schedule, where a group takes the tiles of its rows one after the other."""
    if isinstance(step, Loop) and step.kind == "grid":
        return replace(step, level=levels[step.dim]) if step.dim in levels else Loop(step.dim, 0, "sequential")
    return step


_THERE = p.Input("%there", BOOL)


class _Reducing:
    """A translation as that of lower.py, of both stages in one loop over tiles."""

    def __init__(self, x: ReducedTiles, schedule: Schedule) -> None:
        self.x, self.schedule = x, schedule
        self.first, self.last = Lowering(x.first, schedule), Lowering(x.last, Schedule((), ()))
        loops = [s for s in schedule.steps if isinstance(s, Loop)]
        self.groups = [s for s in loops if s.kind == "grid"]
        first = schedule.steps.index(Loop(x.columns, 0, "sequential"))
        self.tile = schedule.steps[first + 1 :]
        self.loops = self.first.parallel(self.tile)
        self.own = [s for s in self.loops if s.dim != x.columns or s.kind == "item"]
        self.columns = [s for s in self.loops if s.dim == x.columns and s.kind != "item"]

    def program(self) -> Expr:
        """The array of the last stage."""
        levels = [((s.dim, s.digit), s.level) for s in self.groups]
        tensors = [*self.first.tensors(), *map(self._tensor, self._reads())]
        return self._in_order(nest(levels, tensors, self._rows))

    def _reads(self) -> list[Operand]:
        """Where columns end; and what the last stage reads, without what is given: in its reduction, then after it."""
        (phase,) = self.last.phases
        there = Operand(p.PadUp(self._block, p.Fill(self.x.columns.extent, _TRUE), _FALSE), (self.x.columns,), _THERE)
        return [there, *(o for o in phase.operands if o.at not in self.x.last.given), *self.last.after]

    @property
    def _block(self) -> Size:
        return self.schedule.blocks(self.x.columns)[0]

    def _tensor(self, o: Operand) -> Tensor:
        x, axes = cut_operand(o, self.schedule, ())
        order = [d for d in self._order() if d in axes]
        return Tensor(permuted(x, axes, order), tuple(order))

    def _order(self) -> list[Digit]:
        return [*_digits(self.groups), (self.x.columns, 0), *_digits(self.loops)]

    # ------------------------------------------------------------------------------------ loops

    def _rows(self, tensors: list[Tensor]) -> Expr:
        """A block of rows: its tiles in turn, and what each item has found of a row."""
        count = len(tensors) - len(self.last.after)
        init, sizes = self.last.neutral(), sizes_of(tensors)
        for loop in reversed(self.own):
            init = p.Fill(sizes[loop.dim, loop.digit], init)
        total = folded((self.x.columns, 0), init, tensors[:count], self._taken_in)
        return self._combined(total, tensors[count:])

    def _taken_in(self, total: Expr, tensors: list[Tensor]) -> Expr:
        """The accumulators of all items, with the elements of one tile taken in."""
        count = len(self.first.tensors())
        tile, after = self.first.accumulated(self.tile, tensors[:count])
        levels = [((s.dim, s.digit), s.level) for s in self.own]
        found = [Tensor(total, tuple(_digits(self.own))), Tensor(tile, tuple(_digits(self.loops)))]

        def row(ts: list[Tensor]) -> Expr:
            return self._elements(_digits(self.columns), ts[0].x, ts[1:], len(after))

        return nest(levels, [*found, *after, *tensors[count:]], row)

    def _elements(self, axes: Sequence[Digit], total: Expr, tensors: list[Tensor], after: int) -> Expr:
        """An item's own elements of a row, one after the other."""
        if axes:
            return folded(
                axes[0], total, tensors, lambda acc, ts: self._elements(axes[1:], acc, ts, after), unroll=True
            )
        element = self.first.epilogue(tensors[0].x, [t.x for t in tensors[1 : 1 + after]])
        there, *others = tensors[1 + after :]
        (phase,), given, left = self.last.phases, self.x.last.given, iter(others)
        elements = [element if o.at in given else next(left).x for o in phase.operands]
        return if_there(there.x, self.last.step(phase, total, elements), total)

    def _combined(self, total: Expr, after: list[Tensor]) -> Expr:
        """What all items have found of a row, as one; and what follows."""
        levels = [((s.dim, s.digit), s.level) for s in self.own]
        axes = _digits(self.own)
        found: Expr = p.To("local", nest(levels, [Tensor(total, tuple(axes))], lambda ts: ts[0].x))
        share = next(d for d in axes if d[0] == self.x.columns)
        rows = self._rows_after()
        order = [*(d for d, _ in rows), share]

        def finish(ts: list[Tensor]) -> Expr:
            return self.last.epilogue(self.last.total(share, ts[0], "local", alone=False), [t.x for t in ts[1:]])

        return nest(rows, [Tensor(permuted(found, axes, order), tuple(order)), *after], finish)

    def _rows_after(self) -> list[tuple[Digit, Level | None]]:
        """Who goes on with which row: the items that shared it take one each."""
        found = [((s.dim, s.digit), s.level) for s in self.own if s.dim != self.x.columns]
        return [*found[:-1], (found[-1][0], Level("local", 0))]

    def _in_order(self, found: Expr) -> Expr:
        axes = [*_digits(self.groups), *(d for d, _ in self._rows_after())]
        order = sorted(axes, key=lambda d: (self.x.last.dims.index(d[0]), d[1]))
        batch = len(self.x.last.dims) - 1
        x = merged(permuted(found, axes, order), batch, len(order) - batch)
        return at_depth(batch, x, lambda e: p.Take(self.x.rows.extent, e))


_TRUE, _FALSE = p.Literal(True, BOOL), p.Literal(False, BOOL)


def _digits(loops: Sequence[Loop]) -> list[Digit]:
    return [(loop.dim, loop.digit) for loop in loops]
