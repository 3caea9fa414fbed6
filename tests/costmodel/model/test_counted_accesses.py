"""Where a CPU goes from page to page."""

from __future__ import annotations

import pytest

from egglift.codegen.kernel.imperative import Buffer
from egglift.codegen.kernel.index import Var, index
from egglift.costmodel.model.counted_accesses import CountedAccess, leap
from egglift.ir.types import F32

K, J, LANE = Var("k", 512, "loop"), Var("j", 8, "loop"), Var("v", 16, "lane")


def access(row: int, unrolled: bool) -> CountedAccess:
    """Vectors of 16 at the start of rows: 64 blocks of 8 rows."""
    at = index(K) * (8 * row) + index(J) * row + index(LANE)
    loops = ((K, 512), (J, 8))
    return CountedAccess(
        Buffer("x", "global", F32, 1 << 22), at, 64, 4096, False, loops, LANE, True, (J,) if unrolled else ()
    )


@pytest.mark.parametrize(
    ("row", "unrolled", "part"), [(16, False, 0), (528, False, 0.5), (4096, False, 1), (16, True, 0)]
)
def test_a_leap_is_what_lies_between_two_steps(row: int, unrolled: bool, part: float) -> None:
    assert leap(access(row, unrolled)) == pytest.approx(part)


def test_what_unrolled_loops_read_is_no_gap() -> None:
    """8 rows of 24: a step goes on by 768 bytes, of which 512 were read."""
    assert leap(access(24, True)) == pytest.approx(256 / 4096)
