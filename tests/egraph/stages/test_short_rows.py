"""Short rows of a result are elements of a stage: each is computed as a whole, reductions and all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import Partitioning, stages_of
from egglift.egraph.stages.short_rows import in_elements
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, only_stage, same, whole
from tests.egraph.stages.programs import add_up, arr

pytestmark = pytest.mark.short

H200 = presets()["nvidia_h200"]


def normalised(n: int, k: int = 3) -> Any:
    v = arr("v", n, k)
    return v / np.sqrt(np.sum(v * v, axis=1, keepdims=True) + 1)


def softmax(n: int, k: int = 3) -> Any:
    x = arr("x", n, k)
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def rotated(n: int) -> Any:
    return arr("v", n, 3) @ arr("R", 3, 3).T


ONE_STAGE: dict[str, Callable[[], Any]] = {
    "a product with a small matrix": lambda: rotated(7),
    "rows of a transposition": lambda: arr("x", 4, 9).T,
    "another order of channels": lambda: arr("x", 5, 7, 3, t=el.u8)[..., ::-1],
    "planes as pixels": lambda: np.moveaxis(arr("x", 3, 4, 5), 0, 2),
    "rows with numbers of their own": lambda: arr("x", 9, 3) * arr("k", 3) + el.iota(3).cast(el.f32),
}


@pytest.mark.parametrize("name", ONE_STAGE)
def test_elements_are_the_rows_of_their_stage(name: str) -> None:
    stage = only_stage(ONE_STAGE[name]())
    rows = in_elements(stage)
    assert rows is not None and rows.dims == stage.dims[:-1] and not rows.reductions
    assert same(as_pattern(stage), as_pattern(rows), exact_inputs(as_pattern(stage)), 1e-6)


@pytest.mark.parametrize(
    "program", [normalised(7), softmax(6), normalised(5, 8)], ids=["vectors", "softmax", "of eight"]
)
def test_what_short_rows_need_is_computed_with_them(program: Any) -> None:
    e = as_program(program)
    stages = stages_of(e, True, Partitioning(rows=True))
    (stage,) = stages.stages
    assert not stage.reductions and in_elements(stage) is not None
    assert same(e, whole(stages), exact_inputs(e), 1e-5)
    assert len(stages_of(e, True).stages) > 1


@pytest.mark.parametrize(
    "program",
    [normalised(5, 9), arr("A", 5, 7).map(add_up), arr("x", 9), arr("A", 9, 4) @ arr("B", 4, 30)],
    ids=["rows of nine", "a vector", "one dimension", "long rows of short sums"],
)
def test_long_rows_are_no_elements(program: Any) -> None:
    for stage in stages_of(as_program(program), True, Partitioning(rows=True)).stages:
        assert in_elements(stage) is None


def test_long_sums_are_not_spelled_out() -> None:
    assert in_elements(only_stage(arr("A", 9, 100) @ arr("B", 100, 3))) is None


@pytest.mark.parametrize("program", [normalised, softmax, rotated], ids=lambda f: f.__name__)
def test_programs_of_short_rows_take_as_long_as_their_memory(program: Callable[[int], Any]) -> None:
    n = 1 << 22
    best = scheduled(as_program(program(n)), H200, H200.limits, True)[0]
    assert best.seconds < 1.5 * (24 * n / H200.bandwidth) + H200.launch, best.sign
