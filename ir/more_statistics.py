"""More reductions along axes by NumPy's names: without NaN, by weights, ranges and counts."""

from __future__ import annotations

import math

from egglift.ir.axes import Axes, axis_of, scalar_of_elements
from egglift.ir.composed import isnan
from egglift.ir.errors import ShapeError
from egglift.ir.keywords import explain
from egglift.ir.more_composed import isclose
from egglift.ir.rearranging import broadcast_to, expand_dims, moveaxis
from egglift.ir.text import brief
from egglift.ir.types import BOOL, F64
from egglift.ir.value import Like, Value, as_numbers, as_value, elementwise
from egglift.ir.whole_numbers import whole


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
    v = v if scalar_of_elements(v.expr).is_float else v.cast(F64)
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


def nanmax(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The greatest element along axes of what is not NaN; NaN where all is."""
    return _without_nan(as_value(x), axis, keepdims, "max", -math.inf)


def nanmin(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The least element along axes of what is not NaN; NaN where all is."""
    return _without_nan(as_value(x), axis, keepdims, "min", math.inf)


def _without_nan(v: Value, axis: Axes, keepdims: bool, name: str, worst: float) -> Value:
    if not scalar_of_elements(v.expr).is_float:
        return v.max(axis, keepdims) if name == "max" else v.min(axis, keepdims)
    numbers = elementwise("where", isnan(v), worst, v)
    found = numbers.max(axis, keepdims) if name == "max" else numbers.min(axis, keepdims)
    return elementwise("where", isnan(v).all(axis, keepdims), math.nan, found)


def nansum(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The sum along axes of what is not NaN."""
    return as_value(x).sum(axis, keepdims, where=~isnan(x))


def nanprod(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The product along axes of what is not NaN."""
    return as_value(x).prod(axis, keepdims, where=~isnan(x))


def nanmean(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The mean along axes of what is not NaN; NaN where all is."""
    return as_value(x).mean(axis, keepdims, where=~isnan(x))


def nanvar(x: Like, axis: Axes = None, ddof: float = 0, keepdims: bool = False) -> Value:
    """The variance along axes of what is not NaN."""
    return as_value(x).var(axis, ddof, keepdims, where=~isnan(x))


def nanstd(x: Like, axis: Axes = None, ddof: float = 0, keepdims: bool = False) -> Value:
    """The standard deviation along axes of what is not NaN."""
    return as_value(x).std(axis, ddof, keepdims, where=~isnan(x))


def allclose(x: Like, y: Like, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Value:
    """Are all elements close: `isclose`?"""
    return isclose(x, y, rtol, atol, equal_nan).all()


explain(globals())
