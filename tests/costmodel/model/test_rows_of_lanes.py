"""Rows that the lanes of a vector go through: where their lines meet, and how many a core follows."""

from __future__ import annotations

import pytest

from egglift.codegen.kernel.imperative import Buffer
from egglift.codegen.kernel.index import Var, index
from egglift.costmodel.model.counted_accesses import CountedAccess
from egglift.costmodel.model.rows_of_lanes import MET, STREAMS, UNFOLLOWED, meeting, waiting
from egglift.ir.types import F32

LINE, COUNT = 64, 1 << 20
STEP = Var("i", 512, "loop")


def going(row: int, lanes: int, name: str = "x", step: int = 1) -> CountedAccess:
    """Lanes that go through rows of so many numbers, an element after the other."""
    lane = Var("v", lanes, "lane")
    at = index(lane) * row + index(STEP) * step
    return CountedAccess(Buffer(name, "global", F32, 1 << 22), at, 4, COUNT, False, ((STEP, 512),), lane, True)


@pytest.mark.parametrize(
    ("step", "lanes", "found"), [(4096, 8, 8), (4096, 16, 16), (8192, 16, 16), (2048, 16, 8), (4160, 16, 1)]
)
def test_rows_meet_where_whole_pages_lie_between(step: int, lanes: int, found: float) -> None:
    assert meeting(step, lanes) == found


def test_as_many_rows_as_a_set_has_ways_do_not_wait() -> None:
    assert waiting([going(1024, 8)], LINE) == 0
    assert waiting([going(1040, 16)], LINE) == 0


def test_more_rows_in_one_set_are_fetched_anew() -> None:
    assert waiting([going(1024, 16)], LINE) == COUNT * MET
    assert waiting([going(1024, 8), going(1024, 8, "y")], LINE) == 2 * COUNT * MET
    assert waiting([going(1024, 8), going(1040, 8, "y")], LINE) == COUNT * MET


def test_of_many_rows_a_core_follows_some() -> None:
    both = [going(1040, STREAMS), going(1040, STREAMS, "y")]
    assert waiting(both, LINE) == 2 * COUNT * UNFOLLOWED / 2


@pytest.mark.parametrize("row", (1, 128))
def test_what_lies_close_is_followed(row: int) -> None:
    assert waiting([going(row, 64)], LINE) == 0


def test_rows_that_are_left_at_each_step_are_another_matter() -> None:
    assert waiting([going(1024, 16, step=1024)], LINE) == 0
