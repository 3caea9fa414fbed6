"""Plausible numbers for tile symbols, so that extraction can price structures before sizes are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log2

from egglift.egraph.extraction.weights import Weights
from egglift.egraph.graph.graph import TileSymbol
from egglift.ir import tile_kinds as kinds
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.tile_kinds import TILE_KINDS

FILL = 16  # blocks along each dimension that fill a GPU
APIECE = 64  # elements of a block's side for each further chunk of a work-item


@dataclass
class Nominal:
    """Numbers of lengths: `nominal[size]`."""

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
        known = TILE_KINDS.get(s.kind)
        usual = (known.usual if known else None) or (0, 0)
        tile = usual[0] if w.group > 1 else usual[1]
        match known:
            case kinds.VECTOR | kinds.ROWS_IN_LANES | kinds.LANES:
                want = w.width
            case kinds.BLOCK_ROWS | kinds.BLOCK_COLUMNS:  # so many that they fill the device; a single one is no tile
                want = min(tile, _power(n / (FILL if w.group > 1 else 2)))
            case kinds.CHUNKS if w.group > 1:  # a small block is for as many work-items as a large one
                want = min(tile, n // APIECE)
            case kinds.WORKERS:  # so many that every one has some rounds of chunks
                want = min((w.groups if s.depth == 1 else w.group) if w.group > 1 else 8 * w.items, n // 16)
            case kinds.TURN:
                want = 4 if w.group > 1 else n // max(1, min(8 * w.items, n // 16))
            case kinds.TileKind(usual=(_, _)):
                want = tile
            case _:
                want = max(1, n // (w.groups if w.group > 1 else 8 * w.items)) if s.depth == 1 else 16
        return max(1, min(want, n))


def _power(n: float) -> int:
    """The power of two nearest to `n`."""
    return 1 << round(log2(max(1.0, n)))
