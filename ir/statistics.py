"""Reductions along axes as functions: `el.sum(x, axis=0)`.  They shadow Python's names on purpose.

where: bools, of the array's shape or repeated to it: elements where they are false are left out.  dtype: the type in
which elements are combined, and the result's.  initial: a number that is combined with them.
"""

from __future__ import annotations

from egglift.ir.axes import Axes
from egglift.ir.keywords import explain
from egglift.ir.type_names import TypeLike
from egglift.ir.value import Like, Value, as_value


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


explain(globals())
