"""Histograms from the notation to the device."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el

pytestmark = pytest.mark.short


@pytest.mark.parametrize("n", [0, 1, 2, 127, 4096, 4099, 20011])
def test_counts_of_vectors_of_any_length(n: int) -> None:
    a = np.random.default_rng(n).integers(-2, 40, n).astype("i4")
    kernel = el.optimize(el.bincount(el.array("a", el.i32, n), 37), "pocl", measure="none", cache=False)
    np.testing.assert_array_equal(kernel(a), np.bincount(a[(a >= 0) & (a < 37)], minlength=37))


def test_a_histogram_is_checked_and_measured() -> None:
    n = 1 << 14
    counts, edges = el.histogram(el.array("a", el.f32, n), 50, (-3, 3))
    kernel = el.optimize(counts, "pocl", measurements=2, cache=False)
    assert kernel.candidates[0].status == "ok"
    a = np.random.default_rng(0).standard_normal(n, np.float32)
    expected, own = np.histogram(a, 50, (-3, 3))
    np.testing.assert_array_equal(kernel(a), expected)
    np.testing.assert_array_equal(edges, own)


def test_more_counts_than_local_memory_has_places_for() -> None:
    a = np.random.default_rng(1).integers(0, 30000, 9000).astype("i4")
    kernel = el.optimize(el.bincount(el.array("a", el.i32, 9000), 20000), "pocl", measure="none", cache=False)
    np.testing.assert_array_equal(kernel(a), np.bincount(a[a < 20000], minlength=20000))
