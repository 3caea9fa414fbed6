"""Reductions along axes as functions: `el.sum(x, axis=0)`.  They shadow Python's names on purpose."""

from __future__ import annotations

from egglift.ir.axes import Axes
from egglift.ir.value import Like, Value, as_value


def sum(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The sum along axes.  As in NumPy, bools and signed integers are added in i64, unsigned ones in u64."""
    return as_value(x).sum(axis, keepdims)


def prod(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The product along axes.  As in NumPy, bools and signed integers are multiplied in i64, unsigned in u64."""
    return as_value(x).prod(axis, keepdims)


def min(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The least element along axes; NaN where there is one.  ShapeError of no elements."""
    return as_value(x).min(axis, keepdims)


def max(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The greatest element along axes; NaN where there is one.  ShapeError of no elements."""
    return as_value(x).max(axis, keepdims)


def any(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """Is there an element that is true (not 0)?"""
    return as_value(x).any(axis, keepdims)


def all(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """Are all elements true (not 0)?"""
    return as_value(x).all(axis, keepdims)


def mean(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The mean along axes: of integers and bools in f64, of f16 and bf16 computed in f32; NaN of no elements."""
    return as_value(x).mean(axis, keepdims)


def var(x: Like, axis: Axes = None, ddof: int = 0, keepdims: bool = False) -> Value:
    """The variance along axes: the squared distances from the mean, added and divided by their number - ddof."""
    return as_value(x).var(axis, ddof, keepdims)


def std(x: Like, axis: Axes = None, ddof: int = 0, keepdims: bool = False) -> Value:
    """The standard deviation along axes: the square root of `var`."""
    return as_value(x).std(axis, ddof, keepdims)
