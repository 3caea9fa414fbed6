"""Stencils in any number of dimensions: defined functions, compositions of `pad`, `slide`, `map` and `transpose`.

Widths, sizes, steps and modes are given as a sequence, the outermost dimension first; or as one number, or one mode,
for all dimensions.  Several modes are a list: a tuple is one mode, `("constant", value)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from egglift.ir.errors import ShapeError
from egglift.ir.keywords import explain
from egglift.ir.rearranging import transpose
from egglift.ir.reduction import add
from egglift.ir.sizes import Size
from egglift.ir.text import brief
from egglift.ir.types import is_floating, leaves
from egglift.ir.value import Like, Mode, Value, as_value
from egglift.ir.whole_numbers import whole

Widths: TypeAlias = "int | Sequence[int]"
Modes: TypeAlias = "Mode | list[Mode]"

# ---------------------------------------------------------------------------------------- layout


def pad_nd(left: Widths, right: Widths, mode: Modes, xs: Like) -> Value:
    """`pad left right mode` of as many dimensions as the sequences among these have items; of one if there is none.

    The innermost dimension is padded first: where a constant meets another mode in a corner, the mode of the outer
    dimension decides.  ShapeError where the numbers of widths differ, or exceed the dimensions of the array.
    """
    return _pad(as_value(xs), _count(xs, left, right, mode if isinstance(mode, list) else 0), left, right, mode)


def pad2d(left: Widths, right: Widths, mode: Modes, xs: Like) -> Value:
    """`pad_nd` of the two outermost dimensions: `left` rows (columns) before, `right` after; `[rows, columns]` each."""
    return _pad(as_value(xs), 2, left, right, mode)


def pad3d(left: Widths, right: Widths, mode: Modes, xs: Like) -> Value:
    """`pad_nd` of the three outermost dimensions."""
    return _pad(as_value(xs), 3, left, right, mode)


def slide_nd(size: Widths, step: Widths, xs: Like) -> Value:
    """Windows in as many dimensions as `size` has: `y[i][j]...` is the window that begins at `[i * step][j * step]`.

    ShapeError where there are more sizes than dimensions, or a window is larger than the array.
    """
    return _slide(as_value(xs), _count(xs, size, step), size, step)


def slide2d(size: Widths, step: Widths, xs: Like) -> Value:
    """`slide_nd` in two dimensions: `map (map transpose) (slide n s (map (slide m t) xs))`, an array [h][w][n][m]."""
    return _slide(as_value(xs), 2, size, step)


def slide3d(size: Widths, step: Widths, xs: Like) -> Value:
    """`slide_nd` in three dimensions: an array [d][h][w][n][m][k]."""
    return _slide(as_value(xs), 3, size, step)


def map_nd(f: Callable[..., Like], depth: int, xs: Like, *more: Like) -> Value:
    """f applied to the elements of an array, `depth` dimensions deep; of several arrays it takes one element each.

    `map_nd(f, 2, a, b)[i][j] = f(a[i][j], b[i][j])`.
    """
    whole(depth, "the depth of map_nd", 1)
    if depth == 1:
        return as_value(xs).map(f, *more)
    return as_value(xs).map(lambda *rows: map_nd(f, depth - 1, *rows), *more)


# ---------------------------------------------------------------------------------------- stencils


def stencil(
    f: Callable[..., Like], size: Widths, step: Widths, left: Widths, right: Widths, mode: Modes, x: Like, *more: Like
) -> Value:
    """`map f (slide size step (pad left right mode x))`, in as many dimensions as `size` has.

    f takes the window, an array of `size` (in two dimensions `w[i][j]`), and one element of each further array; such an
    array has an element for every window.
    """
    count = len(size) if isinstance(size, Sequence) else 1
    padded = _pad(as_value(x), count, left, right, mode)
    return map_nd(f, count, _slide(padded, count, size, step), *more)


def convolution1d(weights: Like, mode: Mode, xs: Like) -> Value:
    """`y[i] = sum over k: x[i + k - r] * weights[k]`, r = (n - 1) / 2 for n weights, x continued by `mode`.

    y is as long as x.  ShapeError for an even number of weights: they would have no middle.
    """
    w = _weights(weights, 1, xs)
    (n,) = _odd(w)
    return stencil(lambda window: _weighted(window, w), n, 1, n // 2, n // 2, mode, xs)


def convolution2d(weights: Like, mode: Modes, xs: Like) -> Value:
    """`y[i][j] = sum over k, l: x[i + k - r][j + l - s] * weights[k][l]`, x continued by `mode`: an array as x.

    The window and the weights are flattened for the sum.  ShapeError where a dimension has an even number of weights.
    """
    w = _weights(weights, 2, xs)
    sizes = _odd(w)
    radii = [n // 2 for n in sizes]
    flat = w.join()
    return stencil(lambda window: _weighted(window.join(), flat), sizes, 1, radii, radii, mode, xs)


def separable_convolution2d(column: Like, row: Like, mode: Modes, xs: Like) -> Value:
    """`convolution2d` with `weights[k][l] = column[k] * row[l]`, in two passes: along the rows, then along the columns.

    n + m products for an element instead of n * m.
    """
    u, v = _weights(column, 1, xs), _weights(row, 1, xs)
    (n,) = _odd(u)
    down, across = _modes(mode, 2)
    along = as_value(xs).map(lambda line: convolution1d(v, across, line))
    windows = along.pad(n // 2, n // 2, down).slide(n, 1)
    return windows.map(lambda rows: transpose(rows).map(lambda window: _weighted(window, u)))


def _weighted(window: Value, weights: Value) -> Value:
    return window.map(lambda a, b: a * b, weights).reduce(add)


# ---------------------------------------------------------------------------------------- in every dimension


def _pad(x: Value, count: int, left: Widths, right: Widths, mode: Modes) -> Value:
    return _padded(x, _each(left, count), _each(right, count), _modes(mode, count))


def _padded(x: Value, lefts: list[int], rights: list[int], modes: list[Mode]) -> Value:
    """Padding of every dimension, the outermost last."""
    if len(lefts) > 1 and any(lefts[1:] + rights[1:]):
        x = x.map(lambda row: _padded(row, lefts[1:], rights[1:], modes[1:]))
    return x.pad(lefts[0], rights[0], modes[0]) if lefts[0] or rights[0] else x


def _slide(x: Value, count: int, size: Widths, step: Widths) -> Value:
    if len(x.shape) < count:
        raise ShapeError(f"{brief(x.expr)} is {x.type}: windows in {count} dimensions need so many")
    return _windows(x, _each(size, count), _each(step, count))


def _windows(x: Value, sizes: list[int], steps: list[int]) -> Value:
    """Windows in every dimension: `y[i][j]` is the window, an array of `sizes`."""
    if len(sizes) == 1:
        return x.slide(sizes[0], steps[0])
    rows = x.map(lambda row: _windows(row, sizes[1:], steps[1:])).slide(sizes[0], steps[0])
    return rows.map(lambda window: _inwards(window, len(sizes) - 1))


def _inwards(x: Value, depth: int) -> Value:
    """The outermost dimension moved inwards past `depth` others."""
    return transpose(x) if depth == 1 else transpose(x).map(lambda row: _inwards(row, depth - 1))


def _count(xs: Like, *given: Widths | list[Mode]) -> int:
    """For how many dimensions something is given."""
    counts = {len(w) for w in given if isinstance(w, Sequence)} or {1}
    if len(counts) > 1:
        raise ShapeError(f"{' and '.join(map(str, given))} are for different numbers of dimensions")
    if max(counts) > len(as_value(xs).shape):
        raise ShapeError(f"{max(counts)} dimensions are given, but {brief(as_value(xs).expr)} is {as_value(xs).type}")
    return max(counts)


def _modes(given: Modes, count: int) -> list[Mode]:
    modes = given if isinstance(given, list) else [given] * count
    if len(modes) != count:
        raise ShapeError(f"{modes} has {len(modes)} modes for {count} dimensions")
    return modes


def _each(given: Widths, count: int) -> list[int]:
    widths = list(given) if isinstance(given, Sequence) else [given] * count
    if len(widths) != count:
        raise ShapeError(f"{given} has {len(widths)} numbers for {count} dimensions")
    return widths


def _weights(given: Like, count: int, x: Like) -> Value:
    """Weights as an array; numbers in a list are weak: they take the type of x's elements where that can hold them."""
    if isinstance(given, list | tuple):
        (_, t), *_ = leaves(as_value(x).type)
        data = np.asarray(given)
        given = data.astype(t.dtype) if t.is_float or not is_floating(data.dtype) else data
    w = as_value(given)
    if len(w.shape) != count:
        wanted = "a vector" if count == 1 else "a matrix"
        raise ShapeError(f"{brief(w.expr)} is {w.type}: these weights are {wanted}")
    return w


def _odd(weights: Value) -> list[int]:
    """The lengths of weights, each with a middle."""
    sizes: list[int] = []
    for n in weights.shape:
        sizes.append(_whole(n))
        if sizes[-1] % 2 == 0:
            given = f"{brief(weights.expr)} is {weights.type}"
            raise ShapeError(f"{given}: an even number of weights has no middle; add a zero")
    return sizes


def _whole(n: Size) -> int:
    assert isinstance(n, int), "lengths of what a user writes are numbers"
    return n


explain(globals())
