"""Stages as texts to be read."""

from __future__ import annotations

from egglift.egraph.stages.sharing import shared_out
from egglift.egraph.stages.stage_text import text_of
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import PROGRAMS, add_up, arr


def test_a_text_names_dimensions_from_the_outside_in() -> None:
    text = text_of(only_stage(PROGRAMS["product with a transposed"]()))
    assert text == "stage0[0 < 5, 1 < 6] = (add for 2 < 7 of (mul A[0,2] B[1,2]))"


def test_a_text_says_what_a_reduction_goes_on_after() -> None:
    _, added = shared_out(only_stage(arr("A", 3, 7).map(add_up)), 2)
    assert " after (add for 1 < 2 of " in text_of(added)
