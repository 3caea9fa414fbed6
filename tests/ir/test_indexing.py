"""Indices of arrays are NumPy's: slices in both directions, and new axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import egglift as el

BOUNDS = st.none() | st.integers(-8, 8)
STEPS = st.none() | st.integers(-3, 3).filter(bool)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 6), st.builds(slice, BOUNDS, BOUNDS, STEPS))
def test_slices_are_those_of_numpy(n: int, at: slice) -> None:
    a = np.arange(n, dtype=np.float32)
    np.testing.assert_array_equal(el.interpret(el.array("x", el.f32, n)[at], x=a), a[at])


@pytest.mark.parametrize(
    "at", [None, (slice(None), None), (None, 1), (slice(None, None, -1), slice(None, None, -2)), (1, None, slice(2))]
)
def test_new_axes_and_nested_slices_are_those_of_numpy(at: Any) -> None:
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(el.interpret(el.array("x", el.f32, (3, 4))[at], x=a), a[at])
