"""Reductions along axes are NumPy's, and the programs that a careful user writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import egglift as el
from egglift.ir.types import scalar_of

pytestmark = pytest.mark.short

NAMES = ("sum", "prod", "min", "max", "any", "all", "mean", "var", "std")
DTYPES = ("bool", "i1", "i4", "i8", "u1", "u4", "u8", "f4", "f8")


def compare(name: str, a: np.ndarray[Any, Any], axis: Any, keepdims: bool) -> None:
    """The interpreter's value of a reduction beside NumPy's: type, shape and elements."""
    x = el.array("x", scalar_of(a.dtype), a.shape)
    found = el.interpret(getattr(el, name)(x, axis=axis, keepdims=keepdims), x=a)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(a, axis=axis, keepdims=keepdims)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, 2e-4, 1e-5)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_reductions_along_any_axes_are_those_of_numpy(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    axes = st.sets(st.integers(0, len(shape) - 1), min_size=1).map(tuple)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1) | axes)
    values = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 5, shape)
    a = values.astype(data.draw(st.sampled_from(DTYPES)))
    compare(data.draw(st.sampled_from(NAMES)), a, axis, data.draw(st.booleans()))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "mean", "var", "std"])
def test_reductions_of_no_elements_are_those_of_numpy(name: str) -> None:
    compare(name, np.zeros((3, 0), np.float32), 1, False)


@pytest.mark.parametrize("name", ["min", "max"])
def test_no_elements_have_no_least_one(name: str) -> None:
    with pytest.raises(el.ShapeError, match="no elements"):
        getattr(el.array("x", el.f32, (3, 0)), name)(axis=1)


@pytest.mark.parametrize("name", ["min", "max", "sum", "mean"])
def test_nan_is_propagated(name: str) -> None:
    compare(name, np.array([[1, np.nan, 3], [4, 5, 6]], np.float32), 1, False)


def test_sums_along_axes_are_the_maps_that_users_write() -> None:
    A = el.array("A", el.f32, (5, 7))
    assert A.sum(axis=0).expr is A.T.map(lambda c: el.reduce(el.add, 0.0, c)).expr
    assert A.sum(axis=-1).expr is A.map(lambda r: el.reduce(el.add, 0.0, r)).expr
    assert A.sum().expr is el.reduce(el.add, 0.0, A.join()).expr


@pytest.mark.parametrize("axis", [2, -3, (0, 0)])
def test_axes_that_are_not_there_are_refused(axis: Any) -> None:
    with pytest.raises(el.ShapeError, match="axis"):
        el.array("A", el.f32, (5, 7)).sum(axis=axis)


def test_elements_that_are_tuples_are_refused() -> None:
    with pytest.raises(el.TypeMismatch, match="component"):
        el.array("A", (el.f32, el.i32), 5).sum()


SHAPES = [((4, 1), (4, 3)), ((4, 1), (3,)), ((1, 3), (4, 1)), ((2, 1, 3), (5, 1)), ((1,), (0,)), ((1, 1), (1,))]


@pytest.mark.parametrize("shapes", [pair[::way] for pair in SHAPES for way in (1, -1)], ids=str)
def test_lengths_of_one_are_repeated_as_in_numpy(shapes: tuple[tuple[int, ...], ...]) -> None:
    a, b = (np.random.default_rng(i).random(s).astype("f4") for i, s in enumerate(shapes))
    program = el.array("a", el.f32, a.shape) - el.array("b", el.f32, b.shape)
    np.testing.assert_array_equal(el.interpret(program, a=a, b=b), a - b)


def test_other_lengths_are_not_repeated() -> None:
    with pytest.raises(el.ShapeError, match="only lengths of 1"):
        el.array("a", el.f32, (4, 2)) - el.array("b", el.f32, (4, 3))


def test_kernels_of_reductions_are_right() -> None:
    a = np.random.default_rng(0).random((6, 70)).astype("f4")
    A = el.array("A", el.f32, a.shape)
    kernel = el.optimize(A - A.mean(axis=1, keepdims=True), "pocl", measurements=1)
    np.testing.assert_allclose(kernel(A=a), a - a.mean(axis=1, keepdims=True), 1e-4, 1e-5)
