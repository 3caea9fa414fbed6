"""Reductions in parts: any number of pieces gives what the whole gives."""

from __future__ import annotations

from typing import Any

import pytest

import egglift as el
from egglift.egraph.schedules.again import placed
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.sharing import can_share, commutes, longest, shared_out
from egglift.ir.lifting import as_program
from tests.egraph.staged import composed, exact_inputs, last, only_stage, same
from tests.egraph.stages.programs import PROGRAMS, add_up, arr

PAIRS = el.array("P", (el.i64, el.i64), (3, 5))
SHARED = {
    "a product": PROGRAMS["product of 2 3 5"],
    "a sum of a matrix": lambda: add_up(arr("A", 3, 7)),
    "two reductions": lambda: arr("A", 2, 7).map(lambda r: add_up(r) + el.reduce(el.maximum, 9.0, r)),
    "a tuple": lambda: arr("A", 3, 7).map(el.argmin),
    "a composition": lambda: el.reduce(composed, (2, 1), el.join(PAIRS)),
}


@pytest.mark.parametrize("name", SHARED)
def test_parts_of_any_number_add_up_to_the_whole(name: str) -> None:
    program = as_program(SHARED[name]())
    stage, inputs = only_stage(program), exact_inputs(program)
    n = longest(stage.reductions).extent
    assert isinstance(n, int)
    for pieces in range(1, n + 1):
        parts, added = shared_out(stage, pieces)
        assert parts.dims[0].extent == pieces
        assert same(program, placed(as_pattern(added), {parts.name: as_pattern(parts)}), inputs, 1e-5), pieces


def test_what_does_not_commute_is_shared_out_by_its_first_axis() -> None:
    stage = only_stage(el.reduce(composed, (2, 1), el.join(PAIRS)))
    assert not commutes(stage)
    assert longest(stage.reductions).extent == 3
    assert longest(only_stage(add_up(arr("A", 3, 7))).reductions).extent == 7


@pytest.mark.parametrize(
    "program",
    [
        lambda r: el.fold(lambda a, v: a * 2 + v, 0, r),
        lambda r: el.reduce(last, 0, r),
        lambda r: el.fill(3, r[0]),
    ],
)
def test_what_has_no_neutral_element_is_not_shared(program: Any) -> None:
    assert not can_share(only_stage(el.array("I", el.i32, (3, 4)).map(program)))
