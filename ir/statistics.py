"""Reductions along axes as functions: `el.sum(x, axis=0)`.  They shadow Python's names on purpose.

where: bools, of the array's shape or repeated to it: elements where they are false are left out.
"""

from __future__ import annotations

from egglift.ir.axes import Axes, scalar_of_elements
from egglift.ir.composed import isnan
from egglift.ir.nan_and_infinities import isclose
from egglift.ir.types import BOOL, F64
from egglift.ir.value import Like, Value, as_value, elementwise


def sum(x: Like, axis: Axes = None, keepdims: bool = False, where: Like = None) -> Value:
    """The sum along axes.  As in NumPy, bools and signed integers are added in i64, unsigned ones in u64."""
    return as_value(x).sum(axis, keepdims, where)


def prod(x: Like, axis: Axes = None, keepdims: bool = False, where: Like = None) -> Value:
    """The product along axes.  As in NumPy, bools and signed integers are multiplied in i64, unsigned in u64."""
    return as_value(x).prod(axis, keepdims, where)


def min(x: Like, axis: Axes = None, keepdims: bool = False, initial: Like = None, where: Like = None) -> Value:
    """The least element along axes, or `initial`; NaN where there is one.  ShapeError of none and no `initial`."""
    return as_value(x).min(axis, keepdims, initial, where)


def max(x: Like, axis: Axes = None, keepdims: bool = False, initial: Like = None, where: Like = None) -> Value:
    """The greatest element along axes, or `initial`; NaN where there is one.  ShapeError of none and no `initial`."""
    return as_value(x).max(axis, keepdims, initial, where)


def any(x: Like, axis: Axes = None, keepdims: bool = False, where: Like = None) -> Value:
    """Is there an element that is true (not 0)?"""
    return as_value(x).any(axis, keepdims, where)


def all(x: Like, axis: Axes = None, keepdims: bool = False, where: Like = None) -> Value:
    """Are all elements true (not 0)?"""
    return as_value(x).all(axis, keepdims, where)


def mean(x: Like, axis: Axes = None, keepdims: bool = False, where: Like = None) -> Value:
    """The mean along axes: of integers and bools in f64, of f16 and bf16 computed in f32; NaN of no elements."""
    return as_value(x).mean(axis, keepdims, where)


def var(x: Like, axis: Axes = None, ddof: int = 0, keepdims: bool = False, where: Like = None) -> Value:
    """The variance along axes: the squared distances from the mean, added and divided by their number - ddof."""
    return as_value(x).var(axis, ddof, keepdims, where)


def std(x: Like, axis: Axes = None, ddof: int = 0, keepdims: bool = False, where: Like = None) -> Value:
    """The standard deviation along axes: the square root of `var`."""
    return as_value(x).std(axis, ddof, keepdims, where)


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


def allclose(x: Like, y: Like, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Value:
    """Are all elements close: `isclose`?"""
    return isclose(x, y, rtol, atol, equal_nan).all()
