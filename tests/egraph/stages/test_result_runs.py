"""Results whose reductions are the same for runs of indices are computed in the shape that has runs as an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.partition import stages_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, same, texts, whole

x = el.array("x", el.f32, (6, 40))


def scaled_blocks() -> Any:
    """Blocks of eight by their greatest, in the shape of x."""
    blocks = x.reshape(6, 5, 8)
    return (blocks - np.abs(blocks).max(axis=2, keepdims=True)).reshape(6, 40)


def without_seasons() -> Any:
    """x without the mean of all that is eight apart."""
    return x - np.tile(x.reshape(6, 5, 8).sum(axis=1), (1, 5))


@pytest.mark.parametrize("program", (scaled_blocks, without_seasons, lambda: x - np.repeat(x[:, :5], 8, axis=1)))
def test_results_in_runs_mean_what_they_meant(program: Callable[[], Any]) -> None:
    e = as_program(program())
    assert same(e, whole(stages_of(e)), exact_inputs(e))


def test_each_block_is_reduced_once() -> None:
    first, last = texts(scaled_blocks())
    assert first.startswith("stage0[0 < 6, 1 < 5] = (maximum for 2 < 8 of")
    assert last.startswith("stage1[0 < 6, 1 < 5, 2 < 8] =")


def test_each_season_is_reduced_once() -> None:
    first, last = texts(without_seasons())
    assert first.startswith("stage0[0 < 6, 1 < 8] = (add for 2 < 5 of")
    assert last.startswith("stage1[0 < 6, 1 < 5, 2 < 8] =")


def test_results_without_runs_keep_their_axes() -> None:
    assert [t[:24] for t in texts(x @ x.T)] == ["stage0[0 < 6, 1 < 6] = ("]
    assert [t[:24] for t in texts(np.repeat(x, 2, axis=1))] == ["stage0[0 < 6, 1 < 80] = "]


def test_short_runs_are_no_axis() -> None:
    blocks = x.reshape(6, 10, 4)
    *_, last = texts((blocks - np.abs(blocks).max(axis=2, keepdims=True)).reshape(6, 40))
    assert last.startswith("stage0[0 < 6, 1 < 40] =")


def test_products_of_blocks_on_a_diagonal_are_a_batch() -> None:
    w = el.array("w", el.f32, (5, 8, 8))
    (only,) = texts(el.einsum("ngd,gde->nge", x.reshape(6, 5, 8), w).reshape(6, 40))
    assert only.startswith(
        "stage0[0 < 6, 1 < 5, 2 < 8] = (add for 3 < 8 of (mul (map (split 8 arg) x)[0,1,3] w[1,3,2])"
    )


def test_blocks_that_are_reduced_further_are_a_batch_too() -> None:
    y, w = el.array("y", el.f32, (6, 80)), el.array("w", el.f32, (5, 16, 16))
    first, *_ = texts(np.maximum(el.einsum("ngd,gde->nge", y.reshape(6, 5, 16), w).reshape(6, 80), 0).max(axis=1))
    assert first.startswith("stage0[0 < 6, 1 < 5, 2 < 16] =")
