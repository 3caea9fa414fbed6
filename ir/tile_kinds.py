"""The kinds of tile lengths: what each is for, its usual numbers, and the numbers that are worth trying.

A tile length is a symbol named after its kind's letter: `m0`, `m1`, ... are rows of blocks.  Laws make them, as
`(Tile "m" a)`; extraction prices them at their usual number; the search chooses among the numbers to try.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TileKind:
    """One kind.  letter: by which laws and symbols name it.  meaning: what its number counts.

    usual: its number where a work-group, and where a lone work-item, has a tile; None where it depends on the device.
    gpu, cpu: numbers to try, the most plausible first; () where they depend on the device or on what is cut.
    may_be_zero: 0 stands for going without.
    """

    letter: str
    name: str
    meaning: str
    usual: tuple[int, int] | None = None
    gpu: tuple[int, ...] = ()
    cpu: tuple[int, ...] = ()
    may_be_zero: bool = False


WORKERS = TileKind("p", "workers", "workers that share a reduction")
TURN = TileKind("u", "turn", "elements that a worker takes at a time", gpu=(4, 1, 2, 8, 16))
PART = TileKind("r", "part", "chunk of a reduction")
SHARE = TileKind("s", "share", "chunk of a map")
STRIDE = TileKind("t", "stride", "stride")
VECTOR = TileKind("v", "vector", "lanes of a vector", gpu=(4, 2, 8, 16))
ROWS_IN_LANES = TileKind("V", "rows in lanes", "rows that the lanes of a vector go through, one each", gpu=(4, 2, 8))
LANES = TileKind("w", "lanes", "lanes that fold side by side", gpu=(4, 2, 8, 16))
BLOCK_ROWS = TileKind("m", "block rows", "rows of a block", (128, 8), (128, 64, 256, 32, 16), (6, 4, 8, 5))
BLOCK_COLUMNS = TileKind("n", "block columns", "columns of a block", (128, 32), (128, 64, 256, 32, 512))
CHUNKS = TileKind("q", "chunks", "work-items along an axis of a tile", (2, 1), (2, 1, 4), (1, 2))
ROW_CHUNKS = TileKind("d", "row chunks", "work-items that share a block", (1, 1), (2, 1, 4), (1, 2))
CHUNK = TileKind("c", "chunk", "elements in a row that a work-item computes", (4, 4), (4, 1, 2, 8), (4, 1))
FOLD_CHUNK = TileKind("k", "fold chunk", "chunk of what is folded", (16, 16), (16, 8, 32, 64, 128, 256))
PIECES = TileKind("z", "pieces", "parts into which a reduction is shared out", (4, 2), (2, 4, 8, 16), (2, 4, 8, 16))
PADDING = TileKind(
    "a", "padding", "elements of padding after a row in local memory", (4, 0), (4, 0, 1), (0,), may_be_zero=True
)
PREFETCH = TileKind(
    "f", "prefetch", "prefetch: 0 none, 1 into registers, 2 into a second buffer", (1, 0), (1, 2, 0), (0,), True
)
BUFFERS = TileKind(
    "F", "buffers", "buffers that asynchronous copies fill in turn", (3, 0), (3, 2, 4), (0,), may_be_zero=True
)
WARP_ROWS = TileKind("R", "warp rows", "rows of a tile, in eights, of one warp", (8, 1), (8, 4, 2, 16), (2,))
WARPS_ACROSS = TileKind("E", "warps across", "warps along the columns of a tile", (2, 1), (2, 1, 4), (1,))
TILE_PLANES = TileKind("h", "tile planes", "planes of a tile", (4, 4), (4, 2, 8), (8, 4, 16))
TILE_ROWS = TileKind("y", "tile rows", "rows of a tile", (16, 16), (16, 8, 4, 32), (16, 8, 64))
TILE_COLUMNS = TileKind("x", "tile columns", "columns of a tile", (64, 256), (64, 128, 32, 256))
ITEM_ROWS = TileKind("e", "item rows", "rows that a work-item computes", (2, 8), (2, 4, 1, 8), (8, 4, 1))
ITEM_PART = TileKind("j", "item part", "elements of a reduction that a work-item reduces", None, (), (8, 4))
SHARING_LANES = TileKind(
    "l", "sharing lanes", "lanes that share a reduction", None, (64, 256, 1024, 32, 128, 512), (64, 16)
)
RESULTS = TileKind("g", "results", "results of a group whose lanes share them", None, (4, 1, 16, 32, 8, 2), (4, 1))
SWEPT = TileKind("b", "swept columns", "columns that a work-item sums in its cache", None, (), (1024, 512, 256, 128))
MOVED_SIDE = TileKind("i", "moved side", "side of a tile that is only moved", None, (64, 32, 128), (16, 64, 8))
MOVED_ROWS = TileKind("o", "moved rows", "rows of such a tile that a work-item moves", None, (8, 4, 16, 2), (16, 8))

DEVICE_BLOCK = TileKind("D", "device block", "elements that a device computes")

SCANNED_RUN = TileKind("U", "scanned run", "elements in a row that a work-item of a group scans")
REDUCED_RUN = TileKind("S", "reduced run", "elements in a row that a work-item of a group scans and reduces")
SCANNED_ROWS = TileKind("B", "scanned rows", "short rows that a group scans", None, (32, 16, 64, 8, 128))

#: kinds that schedules of stages have besides (egraph/schedules/ways.py): no law on patterns makes them
SCHEDULE_TILES = (
    *(ITEM_PART, SHARING_LANES, RESULTS, SWEPT, MOVED_SIDE, MOVED_ROWS, SCANNED_RUN, SCANNED_ROWS),
    REDUCED_RUN,
    *(BUFFERS, WARP_ROWS, WARPS_ACROSS),
)

#: what a grid of three dimensions is cut into; of fewer, the last ones
GRID_TILES = (TILE_PLANES, TILE_ROWS, TILE_COLUMNS)

#: every kind by its letter
TILE_KINDS: Mapping[str, TileKind] = {
    kind.letter: kind
    for kind in (
        *(WORKERS, TURN, PART, SHARE, STRIDE, VECTOR, ROWS_IN_LANES, LANES),
        *(BLOCK_ROWS, BLOCK_COLUMNS, CHUNKS, ROW_CHUNKS, CHUNK, FOLD_CHUNK, PIECES, PADDING, PREFETCH),
        *(*GRID_TILES, ITEM_ROWS, DEVICE_BLOCK, *SCHEDULE_TILES),
    )
}
