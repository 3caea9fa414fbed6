"""Reductions along axes of what is not NaN, by NumPy's names."""

from __future__ import annotations

import math

from egglift.ir.axes import Axes, scalar_of_elements
from egglift.ir.composed import isnan
from egglift.ir.keywords import explain
from egglift.ir.value import Like, Value, as_value, elementwise


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


explain(globals())
