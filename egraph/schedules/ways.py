"""Ways to execute a stage: who executes each digit of its dimensions, from the largest blocks to single elements.

A run goes through the kinds of KINDS in their order; between them, what is read is kept where a way says so.  Where
blocks have one element, a digit is no loop, so that the most finely cut run stands for all coarser ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from egglift.codegen.kernel.fragment_sums import CAST
from egglift.ir.patterns import Level
from egglift.ir.types import BF16, F16, Scalar

#: kinds of loops, outermost first.  grid: groups, or work-items of a CPU; chunk: of a reduction, which is kept in local
#: memory; share: work-items, or lanes, that reduce parts each; item: work-items of a group; step: of a reduction;
#: held: of what is kept in registers; own: elements of one work-item; vector: by lanes; inner: of a reduction, for
#: each of these
KINDS = ("grid", "chunk", "share", "item", "step", "matrix", "held", "own", "vector", "inner")
#: before loops of this kind, what is read is kept in these memory spaces; `result`: what is yielded, in local memory
KEPT_BEFORE = {"share": ("local", "result"), "held": ("private",)}


@dataclass(frozen=True)
class Way:
    """A way to execute a stage.

    rows, columns, reduced: the kinds of the digits of a dimension, the largest blocks first; rows is empty where
    one dimension is tiled only.  Each has the blocks into which it is cut: products and quotients of symbols, whose
    kinds are their letters (ir/tile_kinds.py).  keep: memory spaces for what is read; `global` is a
    copy, in the order in which it is read, of what is read again for other rows; with `rows`, for other columns too;
    `result` keeps what is yielded, in local memory.
    share, item: who shares reductions, and who executes items in rows and columns.  in_turn: chunks are taken for each
    index of the other dimensions of a reduction, so that only what one index reads is kept.  narrow: types
    that are kept as they are, also where they are cast to what is computed.  streamed: what is kept in local memory is
    copied there asynchronously, some chunks ahead.  exchanged: and lies there as warp groups read it.
    """

    name: str
    rows: tuple[str, ...]
    row_blocks: tuple[str, ...]
    columns: tuple[str, ...]
    column_blocks: tuple[str, ...]
    reduced: tuple[str, ...] = ()
    reduced_blocks: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    share: Level | None = None
    items: tuple[Level, Level] = (Level("local", 1), Level("local", 0))
    in_turn: bool = False
    narrow: tuple[Scalar, ...] = ()
    streamed: bool = False
    exchanged: bool = False


TILE = ("grid", "own", "item", "own")
#: of a product: register blocks in tiles, the reduction in chunks that the group keeps in local memory
CHUNKS = Way(
    *("chunks", TILE, ("m", "m/q", "c"), TILE, ("n", "n/q", "c"), ("chunk", "step"), ("k",), ("local", "private")),
    narrow=(F16, BF16),
)
#: the same on matrix units, whose lanes have results in pairs of rows and columns (codegen/kernel/fragments.py): warps
#: are beside each other, each has rows in eights, and columns in eights; rows of local memory are rotated
FRAGMENTS = replace(
    CHUNKS,
    name="fragments",
    rows=TILE[:3],
    row_blocks=("m", "m/R"),
    columns=("grid", "item", "own", "item", "own"),
    column_blocks=("n", "n/E", "8", "2"),
    reduced=("chunk", "matrix"),
    narrow=CAST,
)
#: the same in which chunks are copied ahead
STREAMED = replace(FRAGMENTS, name="streamed", streamed=True)
#: the same for warp groups, from local memory as it lies there: each has 64 rows, of which a work-item has two that are
#: eight apart, and all columns of the tile; warps are one above the other
WARP_GROUPS = replace(
    STREAMED,
    name="warp groups",
    rows=("grid", "own", "item", "own", "item"),
    row_blocks=("m", "m/q", "16", "8"),
    columns=("grid", "own", "item", "own"),
    column_blocks=("n", "8", "2"),
    keep=("local",),
    exchanged=True,
)
#: the same where more is reduced than is cut: a convolution as a product for each place in its window
CHUNKS_IN_TURN = replace(CHUNKS, name="chunks in turn", in_turn=True)
#: each work-item reduces all elements of its own results
WHOLE = Way("whole", TILE, ("m", "m/q", "c"), TILE, ("n", "n/q", "c"), ("step",), (), ("private",))
#: few results of long reductions: work-items in a second dimension reduce a part each
PARTS = Way("parts", (), (), TILE, ("n", "n/q", "c"), ("share", "step"), ("j",), ("private",), Level("local", 1))
#: reductions of what lies together: neighbouring work-items reduce neighbouring elements, in turn
LANES = Way(
    "lanes",
    (),
    (),
    ("grid", "item"),
    ("g",),
    ("step", "share", "held"),
    ("l*w", "w"),
    ("private",),
    Level("local", 0),
    (Level("local", 0), Level("local", 1)),
)
#: the same for one result of a group, whose parts all lanes add up together
ROW = replace(LANES, name="row", columns=("grid",), column_blocks=())
#: what follows where the row's own results are known: lanes go through the row in the same turns
ROW_AFTER = Way("row", ("grid",), (), ("own", "item", "vector"), ("l*w", "w"))
LANES_AFTER = replace(ROW_AFTER, name="lanes", rows=("grid", "item"), row_blocks=("g",))
#: nothing is reduced: neighbouring work-items compute vectors beside each other
EACH = Way("each", (), (), ("grid", "item", "vector"), ("l*w", "w"))
#: the same for elements that are short arrays, which lie apart, or read anywhere: each work-item has one, ...
ALONE = Way("alone", (), (), ("grid", "item"), ("l",))
#: ... or several, a turn of the group apart, which the group gathers in local memory, and writes vector by vector
GATHERED = Way("gathered", (), (), ("grid", "vector", "item"), ("l*w", "l"), keep=("result",))
#: elements that read anywhere: a group has a patch of rows and columns, whose places are near each other both ways
PATCH = Way("patch", ("grid", "item"), ("y",), ("grid", "item"), ("x",))
#: ways to go through all dimensions of a result as one
IN_ORDER = (EACH, ALONE, GATHERED)
#: nothing is reduced: a tile goes through local memory, and is written in the order of the result
MOVED = Way("moved", ("grid", "own", "item"), ("i", "i/o"), ("grid", "item"), ("i",), keep=("local",))

CPU_ROWS, CPU_COLUMNS = ("grid", "own"), ("grid", "own", "vector")
CPU_WHOLE = Way("whole", CPU_ROWS, ("m",), CPU_COLUMNS, ("n", "v"), ("step",), (), ("private",))
CPU_PACKED = Way("packed", CPU_ROWS, ("m",), CPU_COLUMNS, ("n", "v"), ("step",), (), ("global", "private"))
#: where rows of a block are not rows of memory either
CPU_BOTH = Way("packed both", CPU_ROWS, ("m",), CPU_COLUMNS, ("n", "v"), ("step",), (), ("global", "rows", "private"))
#: of what lies in rows, the columns reduced: some rows at a time from one end to the other, past sums in the cache
CPU_SWEPT = Way("swept", (), (), CPU_COLUMNS, ("b", "v"), ("step", "inner"), ("j",))
CPU_LANES = Way("lanes", (), (), ("grid",), (), ("step", "share"), ("w",), share=Level("vec"))
CPU_MOVED = Way("moved", CPU_ROWS, ("m",), CPU_COLUMNS, ("n", "v"))

#: what a group does within its block of an array (block_structures.py): elements, ...
_IN_COLUMNS = Way("elements", (), (), ("own", "item", "vector"), ("l*w", "w"))
_IN_TILE = replace(_IN_COLUMNS, rows=("own", "item"), row_blocks=("g",))
#: ... which are few in a row: each item has rows of its own, ...
IN_SHORT_ROWS = replace(
    _IN_COLUMNS,
    name="short rows",
    rows=("own", "item"),
    row_blocks=("l",),
    columns=("own",),
    column_blocks=(),
    items=(Level("local", 0), Level("local", 1)),
)
#: ... one result of all that it has, results of rows, and results of columns, ...
_IN_TOTAL = replace(LANES, name="total", columns=(), column_blocks=())
_IN_ROWS = replace(LANES, name="rows", columns=("own", "item"))
_IN_SUMS = replace(PARTS, name="columns", columns=("own", "item", "own"), column_blocks=("n", "c"))
#: ... and products of columns with each other
_IN_PRODUCT = Way(
    *("product", ("own", "item", "own"), ("m", "c"), ("own", "item", "own"), ("n", "c"), ("chunk", "step"), ("k",)),
    keep=("local", "private"),
)
_CPU_IN_COLUMNS = Way("elements", (), (), ("own", "own", "vector"), ("n", "v"))
_CPU_IN_TILE = replace(_CPU_IN_COLUMNS, rows=("own",))
_CPU_IN_ROWS = replace(CPU_LANES, name="rows", columns=())
_CPU_IN_SUMS = Way("columns", (), (), ("own", "own", "vector"), ("b", "v"), ("step", "inner"), ("j",))
_CPU_IN_PRODUCT = Way("product", ("own", "own"), ("m",), ("own", "own", "vector"), ("n", "v"), ("step",), ())
INSIDE = {
    "gpu": (_IN_COLUMNS, _IN_TILE, IN_SHORT_ROWS, _IN_TOTAL, _IN_ROWS, _IN_SUMS, _IN_PRODUCT),
    "cpu": (_CPU_IN_COLUMNS, _CPU_IN_TILE, _CPU_IN_ROWS, _CPU_IN_SUMS, _CPU_IN_PRODUCT),
}
_PRODUCTS = (CHUNKS, FRAGMENTS, STREAMED, WARP_GROUPS, CHUNKS_IN_TURN)
_GPU = (*_PRODUCTS, WHOLE, PARTS, LANES, ROW, EACH, ALONE, GATHERED, PATCH, MOVED)
_CPU = (CPU_WHOLE, CPU_PACKED, CPU_BOTH, CPU_SWEPT, CPU_LANES, CPU_MOVED)
#: the ways of a kind of device, by name
WAYS = {kind: {way.name: way for way in ways} for kind, ways in (("gpu", _GPU), ("cpu", _CPU))}
