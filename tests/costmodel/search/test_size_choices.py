"""How a wish for a size is made to fit a length."""

from __future__ import annotations

import pytest

from egglift.costmodel.search.size_choices import fitted
from egglift.ir.tile_kinds import SWEPT, VECTOR


@pytest.mark.parametrize(
    ("columns", "block"), [(4096, 1024), (1000, 1000), (2000, 1000), (100, 100), (1001, 992), (3, 3)]
)
def test_swept_columns_are_blocks_without_an_edge(columns: int, block: int) -> None:
    """Where the length has such a divisor; else whole vectors, and a block at the edge."""
    assert fitted(SWEPT.letter, 1024, columns, 1) == block


def test_vectors_divide_the_block_that_they_cut() -> None:
    assert [fitted(VECTOR.letter, 16, n, 1, inner=True) for n in (1024, 1000, 100, 18)] == [16, 8, 4, 2]
    assert fitted(VECTOR.letter, 16, 100, 1) == 16, "of an array, what is left over follows"
