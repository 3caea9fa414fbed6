"""Chains of contractions as low-level programs of a GPU: a group computes tile after tile, and goes on with each.

    o[0,2] = sum_1 f(s[0,1]) v[1,2]    ->    for blocks of 0, groups:  for blocks of 1, in turn:
                                               f(s) by all items, in registers;  sums of its rows;  f(s) to local memory
                                               a block of v to local memory;  acc[0,2] += their product, by all items

Both contractions have the loops of register tiles (ways.CHUNKS): the second one's chunk is the first one's tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from egglift.egraph.schedules.edges import if_there
from egglift.egraph.schedules.lower import Lowering, operands
from egglift.egraph.schedules.operand_arrays import Digit, cut_operand, kept, sizes_of
from egglift.egraph.schedules.schedule import Keep, Loop, Schedule, Step
from egglift.egraph.schedules.structures import InTiles, Structure, Work
from egglift.egraph.schedules.tile_chains import TileChain
from egglift.egraph.schedules.ways import CHUNKS
from egglift.egraph.stages.loops import Axis, Tensor, folded, nest
from egglift.egraph.stages.merging import joined_axes, restored
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.stage import Dim, Read, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, cut, element_type, merged, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.traverse import subterms
from egglift.ir.types import BOOL

HELD = 128  # steps of the first contraction, up to which a group keeps what is of its rows from beginning to end, ...
_AT_ONCE = replace(CHUNKS, reduced=("step",), reduced_blocks=())  # ... and all of a tile's columns
AFTER = 5  # what is added to the numbers of the second contraction's symbols


def chain_structure(x: TileChain) -> Structure | None:
    """The structure of a chain, for a GPU, if the laws make its runs."""
    whole = with_one_batch(x)
    first = Work(whole.tile, CHUNKS if _is_long(whole) else _AT_ONCE, whole.rows, whole.middle, True)
    read = replace(whole.last, given=frozenset())  # the tile is kept as what is read is
    second = _Second(read, CHUNKS, whole.rows, whole.columns, True)
    steps, after = first.steps(), second.steps()
    if steps is None or after is None:
        return None
    tile = Schedule(_held(whole, [_in_turn(s, whole) for s in steps]), tuple(first.cuts.items()))
    last = Schedule(tuple(after), tuple(second.cuts.items()))
    term = _Chaining(whole, tile, last).program()
    batch = _batch(x)
    term = restored(term, x.last.dims, batch) if len(batch) > 1 else term
    inner = InTiles(whole.tile, tile, x.online)
    return Structure("chained tiles", whole.last, last, term, second.tiles | first.tiles, tile=inner)


class _Second(Work):
    """The second contraction's blocks and steps: its rows and items are the first one's, its chunk the first's tile."""

    def _blocks(self, place: int, d: Dim, texts: Sequence[str]) -> tuple[Size, ...]:
        if d in self.reduced:
            return (Sym("n1"),)
        if d != self.columns:
            return super()._blocks(place, d, texts)
        (block,) = super()._blocks(AFTER, d, texts[:1])
        items = SizeOp("/", SizeOp("/", Sym("n1"), Sym("q1")), Sym("c1"))
        own = super()._symbol("c", AFTER, SizeOp("/", block, items))
        return block, SizeOp("*", items, own), own

    def _symbol(self, kind: str, place: int, length: Size) -> Sym:
        return super()._symbol(kind, place + AFTER if kind in "af" else place, length)


def _in_turn(s: Step, x: TileChain) -> Step:
    """A step of the tiles' own schedule, where a group takes the tiles of its rows one after the other."""
    match s:
        case Loop(dim=d, kind="grid") if d == x.middle:
            return Loop(d, 0, "sequential")
        case Loop(kind="sequential", digit=0) if not _is_long(x):
            return replace(s, kind="unrolled")
        case _:
            return s


