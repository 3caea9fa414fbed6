"""Views of arrays without elements: whatever reads them at a place that is not there, behind an edge say, finds one."""

from __future__ import annotations

import pytest

from egglift.codegen.kernel import views
from egglift.codegen.kernel.index import Var, index
from egglift.codegen.kernel.views import Arr
from egglift.ir.errors import CodegenError

I = index(Var("i0", 4, "loop"))
EMPTY = Arr(0, lambda i: i)


def test_every_third_of_no_elements() -> None:
    assert views.stride(EMPTY, 3, 0).length == 0
    assert views.stride(EMPTY, 3, 0).at(I) == I


def test_the_elements_of_rows_without_elements() -> None:
    rows = Arr(3, lambda i: Arr(0, lambda j: i * 10 + j))
    assert views.join(rows, 3, 0).length == 0
    assert views.join(rows, 3, 0).at(I) == I * 10


# ---------------------------------------------------------------------------------------- rotated rows


def place(row: int, i: int, n: int, size: int, step: int = 1) -> int:
    at = views.rotated(index(i), index(row), n, size, step)
    assert not at.terms
    return at.constant


@pytest.mark.parametrize(("n", "size"), [(8, 2), (16, 2), (32, 2), (64, 2), (256, 2), (4, 4), (16, 4), (64, 4), (4, 8)])
def test_a_rotated_row_has_each_of_its_elements_once(n: int, size: int) -> None:
    for row in range(20):
        assert sorted(place(row, i, n, size) for i in range(n)) == list(range(n))
        assert all(place(row, i, n, size) % (16 // size) == i % (16 // size) for i in range(n))


@pytest.mark.parametrize(("n", "size"), [(8, 2), (16, 2), (32, 2), (64, 2), (256, 2), (16, 4), (64, 4)])
def test_chunks_of_eight_rows_lie_in_different_banks(n: int, size: int) -> None:
    """As a warp reads them as a matrix, wherever it begins."""
    for first in range(0, 24, 8):
        for i in range(0, n, 16 // size):
            places = [(row * n + place(row, i, n, size)) * size // 16 for row in range(first, first + 8)]
            assert len({at % 8 for at in places}) == 8


def test_lanes_that_read_four_rows_find_different_banks() -> None:
    """With step 2: eight floats of each of four rows, as lanes have them of a right factor."""
    for first in range(0, 16, 4):
        for i in range(0, 128, 8):
            banks = {(place(row, i + j, 128, 4, 2)) % 32 for row in range(first, first + 4) for j in range(8)}
            assert len(banks) == 32


@pytest.mark.parametrize(("n", "size"), [(24, 2), (96, 2), (7, 4), (0, 4)])
def test_rows_that_are_no_such_chunks_cannot_be_rotated(n: int, size: int) -> None:
    with pytest.raises(CodegenError, match=f"rows of {n * size} bytes cannot be rotated; choose 16, 32, 64"):
        views.rotated(I, I, n, size, 1)
