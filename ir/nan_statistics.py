"""Reductions along axes of what is not NaN, by NumPy's names."""

from __future__ import annotations

from egglift.ir.axes import Axes
from egglift.ir.composed import isnan
from egglift.ir.value import Like, Value, as_value


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