def _is_long(x: TileChain) -> bool:
    """Is the first contraction so long that it goes in chunks?"""
    return any(number(d) > HELD for r in x.tile.reductions for d in r.dims)


def _held(x: TileChain, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps of a tile, where what is of its rows is kept in local memory before all tiles, if it is not long."""
    reads = operands(x.tile)
    local = [] if _is_long(x) else [s for s in steps if isinstance(s, Keep) and s.space == "local"]
    held = [s for s in local if x.middle not in reads[s.operand].dims]
    at = steps.index(Loop(x.middle, 0, "sequential"))
    return (*steps[:at], *held, *(s for s in steps[at:] if s not in held))


def _batch(x: TileChain) -> list[Dim]:
    return [d for d in x.last.dims if d not in (x.rows, x.columns)]


def with_one_batch(x: TileChain) -> TileChain:
    """A chain with one dimension for all that are neither rows nor columns: a grid has three.

    o[0,1,2,3] = sum_4 p[0,1,2,4] v[0,4,3]  ->  o[5,2,3] = sum_4 p[5,2,4] v[5 / n, 4, 3]
    """
    stages = x.stages
    if len(batch := _batch(x)) < 2:
        return x
    first, *others = batch
    for d in others:
        both = x.last.names.dim(number(first) * number(d))
        stages = tuple(_joined(s, first, d, both) for s in stages)
        first = both
    tile, *sums, last = stages
    return replace(x, tile=tile, sums=tuple(sums), last=last)


def _joined(s: Stage, outer: Dim, inner: Dim, both: Dim) -> Stage:
    names = s.names

    def joined(read: Read) -> Read:
        return joined_axes(read, outer, inner, both)

    given = (names.read(joined(names.reads[x.name])) for x in s.given)
    dims = (both, *(d for d in s.dims if d not in (outer, inner)))
    own = frozenset(x for x in given if isinstance(x, p.Input))
    return replace(s, dims=dims, body=names.with_reads(s.body, joined), given=own)


_THERE = p.Input("%there", BOOL)
_TRUE, _FALSE = p.Literal(True, BOOL), p.Literal(False, BOOL)


class _Chaining:
    """A translation as that of lower.py, of both contractions in one loop over tiles."""

    def __init__(self, x: TileChain, tile: Schedule, last: Schedule) -> None:
        self.x, self.schedules = x, (tile, last)
        none = Schedule((), ())
        self.tile, self.last = Lowering(x.tile, tile), Lowering(x.last, none)
        self.sums = [Lowering(s, none) for s in x.sums]
        turn = tile.steps.index(Loop(x.middle, 0, "sequential"))
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
        levels = [((s.dim, s.digit), s.level) for s in self.outer]
        found = nest(levels, self._tensors(), self._block)
        return Lowering(self.x.last, self.schedules[1]).in_order(found)

    # ------------------------------------------------------------------------------------ what is read

    @cached_property
    def _factors(self) -> list[Operand]:
        """What the last stage adds up products of, besides the tile."""
        return [o for o in self.last.phases[0].operands if o.at not in self.x.last.given]

    @cached_property
    def _beside(self) -> list[Operand]:
        """What sums of rows read besides the tile; where the tile's columns end, first."""
        there = Operand(p.Fill(self.x.middle.extent, _TRUE), (self.x.middle,), _THERE)
        reads = (o for w in self.sums for o in w.phases[0].operands if o.at not in w.stage.given)
        return [there, *reads]

    @cached_property
    def _last(self) -> list[Operand]:
        """What is read once the sums are there."""
        works = [*self.sums, self.last]
        return [o for w in works for o in w.after if o.at not in w.stage.given]

    def _tensors(self) -> list[Tensor]:
        tile, last = self.schedules
        beside = [self._tensor(o, tile, self.loops, _FALSE if o.at is _THERE else None) for o in self._beside]
        zero = self.last.neutral()
        factors = [self._tensor(o, last, [s for s in self.after if isinstance(s, Loop)], zero) for o in self._factors]
        return [
            *self.tile.tensors(),
            *beside,
            *factors,
            *(self._tensor(o, last, self.results) for o in self._last),
        ]

    def _tensor(self, o: Operand, by: Schedule, loops: Sequence[Loop], beyond: Expr | None = None) -> Tensor:
        """An operand cut into digits; beyond: what is where the tile's columns have ended."""
        d = self.x.middle
        if beyond is not None and d in o.dims:
            block = by.blocks(d)[0]
            o = replace(o, array=at_depth(o.dims.index(d), o.array, lambda e: p.PadUp(block, e, beyond)))
        x, axes = cut_operand(o, by, ())
        order = [a for a in (*_digits(self.outer), (d, 0), *_digits(loops)) if a in axes]
        return Tensor(permuted(x, axes, order), tuple(order))

    # ------------------------------------------------------------------------------------ loops

    def _block(self, tensors: list[Tensor]) -> Expr:
        """A block of rows: its tiles in turn, and what follows."""
        count = len(tensors) - len(self._last)
        for keep in self.held:
            tensors = kept(keep, tensors, self.tile.reduced)
        begun, ahead = self._begun(tensors), self.chunk.prefetch
        total = folded((self.x.middle, 0), begun, tensors[:count], self._turn, prefetch=ahead)
        return self._finished(total, tensors[count:])

    def _begun(self, tensors: Sequence[Tensor]) -> Expr:
        """The accumulators before all tiles: of sums of rows, of the result, and the largest of each row."""
        count = len(self.tile.tensors())
        sizes = sizes_of(tensors[:count]) | {
            a: n for a, n in sizes_of(tensors[count:]).items() if a[0] == self.x.columns
        }

        def filled(init: Expr, digits: Sequence[Digit]) -> Expr:
            for d in reversed(digits):
                init = p.Fill(sizes[d], init)
            return init

        found = [filled(w.neutral(), _digits(self.own)) for w in self.sums]
        found.append(filled(self.last.neutral(), _digits(self.results)))
        if self.x.online:
            found.append(filled(_lowest(self.x.tile), _digits(self.own)))
        return _tuple(found)

    def _turn(self, state: Expr, tensors: list[Tensor]) -> Expr:
        """The accumulators with one tile taken in."""
        count = len(self.tile.tensors())
        total, after = self.tile.accumulated(self.inner, tensors[:count])
        there, *beside = tensors[count : count + len(self._beside)]
        factors = tensors[count + len(self._beside) :]
        beyond = _lowest(self.x.tile) if self.x.online else _zero(self.x.tile)

        def element(ts: list[Tensor]) -> Expr:
            total, there, *after = (t.x for t in ts)
            return if_there(there, self.tile.epilogue(total, after), beyond)

        read = [self._kept(Tensor(total, tuple(_digits(self.loops)))), there, *after]
        if not self.sums:
            return self._multiplied(state, self._mapped(self._by_rows, read, element), factors)
        tile = self._kept(self._mapped(self.loops, read, element))
        if not self.x.online:
            count = len(self.sums)
            sums = [self._summed(i, p.Get(i, state), tile, there, beside) for i in range(count)]
            return p.Tup((*sums, self._multiplied(p.Get(count, state), tile, factors)))
        return self._online(state, tile, factors)

    def _mapped(self, loops: Sequence[Loop], tensors: Sequence[Tensor], f: Callable[[list[Tensor]], Expr]) -> Tensor:
        """Maps over all digits, whose axes are in any order."""
        return Tensor(nest(_levels(loops), [_along(t, _digits(loops)) for t in tensors], f), tuple(_digits(loops)))

    @staticmethod
    def _kept(t: Tensor) -> Tensor:
        return replace(t, x=p.To("private", t.x))

    @cached_property
    def _by_rows(self) -> list[Loop]:
        """The loops of a tile, with rows innermost: these lie beside each other in local memory."""
        own = [s for s in self.loops if s.kind == "own"]
        *others, last = [s for s in own if s.dim == self.x.rows]
        columns = [s for s in own if s.dim == self.x.middle]
        return [*(s for s in self.loops if s.kind == "item"), *columns, *others, replace(last, level=Level("vec"))]

    # ------------------------------------------------------------------------------------ sums of rows

    def _summed(self, i: int, total: Expr, tile: Tensor, there: Tensor, beside: Sequence[Tensor]) -> Expr:
        """What each item has of a row's sum, with its own elements of a tile taken in."""
        (phase,), stage = self.sums[i].phases, self.x.sums[i]
        before = sum(len(w.phases[0].operands) - 1 for w in self.sums[:i])
        own = list(beside[before : before + len(phase.operands) - 1])

        def taken(total: Expr, ts: list[Tensor]) -> Expr:
            there, element, left = ts[0].x, ts[1].x, iter(ts[2:])
            elements = [element if o.at in stage.given else next(left).x for o in phase.operands]
            return if_there(there, self.sums[i].step(phase, total, elements), total)

        read = [Tensor(total, tuple(_digits(self.own))), there, tile, *own]
        return self._mapped(self.own, read, lambda ts: self._along(ts[0].x, ts[1:], taken)).x

    def _along(self, total: Expr, tensors: list[Tensor], f: Callable[[Expr, list[Tensor]], Expr]) -> Expr:
        """A fold over an item's own elements of a row."""

        def go(axes: Sequence[Digit], total: Expr, ts: list[Tensor]) -> Expr:
            if not axes:
                return f(total, ts)
            return folded(axes[0], total, ts, lambda acc, inner: go(axes[1:], acc, inner), unroll=True)

        return go(_digits([s for s in self.loops if s not in self.own]), total, tensors)

    @cached_property
    def _rows(self) -> list[Loop]:
        """Who goes on with which row: the items that shared it take one each."""
        *others, last = [s for s in self.own if s.dim == self.x.rows]
        return [*others, replace(last, level=Level("local", 0))]

    def _of_rows(self, found: Tensor) -> Tensor:
        """What all items have found of each row, in local memory, those of a row innermost."""
        order = (*_digits(self._rows), *(a for a in found.axes if a[0] == self.x.middle))  # type: ignore[index]
        return Tensor(permuted(p.To("local", found.x), found.axes, order), order)

    # ------------------------------------------------------------------------------------ below the largest

    def _online(self, state: Expr, tile: Tensor, factors: Sequence[Tensor]) -> Expr:
        """The accumulators below the largest of each row so far: scaled, and with those of a tile added.

        Each item knows the largest of its rows itself.
        """
        own, results = tuple(_digits(self.own)), tuple(_digits(self.results))
        sum_, total, largest = (p.Get(i, state) for i in range(3))
        row = self._scales(Tensor(largest, own), self._largest(tile))
        powers = self._kept(self._mapped(self.loops, [tile, row], lambda ts: _exp_below(ts[0].x, p.Get(1, ts[1].x))))

        def taken(ts: list[Tensor]) -> Expr:
            return self._along(_times(ts[0].x, p.Get(2, ts[1].x)), [ts[2]], lambda s, e: _plus(s, e[0].x))

        sums = self._kept(self._mapped(self.own, [Tensor(sum_, own), row, powers], taken))
        read = [Tensor(total, results), self._beside_columns(row)]
        scaled = nest(  # where the first product is added
            [(a, None) for a in results],
            [_along(t, results) for t in read],
            lambda ts: _times(ts[0].x, p.Get(2, ts[1].x)),
        )
        found = self._multiplied(scaled, powers, factors)
        new = self._mapped(self.own, [row], lambda ts: p.Get(0, ts[0].x))
        early = self._mapped(self.own, [sums], lambda ts: ts[0].x)  # powers need not be there any longer
        return p.Tup((early.x, found, new.x))

    def _largest(self, tile: Tensor) -> Tensor:
        """The largest of each row of a tile, in local memory: of each item's part, then of all parts."""
        low = _lowest(self.x.tile)

        def larger(total: Expr, ts: list[Tensor]) -> Expr:
            return p.Apply("maximum", (total, ts[0].x))

        parts = self._of_rows(self._mapped(self.own, [tile], lambda ts: self._along(low, ts, larger)))
        found = self._mapped(self._rows, [parts], lambda ts: folded(ts[0].axes[0], low, ts, larger))
        return replace(found, x=p.To("local", found.x))

    def _scales(self, largest: Tensor, tile: Tensor) -> Tensor:
        """For each of an item's rows: the largest so far; the same, or 0 where there is none yet; and what is below the
        largest before, below that one."""

        def below(ts: list[Tensor]) -> Expr:
            new = p.Apply("maximum", (ts[0].x, ts[1].x))
            none = p.Apply("eq", (new, _lowest(self.x.tile)))
            finite = p.Apply("where", (none, _zero(self.x.tile), new))
            return p.Tup((new, finite, _exp_below(ts[0].x, finite)))

        return self._kept(self._mapped(self.own, [largest, tile], below))

    def _beside_columns(self, row: Tensor) -> Tensor:
        """What each item knows of its rows, where it has columns of the result: there are as many items."""
        (columns,) = [a for a in _digits(self.results) if a == (self.x.columns, 2)]
        return Tensor(row.x, tuple(columns if a == (self.x.middle, 2) else a for a in row.axes))

    def _multiplied(self, total: Expr, tile: Tensor, factors: Sequence[Tensor]) -> Expr:
        """`total` with the products of a tile added."""
        x, left = self.x, iter(factors)
        own = [self._staged(tile) if o.at in x.last.given else next(left) for o in self.last.phases[0].operands]
        steps = [s for s in self.after if s != self._keep]
        return self.last.accumulated(steps, own, total)[0]

    @cached_property
    def _keep(self) -> Keep:
        """How the tile is kept in local memory."""
        given = [i for i, o in enumerate(self.last.phases[0].operands) if o.at in self.x.last.given]
        (found,) = [s for s in self.after if isinstance(s, Keep) and s.space == "local" and s.operand in given]
        return found

    def _staged(self, tile: Tensor) -> Tensor:
        """A tile in local memory, its columns outermost, with the digits of the second contraction."""
        if tile.axes != tuple(_digits(self._by_rows)):
            tile = self._mapped(self._by_rows, [tile], lambda ts: ts[0].x)
        middle, rows = (sorted(a for a in _digits(self.loops) if a[0] == d) for d in (self.x.middle, self.x.rows))
        x = permuted(tile.x, tile.axes, [*middle, *rows])
        x = merged(merged(x, 0, len(middle)), 1, len(rows))
        x = cut(p.To("local", x, self._keep.pad), 1, self.schedules[1].blocks(self.x.rows)[1:])
        axes = [(self.x.middle, 1), *rows]
        order = [a for a in _digits([s for s in self.after if isinstance(s, Loop)]) if a in axes]
        return Tensor(permuted(x, axes, order), tuple(order))

    # ------------------------------------------------------------------------------------ what follows

    def _finished(self, state: Expr, after: list[Tensor]) -> Expr:
        """The results of a block of rows, of what they have come to and what sums of rows have."""
        total = Tensor(p.Get(len(self.sums), state) if self.sums else state, tuple(_digits(self.results)))
        starts, left = self._of_sums(state, after)
        given = [starts[name] for o in self.last.after if (name := _name(o)) in starts]
        given = given or list(starts.values())

        def finish(ts: list[Tensor]) -> Expr:
            total, found, others = ts[0].x, iter(ts[1 : 1 + len(given)]), iter(ts[1 + len(given) :])
            if self.x.online:
                sum_ = p.Get(1, ts[1].x)
                total = p.Apply("where", (p.Apply("ne", (sum_, sum_)), sum_, total))
            elements = [next(found if _name(o) in starts else others).x for o in self.last.after]
            return self.last.epilogue(total, elements)

        levels = [((s.dim, s.digit), s.after or s.level) for s in self.results]
        order = _digits(self.results)
        return nest(levels, [total, *(_along(t, order) for t in (*given, *left))], finish)

    @cached_property
    def _needs_largest(self) -> bool:
        """Does what follows read the largest of a row itself?"""
        given = self.x.last.given
        return self.x.online and any(
            isinstance(t, p.Get) and t.index == 0 and t.x in given for t in subterms(self.x.last.body)
        )

    @staticmethod
    def _any(axis: Axis, t: Tensor) -> Expr:
        """What all items have found alike."""
        low = p.Literal(float("-inf"), element_type(t.x))
        return folded(axis, low, [t], lambda total, ts: p.Apply("maximum", (total, ts[0].x)))

    def _of_sums(self, state: Expr, after: list[Tensor]) -> tuple[dict[str, Tensor], list[Tensor]]:
        """Sums of rows by name, in local memory; and the tensors that these do not read."""
        starts = dict[str, Tensor]()
        for i, w in enumerate(self.sums):
            own = [o for o in w.after if o.at not in w.stage.given]
            found = self._of_rows(Tensor(p.Get(i, state), tuple(_digits(self.own))))
            own_rows = Tensor(p.Get(2, state), tuple(_digits(self.own))) if self._needs_largest else None
            largest = [] if own_rows is None else [self._of_rows(own_rows)]

            def finish(ts: list[Tensor], w: Lowering = w) -> Expr:
                share = ts[0].axes[0]
                total = w.total(share, ts[0], "local", alone=False)  # type: ignore[arg-type]
                if self.x.online:
                    none = p.Apply("eq", (total, _zero(self.x.tile)))  # all is -inf: 0 / 0 is what it is in two passes
                    total = p.Apply("where", (none, p.Apply("div", (total, total)), total))
                    return p.Tup((self._any(share, ts[1]) if len(ts) > 1 else total, total))
                return w.epilogue(total, [t.x for t in ts[1:]])

            row = self._mapped(self._rows, [found, *largest, *after[: len(own)]], finish)
            starts[w.stage.name] = replace(row, x=p.To("local", row.x))
            after = after[len(own) :]
        return starts, after


def _lowest(tile: Stage) -> Expr:
    return p.Literal(float("-inf"), type_of(tile.body))


def _zero(tile: Stage) -> Expr:
    return p.Literal(0.0, type_of(tile.body))


def _plus(a: Expr, b: Expr) -> Expr:
    return p.Apply("add", (a, b))


def _times(a: Expr, b: Expr) -> Expr:
    return p.Apply("mul", (a, b))


def _exp_below(x: Expr, largest: Expr) -> Expr:
    return p.Apply("exp", (p.Apply("sub", (x, largest)),))


def _name(o: Operand) -> str:
    """The array that is read."""
    return next((t.name for t in subterms(o.array) if isinstance(t, p.Input)), "")


def _tuple(xs: Sequence[Expr]) -> Expr:
    return xs[0] if len(xs) == 1 else p.Tup(tuple(xs))


def _along(t: Tensor, axes: Sequence[Digit]) -> Tensor:
    """A tensor with its axes in the order of `axes`, the others behind them."""
    order = (*(a for a in axes if a in t.axes), *(a for a in t.axes if a not in axes))
    return Tensor(permuted(t.x, t.axes, order), order)


def _digits(loops: Sequence[Loop]) -> list[Digit]:
    return [(loop.dim, loop.digit) for loop in loops]


def _levels(loops: Sequence[Loop]) -> list[tuple[Digit, Level | None]]:
    return [((loop.dim, loop.digit), loop.level) for loop in loops]
