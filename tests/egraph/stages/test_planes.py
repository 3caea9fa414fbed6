"""Numbers of short elements lie in planes of their own where nothing reads them side by side."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.structures import structures
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.planes import by_planes
from egglift.egraph.stages.short_arrays import in_planes
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, only_stage, same, sized
from tests.egraph.stages.programs import arr

pytestmark = pytest.mark.short

H200 = presets()["nvidia_h200"]


def gradients(h: int, w: int) -> Any:
    u = arr("u", h, w)
    return el.stack([np.roll(u, 1, axis=0) - u, np.roll(u, 1, axis=1) - u, u * 2])


def matrices(n: int) -> Any:
    a, b = arr("a", n), arr("b", n)
    return el.stack([el.stack([a, b]), el.stack([b, a * b])])


def channels_last(h: int, w: int) -> Any:
    return np.moveaxis(gradients(h, w), 0, 2)


PLANES: dict[str, Callable[[], Any]] = {
    "several results of a grid": lambda: gradients(6, 8),
    "matrices of vectors": lambda: matrices(12),
    "results of each row": lambda: np.moveaxis(gradients(6, 8), 0, 1),
}
BEFORE = {"several results of a grid": 0, "matrices of vectors": 0, "results of each row": 1}


@pytest.mark.parametrize("name", PLANES)
def test_what_is_stacked_is_written_in_planes(name: str) -> None:
    e = as_program(PLANES[name]())
    stages = stages_of(e, True)
    stage = only_stage(PLANES[name]())
    assert stage.planes == BEFORE[name] and isinstance(stages.result, p.Input)
    assert same(e, as_pattern(stage), exact_inputs(e))


def test_channels_that_lie_together_stay_elements() -> None:
    assert only_stage(channels_last(6, 8)).planes is None


def test_what_is_also_read_side_by_side_is_no_planes() -> None:
    (stage,) = stages_of(as_program(channels_last(6, 8)), True).stages
    array = p.Input(stage.name, stage.type)
    apart = in_planes(array, stage, 0)
    ((laid,), moved), ((kept,), whole) = by_planes([stage], apart), by_planes([stage], p.Tup((array, apart)))
    assert laid.planes == 0 and moved is p.Input(laid.name, laid.type)
    assert kept is stage and whole is p.Tup((array, apart))


@pytest.mark.parametrize("name", PLANES)
@pytest.mark.parametrize("kind", ["gpu", "cpu"])
def test_schedules_of_planes_are_the_program(name: str, kind: str) -> None:
    stage, rng = only_stage(PLANES[name]()), Random(0)
    expected, found = as_pattern(stage), list(structures(stage, kind, True))
    assert found and not any("gathered" in s.sign or "alone" in s.sign for s in found)
    for s in found:
        assert same(expected, sized(s, rng), exact_inputs(expected)), s.sign


def test_planes_take_as_long_as_their_memory() -> None:
    best = scheduled(as_program(gradients(4096, 4096)), H200, H200.limits, True)[0]
    assert best.seconds < 1.5 * (4 * 4 * (1 << 24) / H200.bandwidth) + H200.launch, best.sign
