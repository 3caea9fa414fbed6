"""Chains of contractions as low-level programs of a GPU: a group computes tile after tile, and goes on with each.

o[0,2] = sum_1 f(s[0,1]) v[1,2]    ->    for blocks of 0, groups:  for blocks of 1, in turn:
                                           f(s) by all items, in registers;  sums of its rows;  f(s) to local memory
                                           a block of v to local memory;  acc[0,2] += their product, by all items
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from egglift.codegen.kernel.views import EXCHANGED
from egglift.egraph.schedules.chain_ends import Ends, ends_of
from egglift.egraph.schedules.edges import if_there
from egglift.egraph.schedules.lower import Lowering
from egglift.egraph.schedules.operand_arrays import Digit, cut_operand, kept, sizes_of
from egglift.egraph.schedules.schedule import Keep, Loop, Schedule
from egglift.egraph.schedules.tile_chains import TileChain
from egglift.egraph.stages.loops import Axis, Tensor, folded, nest
from egglift.egraph.stages.loops import mapped as mapping
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.stage import Dim
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, cut, merged, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import Size, SizeOp
from egglift.ir.traverse import subterms
from egglift.ir.tuples import as_one, parts_of
from egglift.ir.types import BOOL, Scalar

_THERE = p.Input("%there", BOOL)
_TRUE, _FALSE = p.Literal(True, BOOL), p.Literal(False, BOOL)


class Chaining:
    """A translation as that of lower.py, of both contractions in one loop over tiles.

    Accumulators of the loop are those of the sums of rows, then those of the result.
    """

    def __init__(self, x: TileChain, tile: Schedule, last: Schedule) -> None:
        self.x, self.schedules = x, (tile, last)
        none = Schedule((), ())
        self.tile, self.last = Lowering(x.tile, tile), Lowering(x.last, none)
        self.sums = [Lowering(s, none) for s in x.sums]
        turn = next(i for i, s in enumerate(tile.steps) if isinstance(s, Loop) and s.dim == x.middle)
        self.held = [s for s in tile.steps[:turn] if isinstance(s, Keep)]
        self.inner = tile.steps[turn + 1 :]
        self.loops = self.tile.parallel(self.inner)
        self.own = [s for s in self.loops if s.dim != x.middle or s.kind == "item"]
        self.outer = [s for s in last.loops if s.kind == "grid"]
        (self.chunk,) = [s for s in last.loops if s.dim == x.middle and s.digit == 0]
        self.after = last.steps[last.steps.index(self.chunk) + 1 :]
        self.results = self.last.parallel(self.after)

    def program(self) -> Expr:
        """The array of the last stage."""
        return Lowering(self.x.last, self.schedules[1]).in_order(self.blocks())

    def blocks(self) -> Expr:
        """All blocks of rows, by groups."""
        return nest([((s.dim, s.digit), s.level) for s in self.outer], self._tensors(), self._block)

    # ------------------------------------------------------------------------------------ what is read

    @cached_property
    def _factors(self) -> list[Operand]:
        """What the last stage adds up products of, besides the tile."""
        return [o for o in self.last.phases[0].operands if o.at not in self.x.last.given]

    @cached_property
    def _beside(self) -> list[Operand]:
        """What sums of rows read besides the tile; where the tile's columns end, first."""
        there = Operand(p.Fill(self.x.middle.extent, _TRUE), (self.x.middle,), _THERE)
        return [there, *(o for w in self.sums for o in w.phases[0].operands if o.at not in w.stage.given)]

    @cached_property
    def _last(self) -> list[Operand]:
        """What is read once the sums are there."""
        return [o for w in (*self.sums, self.last) for o in w.after if o.at not in w.stage.given]

    @cached_property
    def _ends(self) -> Ends | None:
        return ends_of(self.x)

    def _tensors(self) -> list[Tensor]:
        tile, last = self.schedules
        inner = [s for s in self.after if isinstance(s, Loop)]
        beside = [self._tensor(o, tile, self.loops, _FALSE if o.at is _THERE else None) for o in self._beside]
        factors = [self._tensor(o, last, inner, _zero(o)) for o in self._factors]
        after = [self._tensor(o, last, self.results) for o in self._last]
        return [*self.tile.tensors(), *beside, *factors, *after, *self._of_ends()]

    def _of_ends(self) -> list[Tensor]:
        """What says where tiles end: of the last row of each block, and of the first column of each tile."""
        if self._ends is None:
            return []
        rows, columns = self.x.rows, self.x.middle
        last = SizeOp("-", self.schedules[0].blocks(rows)[0], 1)
        return [self._corner(self._ends.rows, rows, last), self._corner(self._ends.columns, columns, 0)]

    def _corner(self, o: Operand, d: Dim, at: Size) -> Tensor:
        """One element of each block of an operand."""
        block, depth = self.schedules[0].blocks(d)[0], o.dims.index(d)
        x = at_depth(depth, o.array, lambda e: p.Split(block, p.PadUp(block, e)))
        x = at_depth(depth + 1, x, lambda e: p.At(at, e))
        return along(Tensor(x, tuple((each, 0) for each in o.dims)), [*digits(self.outer), (self.x.middle, 0)])

    def _tensor(self, o: Operand, by: Schedule, loops: Sequence[Loop], beyond: Expr | None = None) -> Tensor:
        """An operand cut into digits; beyond: what is where the tile's columns have ended."""
        d = self.x.middle
        if beyond is not None and d in o.dims:
            block = by.blocks(d)[0]
            o = replace(o, array=at_depth(o.dims.index(d), o.array, lambda e: p.PadUp(block, e, beyond)))
        x, axes = cut_operand(o, by, ())
        order = [a for a in (*digits(self.outer), (d, 0), *digits(loops)) if a in axes]
        return Tensor(permuted(x, axes, order), tuple(order))

    # ------------------------------------------------------------------------------------ loops

    def _block(self, tensors: list[Tensor]) -> Expr:
        """A block of rows: its tiles in turn, and what follows."""
        corners = tensors[len(tensors) - 2 :] if self._ends else []
        tensors = tensors[: len(tensors) - len(corners)]
        count = len(tensors) - len(self._last)
        for keep in self.held:
            tensors = kept(keep, tensors, self.tile.reduced)
        begun, turn = self.begun(tensors), (self.x.middle, 0)
        ahead, ends = (self.chunk.prefetch, self.chunk.buffers), self._end(turn, corners)
        total = folded(turn, as_one(begun), tensors[:count], self._turn, False, ahead[0], False, ahead[1], ends)
        state = parts_of(total, len(begun))
        return self.finished(state, tensors[count:])

    def _end(self, turn: Digit, corners: Sequence[Tensor]) -> Expr | None:
        """For each tile, is nothing left in it, and in those behind it?"""
        if (ends := self._ends) is None:
            return None
        return mapping(turn, corners, lambda ts: p.Apply(ends.op, (ts[0].x, ts[1].x)))

    def begun(self, tensors: Sequence[Tensor]) -> list[Expr]:
        """The accumulators before all tiles."""
        return [
            *(self.filled(w.neutral(), self.own, tensors) for w in self.sums),
            self.filled(self.last.neutral(), self.results, tensors),
        ]

    def filled(self, init: Expr, loops: Sequence[Loop], tensors: Sequence[Tensor]) -> Expr:
        """`init` for all indices of loops over what tensors have of a block."""
        count = len(self.tile.tensors())
        sizes = sizes_of(tensors[count:]) | sizes_of(tensors[:count])  # of the middle, as the tile is cut
        for d in reversed(digits(loops)):
            init = p.Fill(sizes[d], init)
        return init

    def _turn(self, state: Expr, tensors: list[Tensor]) -> Expr:
        """The accumulators with one tile taken in."""
        count = len(self.tile.tensors())
        total, after = self.tile.accumulated(self.inner, tensors[:count])
        there, *beside = tensors[count : count + len(self._beside)]
        factors = tensors[count + len(self._beside) :]

        def element(ts: list[Tensor]) -> Expr:
            total, there, *after = (t.x for t in ts)
            return if_there(there, self.tile.epilogue(total, after), self.beyond)

        read = [in_registers(Tensor(total, tuple(digits(self.loops)))), there, *after]
        if not self.sums:
            return self.multiplied(state, mapped(self._stored, read, element), factors)
        tile = in_registers(mapped(self.elementwise, read, element))
        return self.taken_in(state, tile, [there, *beside], factors)

    @property
    def beyond(self) -> Expr:
        """A tile's elements beyond the end of its columns."""
        return self.x.number(0.0)

    def taken_in(self, state: Expr, tile: Tensor, beside: Sequence[Tensor], factors: Sequence[Tensor]) -> Expr:
        """The accumulators with a tile in registers taken in."""
        count = len(self.sums)
        sums = [self._summed(i, p.Get(i, state), tile, beside) for i in range(count)]
        return p.Tup((*sums, self.multiplied(p.Get(count, state), tile, factors)))

    # ------------------------------------------------------------------------------------ sums of rows

    def _summed(self, i: int, total: Expr, tile: Tensor, beside: Sequence[Tensor]) -> Expr:
        """What each item has of a row's sum, with its own elements of a tile taken in."""
        (phase,), stage = self.sums[i].phases, self.x.sums[i]
        first = 1 + sum(len(w.phases[0].operands) - 1 for w in self.sums[:i])
        own = beside[first : first + len(phase.operands) - 1]

        def taken(total: Expr, ts: list[Tensor]) -> Expr:
            there, element, left = ts[0].x, ts[1].x, iter(ts[2:])
            elements = [element if o.at in stage.given else next(left).x for o in phase.operands]
            return if_there(there, self.sums[i].step(phase, total, elements), total)

        read = [Tensor(total, tuple(digits(self.own))), beside[0], tile, *own]
        return mapped(self.own, read, lambda ts: self.along(ts[0].x, ts[1:], taken)).x

    def along(self, total: Expr, tensors: list[Tensor], f: Callable[[Expr, list[Tensor]], Expr]) -> Expr:
        """A fold over an item's own elements of a row."""

        def go(axes: Sequence[Digit], total: Expr, ts: list[Tensor]) -> Expr:
            if not axes:
                return f(total, ts)
            return folded(axes[0], total, ts, lambda acc, inner: go(axes[1:], acc, inner), unroll=True)

        return go(digits([s for s in self.loops if s not in self.own]), total, tensors)

    @cached_property
    def rows(self) -> list[Loop]:
        """Who goes on with which row: the items that shared it take one each."""
        *others, last = [s for s in self.own if s.dim == self.x.rows]
        return [*others, replace(last, level=Level("local", 0))]

    def by_rows(self, found: Tensor) -> Tensor:
        """What all items have found of each row, in local memory, those of a row innermost."""
        order = (*digits(self.rows), *(a for a in found.axes if a not in digits(self.rows)))
        return Tensor(permuted(p.To("local", found.x), found.axes, order), order)

    # ------------------------------------------------------------------------------------ products

    def multiplied(self, total: Expr, tile: Tensor, factors: Sequence[Tensor]) -> Expr:
        """`total` with the products of a tile added."""
        x, left = self.x, iter(factors)
        own = [self._staged(tile) if o.at in x.last.given else next(left) for o in self.last.phases[0].operands]
        return self.last.accumulated([s for s in self.after if s != self._keep], own, total)[0]

    @cached_property
    def _keep(self) -> Keep:
        """How the tile is kept in local memory."""
        given = [i for i, o in enumerate(self.last.phases[0].operands) if o.at in self.x.last.given]
        (found,) = [s for s in self.after if isinstance(s, Keep) and s.space == "local" and s.operand in given]
        return found

    @cached_property
    def elementwise(self) -> list[Loop]:
        """The loops over a tile's elements: those that lie beside each other for warp groups are computed together."""
        *others, last = self.loops
        return [*others, replace(last, level=Level("vec"))] if self._exchanged else self.loops

    @cached_property
    def _stored(self) -> list[Loop]:
        """The loops of a tile as it is stored: innermost what is beside each other in local memory, rows or columns."""
        own = [s for s in self.loops if s.kind == "own"]
        inner = self.x.middle if self._exchanged else self.x.rows
        *others, last = [s for s in own if s.dim == inner]
        items = [s for s in self.loops if s.kind == "item"]
        return [*items, *(s for s in own if s.dim != inner), *others, replace(last, level=Level("vec"))]

    @property
    def _exchanged(self) -> bool:
        """Does a tile lie in local memory as warp groups read it?"""
        return self._keep.swizzle == EXCHANGED

    def _staged(self, tile: Tensor) -> Tensor:
        """A tile in local memory, its columns outermost, or innermost where warp groups read it so, with the digits of
        the second contraction."""
        loops, t = self._stored, self._factor_type
        if tile.axes != tuple(digits(loops)) or t != self.x.tile_type:
            tile = mapped(loops, [tile], lambda ts: ts[0].x if t == self.x.tile_type else p.Cast(t, ts[0].x))
        sides = [self.x.rows, self.x.middle] if self._exchanged else [self.x.middle, self.x.rows]
        outer, inner = (sorted(a for a in digits(self.loops) if a[0] == d) for d in sides)
        x = permuted(tile.x, tile.axes, [*outer, *inner])
        x = p.To("local", merged(merged(x, 0, len(outer)), 1, len(inner)), self._keep.pad, self._keep.swizzle)
        for depth in (1, 0):
            x = cut(x, depth, self.schedules[1].blocks(sides[depth])[1:])
        axes = [(d, 1 + i) for d in sides for i in range(len(self.schedules[1].blocks(d)))]
        return along(Tensor(x, tuple(axes)), digits([s for s in self.after if isinstance(s, Loop)]))

    @property
    def _factor_type(self) -> Scalar:
        """What a tile's elements are as factors."""
        (element,) = self.x.tile_reads
        assert isinstance(element.type, Scalar)
        return element.type

    # ------------------------------------------------------------------------------------ what follows

    def finished(self, state: Sequence[Expr], after: list[Tensor]) -> Expr:
        """The results of a block of rows, of its accumulators."""
        total = Tensor(state[len(self.sums)], tuple(digits(self.results)))
        starts, left = self._of_sums(state, after)
        names = list(starts)

        def finish(ts: list[Tensor]) -> Expr:
            given = {name: t.x for name, t in zip(names, ts[1:], strict=False)}
            others = iter(ts[1 + len(names) :])
            elements = [given[_name(o)] if _name(o) in given else next(others).x for o in self.last.after]
            return self.last.epilogue(self.whole(ts[0].x, given), elements)

        levels = [((s.dim, s.digit), s.after or s.level) for s in self.results]
        order = digits(self.results)
        return nest(levels, [total, *(along(t, order) for t in (*starts.values(), *left))], finish)

    def whole(self, total: Expr, given: Mapping[str, Expr]) -> Expr:
        """A result's accumulator after all tiles, beside what sums of its row have come to."""
        return total

    def _of_sums(self, state: Sequence[Expr], after: list[Tensor]) -> tuple[dict[str, Tensor], list[Tensor]]:
        """Sums of rows by name, in local memory; and the tensors that these do not read."""
        starts = dict[str, Tensor]()
        for i, w in enumerate(self.sums):
            count = sum(o.at not in w.stage.given for o in w.after)
            row = self.row(i, state, after[:count])
            starts[w.stage.name] = replace(row, x=p.To("local", row.x))
            after = after[count:]
        return starts, after

    def row(self, i: int, state: Sequence[Expr], after: Sequence[Tensor]) -> Tensor:
        """What a sum of rows has come to."""
        w = self.sums[i]
        found = self.by_rows(Tensor(state[i], tuple(digits(self.own))))

        def finish(ts: list[Tensor]) -> Expr:
            return w.epilogue(w.total(_digit(ts[0].axes[0]), ts[0], "local", alone=False), [t.x for t in ts[1:]])

        return mapped(self.rows, [found, *after], finish)


