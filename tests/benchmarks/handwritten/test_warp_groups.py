"""Instructions that a compiler is not to see, and the text in which they are in force."""

from __future__ import annotations

import pytest

from benchmarks.handwritten.warp_groups import TILES, Tile, source
from egglift.codegen.opencl.own_target import MARK


@pytest.mark.parametrize("tile", TILES)
def test_all_instructions_of_warp_groups_are_marked(tile: Tile) -> None:
    text = source(4096, tile)
    assert text.count("wgmma") == text.count(f"{MARK}wgmma")
    assert text.count("wgmma.mma_async") == 4 * tile.rows // tile.groups // 64
    assert f"m64n{tile.columns}k16" in text


def test_buffers_of_all_tiles_fit_a_units_local_memory() -> None:
    assert all(2 * 64 * (t.rows + t.columns) * t.buffers + 1024 <= 227 << 10 for t in TILES)
