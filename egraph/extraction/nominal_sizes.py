"""Plausible numbers for tile symbols, so that extraction can price structures before sizes are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log2

from egglift.egraph.extraction.weights import Weights
from egglift.egraph.graph.graph import TileSymbol
from egglift.ir.sizes import Size, SizeOp, Sym

#: tiles of a work-group and of a lone work-item: see TileSymbol
BLOCKS = {"m": 128, "n": 128, "q": 2, "d": 1, "c": 4, "k": 16, "a": 4, "f": 1, "z": 4, "h": 4, "y": 16, "x": 64, "e": 2}
ROWS = {"m": 8, "n": 32, "q": 1, "d": 1, "c": 4, "k": 16, "a": 0, "f": 0, "z": 2, "h": 4, "y": 16, "x": 256, "e": 8}
FILL = 16  # blocks along each dimension that fill a GPU
APIECE = 64  # elements of a block's side for each further chunk of a work-item


@dataclass
class Nominal:
    """Numbers of lengths: `nominal[size]`.  A tile of kind v, w is a vector; p workers; r, u a chunk."""

    symbols: Mapping[str, TileSymbol]
    weights: Weights
    _known: dict[Size, int] = field(default_factory=dict)

    def __getitem__(self, size: Size) -> int:
        return self.number(size)

    def number(self, size: Size) -> int:
        """A plausible number for `size`, never negative."""
        if isinstance(size, int):
            return size
        if size not in self._known:
            self._known[size] = max(0, self._number(size))
        return self._known[size]

    def _number(self, size: Sym | SizeOp) -> int:
        match size:
            case Sym(name):
                return self._tile(self.symbols[name])
            case SizeOp(op, a, b):
                x, y = self.number(a), self.number(b)
                return {"+": x + y, "-": x - y, "*": x * y, "/": x // max(1, y)}[op]

    def _tile(self, s: TileSymbol) -> int:
        n, w = self.number(s.length), self.weights
        tiles = BLOCKS if w.group > 1 else ROWS
        match s.kind:
            case "v" | "w":
                want = w.width
            case "m" | "n":  # so many blocks that they fill the device; a single one is no tile
                want = min(tiles[s.kind], _power(n / (FILL if w.group > 1 else 2)))
            case "q" if w.group > 1:  # a small block is for as many work-items as a large one
                want = min(tiles[s.kind], n // APIECE)
            case kind if kind in BLOCKS:
                want = tiles[kind]
            case "p":  # so many that every one has some rounds of chunks
                want = min((w.groups if s.depth == 1 else w.group) if w.group > 1 else 8 * w.items, n // 16)
            case "u":
                want = 4 if w.group > 1 else n // max(1, min(8 * w.items, n // 16))
            case _:
                want = max(1, n // (w.groups if w.group > 1 else 8 * w.items)) if s.depth == 1 else 16
        return max(1, min(want, n))


def _power(n: float) -> int:
    """The power of two nearest to `n`."""
    return 1 << round(log2(max(1.0, n)))
