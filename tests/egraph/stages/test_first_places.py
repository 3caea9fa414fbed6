"""The first place of the largest element, by one comparison: ties, NaN and the worst values of all."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.schedules.structures import structures
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.ir.lifting import as_program
from egglift.ir.reduction import larger
from egglift.ir.types import Scalar
from tests.egraph.staged import only_stage, result, sized, texts, whole
from tests.egraph.stages.programs import arr

INF = float("inf")
ROWS = np.array(
    [
        [1, 3, 3, 2, 0],
        [np.nan, -INF, -INF, np.nan, -INF],
        [np.nan] * 5,
        [-INF, 2, np.nan, 2, INF],
        [INF, INF, -1, 5, 5],
    ],
    np.float32,
)


@pytest.mark.parametrize("place", [el.argmax, el.argmin])
def test_a_place_found_in_order_is_the_same(place: Any) -> None:
    program = as_program(arr("A", 5, 5).map(place))
    in_order = stages_of(program, by=Partitioning(frugal=True))
    (found,), (wanted,) = (result(e, {"A": ROWS}) for e in (whole(in_order), program))
    assert np.array_equal(found, wanted)
    (stage,) = in_order.stages
    assert stage.reductions[0].op is not None and stage.reductions[0].step != stage.reductions[0].op.body


def test_the_lowest_integers_have_a_first_place() -> None:
    program = as_program(el.argmax(arr("x", 4, t=el.i32)))
    lowest = np.full(4, np.iinfo(np.int32).min, np.int32)
    assert result(whole(stages_of(program, by=Partitioning(frugal=True))), {"x": lowest}) == [0]


def pairs(first: Any, t: Scalar = el.f32) -> Any:
    return el.zip(arr("x", 6, t=t), first).reduce(larger)[1]


def test_only_places_come_in_order() -> None:
    """What stands beside the values, or NaN among them, may be anything."""
    for program in (pairs(arr("y", 6, t=el.i32), el.i32), pairs(el.iota(6), el.f32)):
        assert texts(program) == texts(program, frugal=True)
    assert texts(pairs(el.iota(6), el.i32)) != texts(pairs(el.iota(6), el.i32), frugal=True)


@pytest.mark.parametrize("kind", ("gpu", "cpu"))
@pytest.mark.parametrize("columns", [False, True], ids=["of rows", "of columns"])
def test_every_structure_goes_through_places_in_order(columns: bool, kind: str) -> None:
    rng, matrix = Random(3), np.random.default_rng(3).integers(0, 2, (8, 37)).astype(np.float32)
    a = arr("A", 37, 8).T if columns else arr("A", 8, 37)
    program = as_program(a.map(el.argmax))
    inputs = {"A": matrix.T.copy() if columns else matrix}
    for s in structures(only_stage(program, frugal=True), kind, True):
        for _ in range(4):
            assert np.array_equal(result(sized(s, rng), inputs)[0], matrix.argmax(1)), s.sign
