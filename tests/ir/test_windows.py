"""NumPy's sliding_window_view in programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import egglift as el

windows = np.lib.stride_tricks.sliding_window_view
RNG = np.random.default_rng(3)


@st.composite
def calls(draw: st.DrawFn) -> tuple[tuple[int, ...], Any, Any]:
    """A shape, lengths of windows, and axes: all, one, or several in any order, counted from either end."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    rank = len(shape)
    kind = draw(st.sampled_from(["all", "one", "several"]))
    axes = [*range(rank)] if kind == "all" else draw(st.permutations(range(rank)))
    axes = axes[:1] if kind == "one" else axes if kind == "all" else axes[: draw(st.integers(1, rank))]
    sizes = [draw(st.integers(1, shape[a])) for a in axes]
    given = tuple(a - rank if draw(st.booleans()) else a for a in axes)
    if kind == "all":
        return shape, tuple(sizes), None
    return (shape, sizes[0], given[0]) if kind == "one" else (shape, tuple(sizes), given)


@given(calls())
def test_windows_are_numpys(call: tuple[tuple[int, ...], Any, Any]) -> None:
    shape, size, axis = call
    x, a = el.array("x", el.f32, shape), RNG.random(shape, np.float32)
    np.testing.assert_array_equal(el.interpret(windows(x, size, axis=axis), x=a), windows(a, size, axis=axis))


def test_an_axis_may_be_cut_twice() -> None:
    x, a = el.array("x", el.f32, (6, 4)), RNG.random((6, 4), np.float32)
    np.testing.assert_array_equal(el.interpret(windows(x, (2, 3), (0, 0)), x=a), windows(a, (2, 3), (0, 0)))


def test_they_are_slides() -> None:
    x = el.array("x", el.f32, (9, 8))
    assert windows(x[0], 3).expr is el.sliding_window_view(x[0], 3).expr is x[0].slide(3, 1).expr
    assert windows(x, (3, 2)).expr is el.slide2d([3, 2], 1, x).expr
    assert windows(x, 3, axis=-1).expr is x.map(lambda row: row.slide(3, 1)).expr


def test_a_convolution_by_them_is_the_one_by_slide2d() -> None:
    x, w = el.array("x", el.f32, (2, 3, 9, 8)), el.array("w", el.f32, (4, 3, 3, 2))
    by_slides = x.map(lambda image: image.map(lambda channel: el.slide2d([3, 2], 1, channel)))
    both = [el.einsum("bchwij,ocij->bohw", v, w).expr for v in (windows(x, (3, 2), axis=(2, 3)), by_slides)]
    assert both[0] is both[1]


def test_lengths_may_be_open() -> None:
    x = el.array("x", el.f32, el.size("n", like=64))
    assert str(windows(x, 3).type) == "[[f32]3](n - 2)"


@pytest.mark.parametrize(
    ("size", "axis", "error", "why"),
    [
        (5, 0, el.ShapeError, "windows of 5 over an array of 3"),
        ((2, 2), 0, el.ShapeError, "lengths of windows: 2, axes: 1; give one for each axis"),
        (2, None, el.ShapeError, "lengths of windows: 1, axes: 2"),
        ((0, 2), None, el.ShapeError, "the length of a window must be 1 or more"),
        (2, 2, el.ShapeError, "it has no axis 2"),
        (1.5, 0, el.TypeMismatch, "the length of a window"),
    ],
)
def test_what_fits_nowhere_is_told(size: Any, axis: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        windows(el.array("x", el.f32, (3, 4)), size, axis=axis)


def test_views_to_be_written_are_refused() -> None:
    with pytest.raises(el.TypeMismatch, match="it has no writeable="):
        windows(el.array("x", el.f32, 4), 2, writeable=True)
