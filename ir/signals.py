"""Sums and differences along samples, by NumPy's names: convolutions, gradients, areas, polynomials, tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from egglift.ir.axes import Axes, axes_of, scalar_of_elements
from egglift.ir.composed import as_floats
from egglift.ir.contractions import einsum
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.notation import iota
from egglift.ir.rearranging import moveaxis
from egglift.ir.reshaping import flip
from egglift.ir.signs import conj
from egglift.ir.text import brief
from egglift.ir.types import F64, I64
from egglift.ir.value import Like, Value, as_numbers, as_value, elementwise


def convolve(a: Like, v: Like, mode: str = "full") -> Value:
    """`sum over k: a[i - k] * v[k]`, of two vectors in any order: NumPy's convolve.

    mode: "full": as far as they meet; "same": as many elements as the longer has; "valid": where they meet wholly.
    """
    x, w = _vectors("convolve", a, v)
    x, w = (w, x) if len(w) > len(x) else (x, w)
    return _slid(x, flip(w), mode)


def correlate(a: Like, v: Like, mode: str = "valid") -> Value:
    """`sum over k: a[i + k] * conj(v[k])`, of two vectors: NumPy's correlate.  mode: as of `convolve`."""
    x, w = _vectors("correlate", a, v)
    if len(w) > len(x):
        return flip(conj(_slid(w, conj(x), mode)))
    return _slid(x, conj(w), mode)


def _vectors(name: str, *given: Like) -> list[Value]:
    values = [as_numbers(v) for v in given]
    for v in values:
        if len(v.shape) != 1 or not v.shape[0]:
            raise ShapeError(f"{name} of {' and '.join(str(v.type) for v in values)}: it takes two vectors of elements")
    return values


def _slid(x: Value, w: Value, mode: str) -> Value:
    """Sums of products of weights with windows of `x`, which is as long or longer."""
    n = len(w)
    widths = {"full": (n - 1, n - 1), "same": (n // 2, n - n // 2 - 1), "valid": (0, 0)}
    if mode not in widths:
        raise TypeMismatch(f"mode {mode!r} of a convolution: there are {', '.join(widths)}")
    left, right = widths[mode]
    padded = x.pad(left, right, ("constant", 0)) if left or right else x
    return einsum("ij,j->i", padded.slide(n, 1), w)


def gradient(f: Like, *spacing: float, axis: Axes = None) -> Any:
    """Differences along axes, of the neighbours on both sides, and at the ends of one: NumPy's gradient.

    spacing: how far samples are apart, a number for all axes or one for each; 1 if there is none.  An array for one
    axis, else a tuple of one for each.  ShapeError of an axis of less than two elements.
    """
    v = as_value(f)
    axes = list(axis) if isinstance(axis, Sequence) else [axis] if axis is not None else range(len(v.shape))
    axes_of(v.expr, axis)
    steps = list(spacing or [1.0]) * (1 if len(spacing) > 1 else len(axes))
    if len(steps) != len(axes) or not all(isinstance(h, int | float) for h in steps):
        raise ShapeError(f"gradient along {len(axes)} axes takes one number, or one for each, and not {spacing}")
    floats = v if scalar_of_elements(v.expr).is_inexact else v.cast(F64)
    found = tuple(_gradient(floats, float(h), a) for h, a in zip(steps, axes))
    return found[0] if len(found) == 1 else found


def _gradient(v: Value, h: float, axis: int) -> Value:
    rows = moveaxis(v, axis, 0)
    n = len(rows)
    if n < 2:
        raise ShapeError(f"gradient of {v.type} along axis {axis}: it takes two elements or more")
    padded = rows.pad(1, 1, "clamp")
    t = scalar_of_elements(v.expr).part
    apart = iota(n).map(lambda i: elementwise("where", (i == 0) | (i == n - 1), h, 2 * h).cast(t))
    found = (padded[2:] - padded[:-2]).map(lambda row, by: row / by, apart)
    return moveaxis(found, 0, axis)


def trapezoid(y: Like, x: Like = None, dx: float = 1.0, axis: int = -1) -> Value:
    """The area below samples along an axis, by trapezoids: NumPy's trapezoid.

    x: where the samples are, a vector, or an array as `y`; else they are `dx` apart.
    """
    v = as_value(y)
    rows = moveaxis(v, axis, -1)
    pairs = rows[..., 1:] + rows[..., :-1]
    if x is None:
        return (dx * pairs / 2.0).sum(-1)
    places = as_numbers(x)
    places = places if len(places.shape) == 1 else moveaxis(places, axis, -1)
    return ((places[..., 1:] - places[..., :-1]) * pairs / 2.0).sum(-1)


def polyval(p: Like, x: Like) -> Value:
    """The polynomial with coefficients `p`, that of the highest power first, at each x, by Horner's rule."""
    coefficients = as_numbers(p)
    if len(coefficients.shape) != 1 or not len(coefficients):
        raise ShapeError(f"polyval takes a vector of coefficients, and not {coefficients.type}")
    first, *rest = coefficients
    v = as_numbers(x)
    found = v * 0 + first
    for c in rest:
        found = found * v + c
    return found


def interp(x: Like, xp: Like, fp: Like) -> Value:
    """A table of values `fp` at rising places `xp`, read between them in a straight line: NumPy's interp, in f64.

    Outside the table its first and last value.  The place of each x is found by counting: it reads all of `xp`.
    """
    v, places, values = (as_floats(as_numbers(a)).cast(F64) for a in (x, xp, fp))
    if len(places.shape) != 1 or places.shape != values.shape or len(places) < 2:
        raise ShapeError(f"interp of a table of {places.type} and {values.type}: two vectors of one length, 2 or more")
    n = len(places)

    def one(at: Value) -> Value:
        if at.shape:
            return at.map(one)
        i = elementwise("minimum", elementwise("maximum", _count(places <= at) - 1, 0), n - 2)
        here, there, low, high = places[i], places[i + 1], values[i], values[i + 1]
        inside = low + (at - here) * ((high - low) / (there - here))
        last = elementwise("where", at >= places[n - 1], values[n - 1], inside)
        return elementwise("where", at != at, at, elementwise("where", at <= places[0], values[0], last))

    return one(v)


def digitize(x: Like, bins: Like, right: bool = False) -> Value:
    """In which of the bins between rising edges each x lies: 0 before the first edge, NumPy's digitize.

    right: does an edge belong to the bin before it?  Each x reads all edges.  Falling edges are taken where they are
    numbers of NumPy's, not of the program.
    """
    v, edges = as_numbers(x), as_numbers(bins)
    falls = isinstance(bins, np.ndarray | list) and len(bins) > 1 and bins[0] > bins[-1]
    at = v[..., None] if v.shape else v
    if falls:
        return _count(edges >= at if right else edges > at)
    return _count(edges < at if right else edges <= at)


def searchsorted(a: Like, v: Like, side: str = "left") -> Value:
    """Where each v belongs in a rising vector `a`: before elements as large as it ("left"), or behind ("right"); i64.

    Each v reads all of `a`: it is counted what is below.
    """
    places, at = as_numbers(a), as_numbers(v)
    if len(places.shape) != 1:
        raise ShapeError(f"searchsorted in {brief(places.expr)}, which is {places.type}: a rising vector is searched")
    if side not in ("left", "right"):
        raise TypeMismatch(f'searchsorted: side is "left" or "right", not {side!r}')
    at = at[..., None] if at.shape else at
    return _count(places < at if side == "left" else places <= at)


def _count(hits: Value) -> Value:
    return hits.sum(-1, dtype=I64)


explain(globals())
