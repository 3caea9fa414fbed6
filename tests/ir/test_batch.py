"""Arrays that repeat themselves cost no memory, and what is taken of them costs no more than it is."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from egglift.ir import patterns as p
from egglift.ir.batch import NdArray, gather, pick
from egglift.ir.interpret import evaluate
from egglift.ir.types import F32, I64, Array

HUGE = 1 << 40
FEW = np.array([0, 5, HUGE - 1, 5], np.int64)
X = np.arange(8, dtype=np.float32)
ROWS = np.broadcast_to(X, (HUGE, 8))  # would be 32 TiB
COLUMNS = np.broadcast_to(X[:, None], (8, HUGE))


def small(f: Callable[[], NdArray]) -> NdArray:
    """The result of `f`, which takes less than a megabyte."""
    tracemalloc.start()
    try:
        result = f()
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    return result


def test_a_few_rows_of_a_huge_array_are_all_that_is_copied() -> None:
    np.testing.assert_array_equal(small(lambda: pick(ROWS, FEW, 0)), [X, X, X, X])


def test_what_repeats_itself_along_another_axis_still_does() -> None:
    found = small(lambda: pick(COLUMNS, np.array([7, 1, 1]), 0))
    assert found.shape == (3, HUGE) and found.strides[1] == 0
    np.testing.assert_array_equal(found[:, HUGE // 2], [7, 1, 1])


def test_positions_along_inner_axes() -> None:
    np.testing.assert_array_equal(small(lambda: pick(COLUMNS, FEW, 1)), np.repeat(X[:, None], 4, 1))
    cube = np.broadcast_to(X.reshape(2, 1, 4), (2, HUGE, 4))
    np.testing.assert_array_equal(small(lambda: pick(cube, FEW, 1)), np.repeat(X.reshape(2, 1, 4), 4, 1))


def test_gathering_at_fixed_positions_copies_what_is_gathered() -> None:
    batch = np.broadcast_to(FEW, (HUGE, 4))
    found = small(lambda: gather(batch, np.broadcast_to(X, (HUGE, 8)), 1))
    assert found.shape == (HUGE, 4) and found.strides[0] == 0
    np.testing.assert_array_equal(found[3], [0, 5, 7, 5])  # clamped
    np.testing.assert_array_equal(small(lambda: gather(FEW, ROWS, 0)), [X, X, X, X])


def test_a_program_that_gathers_rows_of_a_huge_array_runs() -> None:
    at = p.Constant(Array(4, I64), FEW.tobytes())
    term = p.Gather(at, p.Fill(HUGE, p.Input("x", Array(8, F32))))
    np.testing.assert_array_equal(small(lambda: np.asarray(evaluate(term, {"x": X}))), [X, X, X, X])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_what_does_not_repeat_itself_is_picked_as_it_is(axis: int) -> None:
    whole = np.arange(5 * 6 * 7).reshape(5, 6, 7)
    for a in (whole, whole[::-1, ::2], whole.transpose(2, 0, 1), np.broadcast_to(whole[:, :1], whole.shape)):
        for positions in ([], [2], [2, 0, 2, 1]):
            at = np.array(positions, np.int64)
            np.testing.assert_array_equal(pick(a, at, axis), np.take(a, at, axis))


def test_a_batch_takes_its_rows_from_the_one_array() -> None:
    batches = np.broadcast_to(X, (2, HUGE, 8))
    found = small(lambda: gather(np.array([[0, 1, 2], [3, 4, 5]]), batches, 1))
    np.testing.assert_array_equal(found, np.broadcast_to(X, (2, 3, 8)))
