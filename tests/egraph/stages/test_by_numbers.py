"""Sums of which each element is in one, by the number of that one: of one-hot rows, above all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, same, texts, whole
from tests.egraph.stages.programs import Value, arr

N, SUMS = 5000, 12
K, X, ROWS = arr("k", N, t=el.i32), arr("x", N), arr("A", 3, N)
HOT = K[:, None] == el.arange(SUMS, dtype=el.i32)

BY_NUMBERS: dict[str, Callable[[], Value]] = {
    "of one-hot rows": lambda: np.where(HOT, X[:, None], 0).sum(axis=0),
    "mapped over the numbers": lambda: el.arange(SUMS, dtype=el.i32).map(
        lambda n: el.map(lambda k, x: el.where(n == k, x, 0), K, X).sum()
    ),
    "weighted counts": lambda: el.bincount(K, SUMS, weights=X),
    "counts": lambda: HOT.sum(axis=0),
    "under another condition": lambda: np.where(HOT & (X > 0)[:, None], X[:, None], 0).sum(axis=0),
    "of rows": lambda: np.where(HOT, ROWS[:, :, None], 0).sum(axis=1),
    "over two axes": lambda: np.where(HOT.reshape(50, 100, SUMS), X.reshape(50, 100)[:, :, None], 0).sum(axis=(0, 1)),
    "from the last to the first": lambda: np.where(HOT, X[:, None], 0).sum(axis=0)[::-1],
    "of integers, which are summed wider": lambda: np.where(HOT, arr("i", N, t=el.i32)[:, None], 0).sum(axis=0),
    "means of groups": lambda: np.where(HOT, X[:, None], 0).sum(axis=0) / np.maximum(HOT.sum(axis=0), 1),
}
OTHERS: dict[str, Callable[[], Value]] = {
    "places that do not count": lambda: np.where(K[:, None] == arr("p", SUMS, t=el.i32), X[:, None], 0).sum(axis=0),
    "every second number": lambda: np.where(K[:, None] == 2 * el.arange(SUMS, dtype=el.i32), X[:, None], 0).sum(axis=0),
    "something else where it is not": lambda: np.where(HOT, X[:, None], 1).sum(axis=0),
    "weights that know the sum": lambda: np.where(HOT, arr("W", N, SUMS), 0).sum(axis=0),
    "maxima": lambda: np.where(HOT, X[:, None], 0).max(axis=0),
    "few sums": lambda: np.where(HOT[:, :3], X[:, None], 0).sum(axis=0),
    "short sums": lambda: np.where(HOT[:40], X[:40, None], 0).sum(axis=0),
}


@pytest.mark.parametrize("name", BY_NUMBERS)
def test_sums_with_the_number_of_the_sum_are_by_numbers(name: str) -> None:
    program = as_program(BY_NUMBERS[name]())
    stages = stages_of(program)
    assert any(s.counts is not None for s in stages.stages)
    assert same(program, whole(stages), exact_inputs(program))


@pytest.mark.parametrize("name", OTHERS)
def test_other_sums_are_taken_as_they_are(name: str) -> None:
    assert all(s.counts is None for s in stages_of(as_program(OTHERS[name]())).stages)


def test_an_element_is_in_one_sum_alone() -> None:
    assert texts(BY_NUMBERS["of one-hot rows"]()) == ["along0[0 < 12] = (sums for 0 < 5000 of (tuple k[0] x[0]))"]


def test_floats_are_not_added_out_of_order() -> None:
    program = as_program(BY_NUMBERS["of one-hot rows"]())
    assert all(s.counts is None for s in stages_of(program, reassociate=False).stages)
    counts = as_program(BY_NUMBERS["counts"]())
    assert any(s.counts is not None for s in stages_of(counts, reassociate=False).stages)


def test_sums_one_by_one_remain_a_choice() -> None:
    program = as_program(BY_NUMBERS["of one-hot rows"]())
    assert [text_of(s)[:6] for s in stages_of(program, by=Partitioning(numbered=False)).stages] == ["stage0"]


def test_a_gpu_adds_long_one_hot_rows_by_numbers() -> None:
    """One by one, each element is compared with all of the numbers."""
    gpu, k = presets()["nvidia_h200"], arr("k", 1 << 22, t=el.i32)
    hot = k[:, None] == el.arange(256, dtype=el.i32)
    best = scheduled(as_program(np.where(hot, arr("x", 1 << 22)[:, None], 0).sum(axis=0)), gpu, gpu.limits, True)[0]
    assert "rows" in best.sign and best.seconds < 40e-6
