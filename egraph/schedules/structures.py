"""The structures of a stage worth pricing: the runs of its loops that a way to execute it asks for.

The laws say which runs there are (runs.py); a way (ways.py) says who executes which digit.  What is left open: which
dimensions are tiled, and all sizes, which are symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from egglift.codegen.kernel.views import EXCHANGED
from egglift.codegen.kernel.warp_groups import GROUP_UNITS
from egglift.egraph.schedules.lower import lower, operands
from egglift.egraph.schedules.runs import Axis, Digit, runs_of
from egglift.egraph.schedules.schedule import RESULT, Keep, Loop, Schedule, Step
from egglift.egraph.schedules.steps import Made
from egglift.egraph.schedules.ways import (
    ALONE,
    CHUNKS,
    CHUNKS_IN_TURN,
    CPU_BOTH,
    CPU_LANES,
    CPU_MOVED,
    CPU_PACKED,
    CPU_SWEPT,
    CPU_WHOLE,
    EACH,
    FRAGMENTS,
    GATHERED,
    IN_ORDER,
    KEPT_BEFORE,
    KINDS,
    LANES,
    MOVED,
    PARTS,
    PATCH,
    ROW,
    STREAMED,
    WARP_GROUPS,
    WAYS,
    WHOLE,
    Way,
)
from egglift.egraph.stages.adjacent import adjoined, separated
from egglift.egraph.stages.matrix_products import is_of_rows_and_columns, unit_of
from egglift.egraph.stages.merging import merged_dims, merged_reductions, restored
from egglift.egraph.stages.moved_axes import Axes, Below, along_axis, below
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.sharing import can_share, commutes, longest
from egglift.egraph.stages.short_arrays import is_short_array, laid_out
from egglift.egraph.stages.short_rows import in_elements, in_numbers
from egglift.egraph.stages.stage import Dim, Stage, number
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.tile_kinds import SHARING_LANES
from egglift.ir.traverse import inputs_in, is_closed, subterms
from egglift.ir.types import Scalar

ANY = (
    0  # operand, for all: the law that keeps one looks at none, and an e-graph for each would be as many times as large
)
FEW = 1 << 17  # results of which each work-item has some
GRID = 3  # dimensions that a grid has
INNER = "qcvoRE"  # kinds of symbols that cut a block, not a dimension
TILE = 128  # columns of a result that a group has at least
ON_UNITS = (FRAGMENTS, STREAMED, WARP_GROUPS)  # ways for matrix units
SHORT = 64  # lengths below are padded up to a power of two, such that blocks divide them


@dataclass(frozen=True)
class Tile:
    """A symbol for a size: its kind (ir/tile_kinds.py) and the length that it cuts."""

    name: str
    kind: str
    length: Size


@dataclass(frozen=True)
class InTiles:
    """A stage that is computed in tiles within the loops of another; below: are these scaled to the largest of rows?"""

    stage: Stage
    schedule: Schedule
    below: bool


@dataclass(frozen=True)
class Structure:
    """A low-level program of a stage, whose sizes are symbols.

    sign: what it does, in short; stage: with its batch as few dimensions; schedule: its loops; starts: stages
    that start within its groups, with the schedules of these; tile: what is computed in tiles within its loops.
    """

    sign: str
    stage: Stage
    schedule: Schedule
    term: Expr
    tiles: dict[str, Tile] = field(compare=False)
    starts: tuple[tuple[Stage, Schedule], ...] = ()
    made: Made | None = None
    tile: InTiles | None = None


def structures(stage: Stage, kind: str, reassociate: bool, tf32: bool = False) -> Iterator[Structure]:
    """Structures for a device of that kind ("gpu" or "cpu"); those of stages that scan or count are elsewhere.

    tf32: may factors be rounded for matrix units?
    """
    if stage.is_apart:
        return
    given, (stage, cuts) = stage, adjoined(stage)
    whole = merged_reductions(stage)
    for way in ways(stage, kind, reassociate, tf32):
        # who shares elements need not know of their dimensions
        for x in _of_way(stage if way.share is None else whole, way, kind, reassociate):
            yield replace(x, term=_placed(x.term, cuts, given))
    if kind == "gpu" and stage.dims and (alone := in_numbers(stage)):
        own = _of_each(alone) if is_short_array(type_of(alone.body)) else (EACH, MOVED)
        for x in (x for way in own for x in _of_way(alone, way, kind, reassociate)):
            yield replace(x, term=_placed(x.term, cuts, given))
    if kind == "gpu" and (rows := in_elements(stage)):
        for x in (x for way in (ALONE, GATHERED) for x in _of_way(rows, way, kind, reassociate)):
            yield replace(x, term=separated(x.term, cuts))


def structure_again(stage: Stage, made: Made, kind: str, reassociate: bool) -> Structure | None:
    """The structure of a stage that was made so, if the laws make its run."""
    given, way, (stage, cuts) = stage, WAYS[kind][made.way], adjoined(stage)
    if way in (ALONE, GATHERED) and not is_short_array(type_of(stage.body)):
        stage = in_elements(stage) or stage
    if stage.reductions and way in (*IN_ORDER, MOVED, PATCH):
        stage = in_numbers(stage) or stage
    x = _made(stage if way.share is None else merged_reductions(stage), made, way, reassociate)
    return None if x is None else replace(x, term=_placed(x.term, cuts, given))


def _placed(term: Expr, cuts: tuple[int, ...], stage: Stage) -> Expr:
    """The array of an adjoined stage as the stage that was given yields it."""
    return laid_out(separated(term, cuts), stage)


def _of_way(stage: Stage, way: Way, kind: str, reassociate: bool) -> Iterator[Structure]:
    """Structures of one way, whatever dimensions are its rows."""
    count = len(stage.dims)
    wanted = [Made(way.name, rows) for rows in (range(count - 1) if way.rows and count > 1 else (None,))]
    short = kind == "gpu" and way in (CHUNKS, CHUNKS_IN_TURN, WHOLE) and count > 2 and _are_short(stage)
    if together := 2 if short else count if way in IN_ORDER and count > 1 else 0:
        wanted += [Made(way.name, rows, together) for rows in range(count - together) or (None,)]
    for made in wanted:
        structure = _made(stage, made, way, reassociate)
        if structure is not None:
            yield structure


def _made(stage: Stage, made: Made, way: Way, reassociate: bool) -> Structure | None:
    rows = None if made.rows is None else stage.dims[made.rows]
    if made.together > 1:
        structure = _of_several_rows(stage, way, rows, stage.dims[-made.together :], reassociate)
    else:
        structure = _structure(stage, way, rows, stage.dims[-1] if stage.dims else None, reassociate)
    return None if structure is None else replace(structure, made=made)


def _of_several_rows(
    stage: Stage, way: Way, rows: Dim | None, together: Sequence[Dim], reassociate: bool
) -> Structure | None:
    """A structure whose columns are those of several rows, the last dimensions of the result as one."""
    whole = merged_dims(stage, together)
    structure = _structure(whole, way, rows, whole.dims[0], reassociate)
    if structure is None:
        return None
    tiled = (stage.dims.index(d) for d in ((rows, *together) if rows else together))
    sign = f"tile {''.join(map(str, tiled))} {way.name}"
    return replace(structure, sign=sign, term=restored(structure.term, stage.dims, together))


def _are_short(stage: Stage) -> bool:
    """Are rows of the result shorter than a tile, and read together with the rows beside them?"""
    rows, columns = stage.dims[-2:]
    together = all((rows in o.dims) == (columns in o.dims) for o in operands(stage))
    return together and all(isinstance(d.extent, int) for d in stage.dims) and number(columns) < TILE


def ways(stage: Stage, kind: str, reassociate: bool, tf32: bool = False) -> tuple[Way, ...]:
    """The ways that suit a stage on a device of that kind.  tf32: may factors be rounded for matrix units?"""
    shared = reassociate and can_share(stage) and _is_worth_sharing(stage)
    if not stage.reductions:
        return () if not stage.dims else _of_each(stage) if kind == "gpu" else (CPU_MOVED,)
    if not stage.dims:
        return (LANES if kind == "gpu" else CPU_LANES,) if shared else ()
    if kind == "gpu":
        several = reassociate and len(stage.phases[0][0].dims) > 1 and commutes(stage)
        unit = unit_of(stage) if reassociate and len(stage.dims) > 1 else None
        units = () if unit is None or (unit.name == "tf32" and not tf32) else ON_UNITS
        chunks = (CHUNKS, *units, *((CHUNKS_IN_TURN,) if several else ()))
        return (*chunks, WHOLE, *((PARTS, LANES, ROW) if shared else ()))
    return (CPU_WHOLE, CPU_PACKED, CPU_BOTH, CPU_SWEPT, *((CPU_LANES,) if shared else ()))


def _of_each(stage: Stage) -> tuple[Way, ...]:
    """Nothing is reduced: by elements as they are written, unless an array is read that is known to lie across; by
    tiles if there are two dimensions.  Elements that read anywhere are also computed one by one by neighbouring
    work-items, whose places are likely to be neighbours."""
    across = any(map(_is_transposed, operands(stage)))
    flat, short = len(stage.dims) < 2, is_short_array(type_of(stage.body)) and stage.planes is None
    found = () if flat else (MOVED,)
    if flat or not across:
        found = (*found, EACH, *((ALONE, GATHERED) if short else (ALONE,) if _gathers(stage) else ()))
    return found if flat or short or not _gathers(stage) else (*found, PATCH)


def _gathers(stage: Stage) -> bool:
    """Does it read at places that inputs say?"""
    gathers = (t for o in operands(stage) for t in subterms(o.array) if isinstance(t, p.Gather))
    return any(inputs_in(t.indices) for t in gathers)


def _is_transposed(o: Operand) -> bool:
    """Is it an array in memory, read along another axis than its last?  Where the last is does only a price know of
    what is repeated, say."""
    array, along = _in_memory(o)
    return isinstance(array, p.Input) and not along


def _is_across(o: Operand) -> bool:
    """Is it read across the order in which it lies in memory?  Borders and parts of any axes leave that as it is."""
    array, along = _in_memory(o)
    return not along or any(isinstance(t, p.Transpose) for t in subterms(array))


def _is_in_memory(o: Operand) -> bool:
    """Is it read of an array in memory?  Else, as whether an index is before an end, it is computed in place."""
    return any(isinstance(t, p.Input) for t in subterms(o.array))


def _in_memory(o: Operand) -> tuple[Expr, bool]:
    """The array below what moves axes, borders and parts, and whether its last axis is the last that is read."""
    order = range(len(o.dims))
    array, axes = below(o.array, order, _along)
    return array, axes[-1:] == tuple(order[-1:])


def _along(e: Expr, axes: Axes) -> Below | None:
    layout = e if isinstance(e, p.Gather) and is_closed(e.indices) else along_axis(e)
    return None if layout is None or not axes else (layout.x, axes)


def _is_worth_sharing(stage: Stage) -> bool:
    """Are there few results, or is each element read for one result only?  Else a reduction is not what takes long."""
    results = prod(d.extent for d in stage.dims if isinstance(d.extent, int))
    return results <= FEW or any(set(stage.dims) <= set(o.dims) for o in operands(stage))


def _structure(stage: Stage, way: Way, rows: Dim | None, columns: Dim | None, reassociate: bool) -> Structure | None:
    """The structure of a way, if the laws make its run."""
    if way in ON_UNITS and not has_fragments(stage, way, rows, columns):
        return None
    stage = replace(stage, narrow=way.narrow)
    tiled = [d for d in (rows, columns) if d is not None]
    batch = [d for d in stage.dims if d not in tiled]
    whole = merged_dims(stage, batch) if len(batch) > GRID - len(tiled) else stage
    work = Work(whole, way, rows, columns, reassociate)
    steps = work.steps()
    if steps is None or not work.keeps("global"):
        return None
    schedule = Schedule(tuple(steps), tuple(work.cuts.items()))
    term = lower(whole, schedule)
    term = restored(term, stage.dims, batch) if whole is not stage else term
    sign = f"tile {''.join(str(stage.dims.index(d)) for d in tiled)} {way.name}" if tiled else way.name
    return Structure(sign, whole, schedule, term, work.tiles)


def has_fragments(stage: Stage, way: Way, rows: Dim | None, columns: Dim | None) -> bool:
    """Does it multiply rows by columns, with enough of each, and enough steps, for what the way multiplies at once?"""
    unit = unit_of(stage)
    if unit is not None and way.exchanged:
        unit = GROUP_UNITS.get(unit.name)
    if unit is None or rows is None or columns is None or not is_of_rows_and_columns(stage, rows, columns):
        return False
    lengths = (_padded(rows.extent), _padded(columns.extent), longest(stage.phases[0]).extent)
    least = (unit.rows, unit.columns, unit.steps)
    return all(n >= m for n, m in zip(lengths, least, strict=True) if isinstance(n, int))


class Work:
    """A stage and a way to execute it: the blocks of its dimensions, their symbols, and the steps of its run."""

    def __init__(
        self,
        stage: Stage,
        way: Way,
        rows: Dim | None,
        columns: Dim | None,
        reassociate: bool,
        near: frozenset[p.Input] = frozenset(),
    ) -> None:
        self.stage, self.way, self.rows, self.columns = stage, way, rows, columns
        self.near = near  # what is given, in local memory, and worth registers
        self.reduced = tuple(dict.fromkeys(d for r in (stage.phases or ((),))[0] for d in r.dims))
        self.batch = [d for d in stage.dims if d not in (rows, columns)]
        self.commutes = reassociate and commutes(stage)
        self.chunk = None if not self.reduced else longest(stage.phases[0]) if self.commutes else self.reduced[0]
        self.reads = operands(stage)
        self.tiles: dict[str, Tile] = {}
        self.cuts: dict[Dim, tuple[Size, ...]] = {}
        for i, (d, _, blocks) in enumerate(self._tables()):
            if blocks:
                self.cuts[d] = self._blocks(i, d, blocks)
        self.dims = [*self.batch, *(d for d in (rows, columns) if d is not None), *self.reduced]

    def _tables(self) -> list[tuple[Dim, tuple[str, ...], tuple[str, ...]]]:
        """The dimensions that are cut, with the kinds of their digits and the blocks."""
        way = self.way
        found = [(self.rows, way.rows, way.row_blocks), (self.columns, way.columns, way.column_blocks)]
        found.append((self.chunk, way.reduced, way.reduced_blocks))
        return [(d, kinds, blocks) for d, kinds, blocks in found if d is not None]

    def keeps(self, space: str) -> bool:
        """Is something kept in a memory space, if the way says so?"""
        return space not in self.way.keep or any(True for _ in self._kept(space))

    # ------------------------------------------------------------------------------------ sizes

    def _blocks(self, place: int, d: Dim, texts: Sequence[str]) -> tuple[Size, ...]:
        """The blocks of a dimension as a way writes them: `m`, `m/q`, `l*w`."""

        def symbol(kind: str) -> Sym:
            length: Size = d.extent if d in self.reduced else _padded(d.extent)
            if kind in INNER:
                length = Sym(f"{texts[0]}{place}")
            elif kind == SHARING_LANES.letter and texts[0] != kind:
                length = SizeOp("/", d.extent, symbol("w"))
            return self._symbol(kind, place, length)

        def size(text: str) -> Size:
            for op in "*/":
                if op in text:
                    first, second = text.split(op)
                    return SizeOp(op, symbol(first), symbol(second))
            return int(text) if text.isdigit() else symbol(text)

        return tuple(map(size, texts))

    def _symbol(self, kind: str, place: int, length: Size) -> Sym:
        name = f"{kind}{place}"
        self.tiles.setdefault(name, Tile(name, kind, length))
        return Sym(name)

    # ------------------------------------------------------------------------------------ the run

    def steps(self) -> list[Step] | None:
        """The steps of the way, if its run is in the class of the plain one."""
        axes = tuple(
            Axis(i, d in self.reduced, len(self.cuts.get(d, ())), self.commutes) for i, d in enumerate(self.dims)
        )
        runs = runs_of(axes, ANY + 1)
        c: int | None = runs.root
        found = list(self._wanted())
        for step in found:
            if c is None:
                return None
            match step:
                case Keep():
                    c = runs.after(c, ANY)
                case Loop(d, i):
                    last = i == len(self.cuts.get(d, ()))
                    c = runs.after(c, Digit(self.dims.index(d), i, last))
        return found

    def _wanted(self) -> Iterator[Step]:
        """The loops by kind; before some kinds, what is kept."""
        yield from self._kept("global")
        for i, d in enumerate(self.batch):  # in their order: loops of what is not cut are not exchanged
            yield Loop(d, 0, "grid", self._grid(GRID - len(self.batch) + i))
        for kind in KINDS:
            if kind in KEPT_BEFORE:
                for space in KEPT_BEFORE[kind]:
                    yield from self._kept(space)
            others = (Loop(d, 0, "sequential") for d in self.reduced if d != self.chunk)
            if kind == "chunk" and self.way.in_turn:
                yield from others
            for d, kinds, _ in self._tables():
                yield from (self._loop(d, i, kind) for i, k in enumerate(kinds) if k == kind)
            if kind == "step" and not self.way.in_turn:
                yield from others

    def _loop(self, d: Dim, digit: int, kind: str) -> Loop:
        match kind:
            case "chunk":
                if self.way.streamed:
                    return Loop(d, digit, "sequential", buffers=self._symbol("F", 0, 1))
                return Loop(d, digit, "sequential", None, self._symbol("f", 0, 1))
            case "share":
                return Loop(d, digit, "item", self.way.share)
            case "matrix":
                return Loop(d, digit, "matrix")
            case "step" | "held":
                unrolled = (digit and "chunk" in self.way.reduced) or kind == "held"
                return Loop(d, digit, "unrolled" if unrolled else "sequential")
            case "inner":
                return Loop(d, digit, "unrolled")
            case "grid":
                both = "grid" in self.way.rows and "grid" in self.way.columns
                return Loop(d, digit, "grid", self._grid(1 if both and d == self.rows else 0))
            case "item":
                kinds = self.way.rows if d == self.rows else self.way.columns
                if "item" in kinds[digit + 1 :]:  # warps beside each other
                    return Loop(d, digit, "item", Level("local", 2))
                return Loop(d, digit, "item", self.way.items[0 if d == self.rows else 1])
            case "vector":
                return Loop(d, digit, "own", Level("vec"))
            case _:
                last = d == self.columns and digit == len(self.way.columns) - 1 and bool(self.reduced)
                return Loop(d, digit, "own", Level("seq"), after=Level("vec") if last and self._on_gpu() else None)

    def _on_gpu(self) -> bool:
        return "item" in self.way.columns or self.way.share == Level("local", 0)

    def _grid(self, dim: int) -> Level:
        """Groups, where a way has work-items in them; else work-items."""
        return Level("workgroup" if self._on_gpu() else "global", dim)

    def _kept(self, space: str) -> Iterator[Keep]:
        if space not in self.way.keep:
            return
        if space == "result":
            yield Keep(RESULT, "local", self._symbol("a", len(self.reads), 1))
            return
        tiled = {d for d in (self.rows, self.columns) if d is not None}
        for i, o in enumerate(self.reads):
            if o.at in self.stage.given and not (space == "private" and o.at in self.near):
                continue
            match space:
                case "local" if not _is_in_memory(o):
                    pass
                case "local" if self.reduced or tiled <= set(o.dims):
                    if "matrix" in self.way.reduced:  # in the order of memory, as lanes of matrix units read any order
                        inside = not _is_across(o)
                        yield Keep(i, "local", 0, inside, self._swizzle(o, inside))
                    else:
                        yield Keep(i, "local", self._padding(i, o))
                case "global" if self._is_packed(o):
                    yield Keep(i, "global")
                case "private" if tiled & set(o.dims) or ("held" in self.way.reduced and self.chunk in o.dims):
                    yield Keep(i, "private")

    def _padding(self, i: int, o: Operand) -> Size:
        """What follows a row in local memory: of f16 and bf16 whole vectors, else rows would be copied one by one."""
        t, pad = type_of(o.at), self._symbol("a", i, 1)
        return SizeOp("*", SizeOp("/", pad, 4), 8) if isinstance(t, Scalar) and t.is_narrow else pad

    def _swizzle(self, o: Operand, inside: bool) -> int:
        """How far rows are rotated: by one chunk, as matrices are read of them; or by two, as lanes read four rows.

        Or EXCHANGED, for warp groups.
        """
        if self.way.exchanged:
            return EXCHANGED
        t = type_of(o.at)
        assert isinstance(t, Scalar)
        return 1 if t.size < 4 or (inside and t.size == 4) else 2

    def _is_packed(self, o: Operand) -> bool:
        """Is an operand worth a copy: is it read again, for other rows or, where the way says so, other columns?"""
        own = set(o.dims)
        tiled = self.columns in own or ("rows" in self.way.keep and self.rows in own)
        return tiled and bool(own & set(self.reduced)) and not set(self.stage.dims) <= own


def _padded(extent: Size) -> Size:
    if isinstance(extent, int) and extent < SHORT and extent % 4:
        return 1 << max(1, (extent - 1).bit_length())
    return extent
