"""Several indices at once, as NumPy has them: slices, numbers, new axes, ellipses and arrays of indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import egglift as el

pytestmark = pytest.mark.short

SHAPE = (2, 3, 4)
A = np.arange(24, dtype=np.float32).reshape(SHAPE)
x = el.array("x", el.f32, SHAPE)
I, J = np.array([1, 0, 1], np.int32), np.array([[2], [0]], np.int32)

slices = st.builds(slice, st.none() | st.integers(0, 1), st.none() | st.just(2), st.sampled_from([None, -1, 2]))
entries = st.one_of(
    *(st.just(None), st.integers(-2, 1), slices),
    st.sampled_from([(), (1,), (3,), (2, 1)]).map(lambda s: np.arange(int(np.prod(s)), dtype=np.int32).reshape(s) % 2),
)


@given(at=st.lists(entries, max_size=4), dots=st.none() | st.integers(0, 4))
def test_any_indices_mean_what_they_mean_to_numpy(at: list[Any], dots: int | None) -> None:
    if dots is not None:
        at.insert(dots, Ellipsis)
    try:
        expected = A[tuple(at)]
    except IndexError:
        with pytest.raises((el.ShapeError, el.TypeMismatch)):
            x[tuple(at)]
        return
    if any(n == 0 for n in expected.shape):
        return
    np.testing.assert_array_equal(el.interpret(x[tuple(at)], x=A), expected)


def test_arrays_of_the_program_are_indices_together() -> None:
    i, j = el.array("i", el.i32, 3), el.array("j", el.i32, (2, 1))
    np.testing.assert_array_equal(el.interpret(x[i, :, j], x=A, i=I, j=J), A[I, :, J])
    np.testing.assert_array_equal(el.interpret(x[..., j, i], x=A, i=I, j=J), A[..., J, I])
    kernel = el.optimize(x[i, 0, j], "pocl", measure="none", cache=False)
    np.testing.assert_array_equal(kernel(x=A, i=I, j=J), A[I, 0, J])


def test_indices_outside_are_clamped_one_by_one() -> None:
    far = el.array("far", el.i32, 2)
    given = np.array([9, -9], np.int32)
    np.testing.assert_array_equal(el.interpret(x[0, far, far], x=A, far=given), A[0, [2, 0], [3, 0]])


def test_indices_in_functions_of_elements_may_be_elements() -> None:
    i = el.array("i", el.i32, 2)
    taken = el.zip(x, i).map(lambda m, k: m[k, 1:])
    np.testing.assert_array_equal(el.interpret(taken, x=A, i=I[:2]), np.stack([A[0, 1, 1:], A[1, 0, 1:]]))


def test_what_fits_no_shape_is_refused_by_name() -> None:
    with pytest.raises(el.ShapeError, match="^x is indexed with 2 ellipses; one stands for all that are left out$"):
        x[..., 0, ...]
    with pytest.raises(el.ShapeError, match=r"shapes must agree from the last length on"):
        x[I, J[:, 0]]
    with pytest.raises(el.TypeMismatch, match="a scalar has no component 0"):
        x[0, 0, 0, 0]
    with pytest.raises(el.ShapeError, match=r"^.* is \[f32\]4, which has no 2 axes: leave indices out"):
        x[0, 0, I, I]


def test_lengths_may_be_known_when_a_kernel_is_called() -> None:
    n, m = el.size("n", like=64), el.size("m", like=64)
    y = el.array("y", el.f32, (n, m))
    np.testing.assert_array_equal(el.interpret(y[I, I], y=A[0]), A[0][I, I])


@pytest.mark.parametrize("at", ([-1, 0], [[-3, 2], [1, -1]], np.array([-2], "i8")))
def test_negative_indices_count_from_the_end(at: Any) -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = el.array("x", el.f32, (3, 4))
    np.testing.assert_array_equal(el.interpret(x[at], x=values), values[at])
    np.testing.assert_array_equal(el.interpret(x[:, at], x=values), values[:, at])
    np.testing.assert_array_equal(el.interpret(x[at, at], x=values), values[at, at])


def test_negative_indices_that_are_given_count_from_the_end() -> None:
    x, i = el.array("x", el.f32, 5), el.array("i", el.i32, 3)
    given = {"x": np.arange(5, dtype=np.float32), "i": np.array([-1, -5, 2], np.int32)}
    np.testing.assert_array_equal(el.interpret(x[i], **given), [4, 0, 2])


@pytest.mark.parametrize("at", ([5], [-6], [0, 99]))
def test_indices_in_a_program_are_of_the_array(at: list[int]) -> None:
    with pytest.raises(el.ShapeError, match=f"x has 5 elements, and none at {at[-1]}: use indices from -5 to 4"):
        el.array("x", el.f32, 5)[at]
