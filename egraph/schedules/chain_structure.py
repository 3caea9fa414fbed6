"""The loops of chains of contractions, for a GPU: those of register tiles, in which one's tile is the other's chunk.

Both contractions are cut as ways.CHUNKS says, or as ways.WARP_GROUPS does.  Their rows have the same blocks, and as
many work-items share a tile's columns as share those of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from egglift.egraph.schedules.chain_parts import ChainingParts, OnlineChainingParts
from egglift.egraph.schedules.chained_tiles import Chaining
from egglift.egraph.schedules.lower import operands
from egglift.egraph.schedules.online_tiles import OnlineChaining
from egglift.egraph.schedules.schedule import Keep, Loop, Schedule, Step
from egglift.egraph.schedules.structures import InTiles, Structure, Work, has_fragments
from egglift.egraph.schedules.tile_chains import TileChain
from egglift.egraph.schedules.ways import CHUNKS, WARP_GROUPS, Way
from egglift.egraph.schedules.whole_lines import in_whole_lines
from egglift.egraph.stages.merging import joined_axes, restored
from egglift.egraph.stages.stage import Dim, Read, Stage, number
from egglift.ir import patterns as p
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.tile_kinds import BLOCK_COLUMNS

HELD = 128  # steps of the first contraction, up to which a group keeps what is of its rows from beginning to end
LONG = 64  # columns from which on tiles have whole runs of them
RUNS = (16, 8)  # steps of both contractions that are unrolled: more would be too much code for one loop over tiles
_CHUNKS_IN_RUNS = replace(CHUNKS, reduced=("chunk", "step", "step"), reduced_blocks=("k", f"{RUNS[1]}"))
_AT_ONCE = replace(CHUNKS, reduced=("step",), reduced_blocks=())  # all of a tile's columns are kept
_IN_RUNS = replace(_AT_ONCE, reduced=("step", "step"), reduced_blocks=(f"{RUNS[0]}",))
_ON_UNITS = replace(WARP_GROUPS, streamed=False)
_UNITS_AT_ONCE = replace(_ON_UNITS, reduced=("matrix",), reduced_blocks=())
COLUMNS = 64  # that lie beside each other for warp groups
AFTER = 5  # what is added to the numbers of the second contraction's symbols


def chain_structures(x: TileChain) -> Iterator[Structure]:
    """The structures of a chain, for a GPU, of those whose runs the laws make."""
    batch = _batch(x)
    for found in _structures(x, OnlineChaining if x.online else Chaining):
        yield replace(found, term=restored(found.term, x.last.dims, batch)) if len(batch) > 1 else found


def parts_structures(x: TileChain) -> Iterator[Structure]:
    """The structures of a piece of a chain, which yields blocks (chain_parts.py)."""
    return _structures(x, OnlineChainingParts if x.online else ChainingParts)


def _structures(x: TileChain, translation: type[Chaining]) -> Iterator[Structure]:
    whole = with_one_batch(x)
    for first, second in _ways(whole):
        x = replace(whole, tile=in_whole_lines(whole.tile)) if first.exchanged else whole
        if found := _structure(x, first, second, translation):
            yield found


def _ways(x: TileChain) -> Iterator[tuple[Way, Way]]:
    """How both contractions go on: on items, and on matrix units, if they can, copied ahead and not."""
    yield CHUNKS if _is_long(x) else _at_once(x), _CHUNKS_IN_RUNS if number(x.middle) >= LONG else CHUNKS
    if may_be_on_units(x):
        first = _ON_UNITS if _is_long(x) else _UNITS_AT_ONCE
        yield first, WARP_GROUPS
        yield first, _ON_UNITS


def may_be_on_units(x: TileChain) -> bool:
    """Are both contractions products of types that warp groups multiply, where a device has these?"""
    tile, last = (x.tile, x.rows, x.middle), (x.last, x.rows, x.columns)
    return all(has_fragments(s, _ON_UNITS, rows, columns) for s, rows, columns in (tile, last))


def _at_once(x: TileChain) -> Way:
    """All steps of the first contraction one after the other: in whole runs where it has such."""
    dims = [number(d) for r in x.tile.reductions for d in r.dims]
    whole = len(set(dims)) == 1 and dims[0] > RUNS[0] and dims[0] % RUNS[0] == 0
    return _IN_RUNS if whole else _AT_ONCE


def _structure(x: TileChain, first: Way, second: Way, translation: type[Chaining]) -> Structure | None:
    x = replace(x, tile=replace(x.tile, narrow=first.narrow), last=replace(x.last, narrow=second.narrow))
    before = Work(x.tile, first, x.rows, x.middle, True)
    behind = _Second(replace(x.last, given=frozenset()), second, x.rows, x.columns, True)  # the tile is kept, too
    steps, after = before.steps(), behind.steps()
    if steps is None or after is None:
        return None
    (turn,) = [s for s in after if isinstance(s, Loop) and (s.dim, s.digit) == (x.middle, 0)]
    tile = Schedule(_held(x, [_in_turn(s, x, first, turn) for s in steps]), tuple(before.cuts.items()))
    last = Schedule(tuple(_rolled(s, second) for s in after), tuple(behind.cuts.items()))
    term = translation(x, tile, last).program()
    sign = "chained tiles" + (f" {first.name}" if first.exchanged else "") + (" streamed" if second.streamed else "")
    return Structure(sign, x.last, last, term, behind.tiles | before.tiles, tile=InTiles(x.tile, tile, x.online))


class _Second(Work):
    """The second contraction's blocks and steps: its rows and items are the first one's, its chunk the first's tile."""

    def _blocks(self, place: int, d: Dim, texts: Sequence[str]) -> tuple[Size, ...]:
        if d in self.reduced:
            return (Sym("n1"), *map(int, texts[1:]))
        if d != self.columns:
            return super()._blocks(place, d, texts)
        (block,) = super()._blocks(AFTER, d, texts[:1])
        if self.way.exchanged:
            return (block, *map(int, texts[1:]))
        items = SizeOp("/", SizeOp("/", Sym("n1"), Sym("q1")), Sym("c1"))
        own = super()._symbol("c", AFTER, SizeOp("/", block, items))
        return block, SizeOp("*", items, own), own

    def _symbol(self, kind: str, place: int, length: Size) -> Sym:
        if kind == BLOCK_COLUMNS.letter and self.way.exchanged and isinstance(length, int):  # whole lines of columns
            length = -(-length // COLUMNS) * COLUMNS
        return super()._symbol(kind, place + AFTER if kind in "afF" else place, length)


def _in_turn(s: Step, x: TileChain, way: Way, turn: Loop) -> Step:
    """A step of the tiles' own schedule, where a group takes the tiles of its rows one after the other, in turn."""
    match s:
        case Loop(dim=d, kind="grid") if d == x.middle:
            return replace(turn, prefetch=0)
        case Loop(dim=d, kind="sequential", digit=i) if not _is_long(x) and i == len(way.reduced_blocks):
            return replace(s, kind="unrolled")
        case _:
            return s


def _rolled(s: Step, way: Way) -> Step:
    """A step of the second contraction, of which only the last run is unrolled."""
    if isinstance(s, Loop) and s.kind == "unrolled" and s.digit < len(way.reduced_blocks):
        return replace(s, kind="sequential")
    return s


def _is_long(x: TileChain) -> bool:
    """Is the first contraction so long that it goes in chunks?"""
    return any(number(d) > HELD for r in x.tile.reductions for d in r.dims)


def _held(x: TileChain, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps of a tile, where what is of its rows is kept in local memory before all tiles, if it is not long."""
    reads = operands(x.tile)
    local = [] if _is_long(x) else [s for s in steps if isinstance(s, Keep) and s.space == "local"]
    held = [s for s in local if x.middle not in reads[s.operand].dims]
    at = next(i for i, s in enumerate(steps) if isinstance(s, Loop) and s.dim == x.middle)
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
