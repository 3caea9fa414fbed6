"""Counts and histograms in the notation: NumPy's, and what is written wrongly."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.types import F16, F32, F64, I32, I64, U8, U64, Scalar
from egglift.ir.value import Value

X, I = el.array("x", el.f32, 8), el.array("i", el.i32, 8)


def test_a_count_is_a_pattern_whose_numbers_are_numpys() -> None:
    assert el.bincount(I, 5).expr is Value(p.Count(5, I32, I.expr)).cast(I64).expr


def test_many_counts_are_counted_in_blocks() -> None:
    a = np.array([0, 8191, 8192, 20000, 20001, -1, -(1 << 31), (1 << 31) - 1], "i4")
    found = el.interpret(el.bincount(I, 20001), i=a)
    np.testing.assert_array_equal(found, np.bincount(a[(a >= 0) & (a < 20001)], minlength=20001))


@given(st.lists(st.integers(-3, 12), max_size=20), st.integers(0, 9))
def test_integers_within_are_counted(numbers: list[int], n: int) -> None:
    a = np.array(numbers, "i2")
    found = el.interpret(el.bincount(el.array("a", el.i16, len(a)), n), a=a)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, np.bincount(a[(a >= 0) & (a < n)], minlength=n))


@pytest.mark.parametrize("t", [F16, F32, F64, I32, U8, U64], ids=str)
@pytest.mark.parametrize(("bins", "ends"), [(10, (0, 1)), (7, (-1.5, 2.5)), (256, (0, 1)), (100, (0, 256))])
def test_histograms_are_numpys_up_to_their_edges(t: Scalar, bins: int, ends: tuple[float, float]) -> None:
    rng = np.random.default_rng(0)
    a = rng.random(2000) * 4 - 1 if t.is_float else rng.integers(0, 200, 2000)
    a = np.concatenate([a, np.histogram_bin_edges(a, bins, ends)])
    a = np.concatenate([a, [np.nan, np.inf, -np.inf]]).astype(t.dtype) if t.is_float else np.abs(a).astype(t.dtype)
    counts, edges = el.histogram(el.array("a", t, len(a)), bins, ends)
    expected, own = np.histogram(a, bins, ends)
    found = el.interpret(counts, a=a)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(edges, own)
    assert (found.dtype, edges.dtype) == (expected.dtype, own.dtype)


def test_a_histogram_is_of_all_elements_of_a_matrix() -> None:
    a = np.random.default_rng(1).random((4, 6), np.float32)
    counts, _ = np.histogram(el.array("A", el.f32, (4, 6)), bins=5, range=(0, 1))  # type: ignore[call-overload]
    np.testing.assert_array_equal(el.interpret(counts, A=a), np.histogram(a, 5, (0, 1))[0])


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: el.bincount(X, 5), TypeMismatch, "bincount takes a vector of integers; cast its elements"),
        (lambda: el.bincount(I, -1), ShapeError, "the number of counts must be 0 or more, not -1"),
        (lambda: el.bincount(I, 2.5), TypeMismatch, "the number of counts must be a whole number"),
        (lambda: el.histogram(X), TypeMismatch, "give the first and the last edge, range=(0, 1): bins are fixed"),
        (lambda: el.histogram(X, 1 << 20, (0, 1)), ShapeError, "4096 at most; bincount counts in more"),
        (
            lambda: np.bincount(I),
            TypeMismatch,
            "as the values ask for: here el.bincount(x, n, weights=None)",
        ),  # type: ignore[call-overload]
        (lambda: el.histogram(el.zip(X, X), 3, (0, 1)), TypeMismatch, "take a component of its tuples first"),
    ],
)
def test_what_is_counted_wrongly_is_said_in_words(wrong: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        wrong()