def mapped(loops: Sequence[Loop], tensors: Sequence[Tensor], f: Callable[[list[Tensor]], Expr]) -> Tensor:
    """Maps over all digits of loops, of tensors whose axes are in any order."""
    levels = [((loop.dim, loop.digit), loop.level) for loop in loops]
    return Tensor(nest(levels, [along(t, digits(loops)) for t in tensors], f), tuple(digits(loops)))


def in_registers(t: Tensor) -> Tensor:
    """What each item has of it, in its own private memory."""
    return replace(t, x=p.To("private", t.x))


def along(t: Tensor, axes: Sequence[Digit]) -> Tensor:
    """A tensor with its axes in the order of `axes`, the others behind them."""
    order = (*(a for a in axes if a in t.axes), *(a for a in t.axes if a not in axes))
    return Tensor(permuted(t.x, t.axes, order), order)


def digits(loops: Sequence[Loop]) -> list[Digit]:
    """What loops go along."""
    return [(loop.dim, loop.digit) for loop in loops]


def _zero(o: Operand) -> Expr:
    """What adds nothing to sums of products with it."""
    t = type_of(o.at)
    assert isinstance(t, Scalar)
    return p.Literal(0.0 if t.is_float else 0, t)


def _digit(a: Axis) -> Digit:
    assert isinstance(a, tuple)
    return a


def _name(o: Operand) -> str:
    """The array that is read."""
    return next((t.name for t in subterms(o.array) if isinstance(t, p.Input)), "")
