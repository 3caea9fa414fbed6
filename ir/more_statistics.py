"""More reductions along axes by NumPy's names: without NaN, by weights, ranges and counts."""

from __future__ import annotations

from egglift.ir.axes import Axes, scalar_of_elements
from egglift.ir.composed import isnan
from egglift.ir.more_composed import isclose
from egglift.ir.types import BOOL, F64
from egglift.ir.value import Like, Value, as_value, elementwise


def ptp(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The greatest element less the least one, along axes."""
    v = as_value(x)
    return v.max(axis, keepdims) - v.min(axis, keepdims)


def count_nonzero(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """How many elements are not 0 along axes, in i64."""
    return as_value(x).cast(BOOL).sum(axis, keepdims)


def average(x: Like, axis: Axes = None, weights: Like = None) -> Value:
    """The mean along axes; with weights, of the array's shape or repeated to it, of elements that count so much."""
    v = as_value(x)
    if weights is None:
        return v.mean(axis)
    v = v if scalar_of_elements(v.expr).is_float else v.cast(F64)
    shares = elementwise("where", isnan(v) | ~isnan(v), as_value(weights), 0)  # of the array's shape
    return (v * shares).sum(axis) / shares.sum(axis)


def nansum(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The sum along axes of what is not NaN."""
    return as_value(x).sum(axis, keepdims, ~isnan(x))


def nanprod(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The product along axes of what is not NaN."""
    return as_value(x).prod(axis, keepdims, ~isnan(x))


def nanmean(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The mean along axes of what is not NaN; NaN where all is."""
    return as_value(x).mean(axis, keepdims, ~isnan(x))


def nanvar(x: Like, axis: Axes = None, ddof: int = 0, keepdims: bool = False) -> Value:
    """The variance along axes of what is not NaN."""
    return as_value(x).var(axis, ddof, keepdims, ~isnan(x))


def nanstd(x: Like, axis: Axes = None, ddof: int = 0, keepdims: bool = False) -> Value:
    """The standard deviation along axes of what is not NaN."""
    return as_value(x).std(axis, ddof, keepdims, ~isnan(x))


def allclose(x: Like, y: Like, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Value:
    """Are all elements close: `isclose`?"""
    return isclose(x, y, rtol, atol, equal_nan).all()
