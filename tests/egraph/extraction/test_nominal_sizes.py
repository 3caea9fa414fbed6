"""Plausible numbers for tile symbols."""

import pytest

from egglift.costmodel.profiles.profile import presets
from egglift.egraph.extraction.nominal_sizes import Nominal
from egglift.egraph.extraction.weights import weights
from egglift.egraph.graph.graph import TileSymbol
from egglift.ir.sizes import Sym


def number(device: str, kind: str, length: int) -> int:
    symbols = {"t0": TileSymbol("t0", kind, length, 1, 0)}
    return Nominal(symbols, weights(presets()[device])).number(Sym("t0"))


def test_blocks_shrink_where_large_ones_would_leave_a_gpu_idle() -> None:
    assert number("nvidia_h200", "m", 4096) == 128
    assert number("nvidia_h200", "m", 1024) == number("nvidia_h200", "m", 1000) == 64
    assert number("nvidia_h200", "m", 256) == 16


def test_small_blocks_keep_as_many_work_items_busy() -> None:
    items = {length: length // (4 * number("nvidia_h200", "q", length)) for length in (128, 64)}
    assert items[128] == items[64] == 16


@pytest.mark.parametrize("device", ["nvidia_h200", "pocl_cpu"])
@pytest.mark.parametrize("kind", ["m", "n"])
@pytest.mark.parametrize("length", [2, 3, 17, 40, 127])
def test_a_single_block_is_no_tile(length: int, kind: str, device: str) -> None:
    assert 1 <= number(device, kind, length) <= 2 * length // 3


@pytest.mark.parametrize("kind", "vwmnqdckpursaf")
def test_no_tile_is_longer_than_what_it_cuts(kind: str) -> None:
    for device in ("nvidia_h200", "pocl_cpu"):
        for length in (1, 2, 5, 100, 100_000):
            assert 1 <= number(device, kind, length) <= length
