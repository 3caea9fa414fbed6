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
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.short_rows import in_elements, in_numbers
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


def stacked(n: int, m: int) -> Any:
    """Where the largest of five neighbours' falls is, of a stack of them."""
    z = arr("z", n, m)
    c = z[1:-1, 1:-1]
    return np.stack([c - z[:-2, 1:-1], c - z[2:, 1:-1], c - z[1:-1, :-2], (c - z[2:, 2:]) / 2, 0 * c], axis=0)


SPELLED: dict[str, Callable[[], Any]] = {
    "the largest of a stack": lambda: stacked(6, 7).max(axis=0),
    "its place": lambda: stacked(6, 7).argmax(axis=0),
    "a sum of what is put together": lambda: np.concatenate((arr("x", 2, 9), 3 * arr("y", 3, 9)), axis=0).sum(axis=0),
    "a stack over its norm": lambda: (
        (v := np.stack((arr("x", 9), 2 * arr("y", 9)), axis=1)) / np.sqrt((v * v).sum(axis=1, keepdims=True) + 1)
    ),
}


@pytest.mark.parametrize("name", SPELLED)
def test_short_reductions_are_sums_of_numbers(name: str) -> None:
    stage = only_stage(SPELLED[name]())
    alone = in_numbers(stage)
    assert alone is not None and not alone.reductions
    assert same(as_pattern(stage), as_pattern(alone), exact_inputs(as_pattern(stage)), 1e-6)


def test_of_what_was_put_together_each_part_is_read_once() -> None:
    alone = in_numbers(only_stage(SPELLED["a sum of what is put together"]()))
    assert alone is not None and "where" not in el.pretty(alone.body)


def test_long_reductions_are_none_of_numbers() -> None:
    assert in_numbers(only_stage(arr("A", 5, 20).sum(axis=1))) is None
    assert in_numbers(only_stage(2 * arr("A", 5, 20))) is None


def test_the_best_of_a_stack_is_computed_by_elements() -> None:
    best = scheduled(as_program(stacked(2048, 2048).argmax(axis=0)), H200, H200.limits, True)[0]
    assert best.sign.endswith("each") and best.seconds < 45e-6
