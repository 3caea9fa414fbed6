"""Reductions along axes as functions: `el.sum(x, axis=0)`.  They shadow Python's names on purpose.

where: bools, of the array's shape or repeated to it: elements where they are false are left out.  dtype: the type in
which elements are combined, and the result's.  initial: a number that is combined with them.
"""

from __future__ import annotations

from egglift.ir.axes import Axes, axis_of, scalar_of_elements
from egglift.ir.errors import ShapeError
from egglift.ir.keywords import explain
from egglift.ir.nan_and_infinities import isclose
from egglift.ir.rearranging import broadcast_to, expand_dims, moveaxis
from egglift.ir.text import brief
from egglift.ir.type_names import TypeLike
from egglift.ir.types import BOOL, F64
from egglift.ir.value import Like, Value, as_numbers, as_value
from egglift.ir.whole_numbers import whole


def sum(
    x: Like,
    axis: Axes = None,
    keepdims: bool = False,
    *,
    dtype: TypeLike = None,
    initial: Like = None,
    where: Like = None,
) -> Value:
    """The sum along axes.  As in NumPy, bools and signed integers are added in i64, unsigned ones in u64."""
    return as_value(x).sum(axis, keepdims, dtype=dtype, initial=initial, where=where)


def prod(
    x: Like,
    axis: Axes = None,
    keepdims: bool = False,
    *,
    dtype: TypeLike = None,
    initial: Like = None,
    where: Like = None,
) -> Value:
    """The product along axes.  As in NumPy, bools and signed integers are multiplied in i64, unsigned in u64."""
    return as_value(x).prod(axis, keepdims, dtype=dtype, initial=initial, where=where)


def min(x: Like, axis: Axes = None, keepdims: bool = False, *, initial: Like = None, where: Like = None) -> Value:
    """The least element along axes, or `initial`; NaN where there is one.  ShapeError of none and no `initial`."""
    return as_value(x).min(axis, keepdims, initial=initial, where=where)


def max(x: Like, axis: Axes = None, keepdims: bool = False, *, initial: Like = None, where: Like = None) -> Value:
    """The greatest element along axes, or `initial`; NaN where there is one.  ShapeError of none and no `initial`."""
    return as_value(x).max(axis, keepdims, initial=initial, where=where)


def any(x: Like, axis: Axes = None, keepdims: bool = False, *, where: Like = None) -> Value:
    """Is there an element that is true (not 0)?"""
    return as_value(x).any(axis, keepdims, where=where)


def all(x: Like, axis: Axes = None, keepdims: bool = False, *, where: Like = None) -> Value:
    """Are all elements true (not 0)?"""
    return as_value(x).all(axis, keepdims, where=where)


def mean(x: Like, axis: Axes = None, keepdims: bool = False, *, dtype: TypeLike = None, where: Like = None) -> Value:
    """The mean along axes: of integers and bools in f64, of f16 and bf16 computed in f32; NaN of no elements."""
    return as_value(x).mean(axis, keepdims, dtype=dtype, where=where)


def var(
    x: Like, axis: Axes = None, ddof: float = 0, keepdims: bool = False, *, dtype: TypeLike = None, where: Like = None
) -> Value:
    """The variance along axes: the squared distances from the mean, added and divided by their number - ddof."""
    return as_value(x).var(axis, ddof, keepdims, dtype=dtype, where=where)


def std(
    x: Like, axis: Axes = None, ddof: float = 0, keepdims: bool = False, *, dtype: TypeLike = None, where: Like = None
) -> Value:
    """The standard deviation along axes: the square root of `var`."""
    return as_value(x).std(axis, ddof, keepdims, dtype=dtype, where=where)


def ptp(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The greatest element less the least one, along axes."""
    v = as_value(x)
    return v.max(axis, keepdims) - v.min(axis, keepdims)


def count_nonzero(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """How many elements are not 0 along axes, in i64."""
    return as_value(x).cast(BOOL).sum(axis, keepdims)


def average(x: Like, axis: Axes = None, weights: Like = None, keepdims: bool = False) -> Value:
    """The mean along axes; with weights, of elements that count so much.

    weights: an array of x's shape, or of the lengths of the axes.  ShapeError of another shape.
    """
    v = as_value(x)
    if weights is None:
        return v.mean(axis, keepdims)
    v = v if scalar_of_elements(v.expr).is_inexact else v.cast(F64)
    shares = _shares(v, axis, as_numbers(weights))
    return (v * shares).sum(axis, keepdims) / shares.sum(axis, keepdims)


def _shares(v: Value, axis: Axes, weights: Value) -> Value:
    """Weights, repeated to the shape of `v`."""
    if weights.shape == v.shape:
        return weights
    named = [axis_of(v.expr, a) for a in ((axis,) if isinstance(axis, int) else axis or ())]
    axes = sorted(named)
    if not named or weights.shape != tuple(v.shape[a] for a in named):
        raise ShapeError(
            f"average of {brief(v.expr)}, of shape {v.shape}, with weights of shape {weights.shape}: give weights of "
            "its shape, or of the lengths of the axes, named by axis="
        )
    weights = moveaxis(weights, [named.index(a) for a in axes], list(range(len(axes))))
    spread = expand_dims(weights, [a for a in range(len(v.shape)) if a not in axes])
    return broadcast_to(spread, [whole(n, "a length") for n in v.shape])


def allclose(x: Like, y: Like, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Value:
    """Are all elements close: `isclose`?"""
    return isclose(x, y, rtol, atol, equal_nan).all()


explain(globals())
