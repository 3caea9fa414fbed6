"""Reductions along axes as functions: `el.sum(x, axis=0)`.  They shadow Python's names on purpose.

where: bools, of the array's shape or repeated to it: elements where they are false are left out.
"""

from __future__ import annotations

from egglift.ir.axes import Axes
from egglift.ir.value import Like, Value, as_value


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
