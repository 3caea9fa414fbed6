"""How much of memory strides touch: closed forms beside counting every place."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from egglift.codegen.kernel.index import Var, index
from egglift.costmodel.closed.footprint import passes, touched
from egglift.costmodel.closed.work import number
from egglift.costmodel.model.coalescing import SECTOR, ids
from egglift.costmodel.model.coalescing import passes as counted_passes


def counted(axes: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """Sectors and bytes, place by place."""
    first = [sum(i * s for i, (_, s) in zip(at, axes, strict=True)) for at in product(*(range(n) for n, _ in axes))]
    places = {b for x in first for b in range(x, x + width)}
    return len({b // SECTOR for b in places}), len(places)


def closed(axes: list[tuple[int, int]], width: int) -> tuple[float, float]:
    found = touched([(number(n), number(s)) for n, s in axes], number(width))
    return float(found.sectors), float(found.bytes)


@given(st.integers(1, 16), st.lists(st.integers(1, 5), min_size=1, max_size=3), st.lists(st.integers(1, 3), min_size=3))
def test_rows_of_rows_are_counted_exactly(words: int, counts: list[int], gaps: list[int]) -> None:
    axes, far = [], -(-words * 4 // SECTOR) * SECTOR
    for n, gap in zip(counts, gaps, strict=False):
        axes.append((n, far * gap))
        far *= gap * n
    assert closed(axes, 4 * words) == counted(axes, 4 * words)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 40), st.integers(1, 5))
def test_windows_that_slide_share_their_rows(rows: int, high: int, columns: int, wide: int) -> None:
    axes = [(rows, 1024), (high, 1024), (columns, 4), (wide, 4)]
    assert closed(axes, 4) == counted(axes, 4)


def test_an_axis_that_moves_nothing_touches_nothing_more() -> None:
    assert closed([(32, 4), (7, 0)], 4) == closed([(32, 4)], 4) == (4, 128)


def test_many_assignments_are_counted_at_once() -> None:
    strides = np.array([4.0, 8.0, 32.0, 128.0])
    found = touched([(number(32), strides)], number(4))
    assert found.sectors.tolist() == [4, 8, 32, 32]


@given(st.sampled_from([1, 2, 4, 8, 16, 32]), st.integers(0, 40), st.integers(0, 200), st.sampled_from([4, 8, 16]))
def test_passes_are_those_of_the_exact_model(wide: int, first: int, second: int, width: int) -> None:
    high = max(1, 64 // wide)
    at = index(Var("l0", wide, "local", 0)) * first + index(Var("l1", high, "local", 1)) * second
    lanes = [(number(wide), number(4 * first)), (number(min(high, 32 // wide)), number(4 * second))]
    assert passes(lanes, number(width), 32)[0] == counted_passes(at, 4, width, ids((wide, high), 32))
