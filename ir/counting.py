"""Counts of values: `el.bincount(x, n)` and `el.histogram(x, bins, range)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir import trace
from egglift.ir.axes import merged, scalar_of_elements
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.signals import searchsorted
from egglift.ir.text import brief
from egglift.ir.types import F16, F32, F64, I32, I64, U32, Scalar
from egglift.ir.value import Like, Value, as_numbers, as_value, elementwise, typed
from egglift.ir.whole_numbers import whole

BLOCK = 1 << 13  # counts that a work-group's local memory has a place for: of more, some at a time
MOST = 1 << 12  # bins of a histogram: its edges are a table in the kernel


def bincount(x: Like, n: int, weights: Like = None) -> Value:
    """How many elements of a vector of integers are 0, how many are 1, ..., n-1, in i64; or the sums of their weights.

    weights: a number for each element, added in f64 as in NumPy, in any order.
    Other integers are not counted.  Of more than 8192 counts, `x` is read once for each 8192.  NumPy's bincount has as
    many counts as the largest element asks for; here they are part of the type.  TypeMismatch of other elements than
    integers.
    """
    v = as_value(x)
    t = trace.element_of(v.expr)
    if not (isinstance(t, Scalar) and t.is_integer):
        raise TypeMismatch(f"{brief(v.expr)} is {v.type}: bincount takes a vector of integers; cast its elements")
    if weights is not None:
        return _weighted(v, as_numbers(weights), whole(n, "the number of sums"))
    count, own = whole(n, "the number of counts"), I32 if len(v) < 1 << 31 else U32
    if count <= BLOCK:
        return typed(p.Count(count, own, v.expr)).cast(I64)
    wide = v.cast(I32 if t.size < 4 or t == I32 else I64)  # so wide that nothing outside comes to be inside
    firsts = typed(p.Iota(-(-count // BLOCK), I32)).map(lambda b: b.cast(scalar_of_elements(wide.expr)) * BLOCK)
    blocks = firsts.map(lambda first: typed(p.Count(BLOCK, own, wide.map(lambda e: e - first).expr)))
    return blocks.join().take(count).cast(I64)


def _weighted(v: Value, weights: Value, count: int) -> Value:
    if weights.shape != v.shape:
        raise ShapeError(f"bincount of {len(v)} elements with weights of shape {weights.shape}: give as many")
    wide, heavy = v.cast(I64), weights.cast(F64)
    places = typed(p.Iota(count, I64))
    return places.map(lambda k: heavy.sum(where=elementwise("eq", wide, k)))


def histogram(
    x: Like, bins: int | Sequence[float] | np.ndarray[Any, np.dtype[Any]] = 10, range: Sequence[float] | None = None
) -> tuple[Value, np.ndarray[Any, np.dtype[Any]]]:
    """NumPy's histogram: how many elements, of an array of any rank, are in each of `bins` bins of one width, in i64;
    and the edges of the bins, an ndarray.

    range: the first and the last edge; the last bin has its upper edge too.  What is outside, and NaN, is not counted.
    bins: or the edges, rising numbers, all of which each element then reads.  ShapeError of more than 4096 bins.
    """
    v = as_value(x)
    if np.ndim(bins):
        return _between(v, np.asarray(bins))
    t, count = scalar_of_elements(v.expr), whole(bins, "the number of bins", 1)
    if range is None or len(range) != 2:
        raise TypeMismatch(
            f"histogram of {brief(v.expr)}: give the first and the last edge, range=(0, 1): bins are fixed"
        )
    if not range[0] < range[1]:
        raise ShapeError(f"histogram of {brief(v.expr)}: range={tuple(range)} must go from a number to a greater one")
    if count > MOST:
        raise ShapeError(f"histogram of {brief(v.expr)} in {count} bins: {MOST} at most; bincount counts in more")
    edges = np.histogram_bin_edges(np.zeros(0, t.dtype if t.is_float else np.float64), count, (range[0], range[1]))
    wide = F32 if t == F16 else t if t.is_float else F64
    places = _Bins(edges.astype(wide.dtype), count)
    flat = typed(merged(v.expr, 0, len(v.shape)))
    return bincount(flat.map(lambda e: places.of(e.cast(wide))), count), edges


def _between(v: Value, edges: np.ndarray[Any, np.dtype[Any]]) -> tuple[Value, np.ndarray[Any, np.dtype[Any]]]:
    """The histogram of bins between given edges."""
    if edges.ndim != 1 or not 2 <= len(edges) <= MOST + 1 or not (edges[1:] >= edges[:-1]).all():
        raise ShapeError(
            f"histogram of {brief(v.expr)}: bins is a number, or a vector of rising edges, 2 to {MOST + 1} of them"
        )
    flat = typed(merged(v.expr, 0, len(v.shape)))
    bin_of = searchsorted(edges, flat, "right") - 1
    at_end = elementwise("eq", flat, as_value(edges)[len(edges) - 1])
    return bincount(elementwise("where", at_end, len(edges) - 2, bin_of), len(edges) - 1), edges


class _Bins:
    """Bins of one width.  The edges decide: by arithmetic alone, what is near one may be in the next bin."""

    def __init__(self, edges: np.ndarray[Any, np.dtype[Any]], count: int) -> None:
        self.low, self.high, self.count = float(edges[0]), float(edges[-1]), count
        self.edges = as_value(edges)

    def of(self, v: Value) -> Value:
        """The bin that a number is in, as i32; -1 where it is in none."""
        guess = ((v - self.low) * (self.count / (self.high - self.low))).cast(I32)
        last = as_value(np.int32(self.count - 1))
        i = elementwise("minimum", guess, last)
        i = elementwise("where", v < self.edges[i], i - 1, i)
        i = elementwise("where", (v >= self.edges[i + 1]) & (i != last), i + 1, i)
        return elementwise("where", (v >= self.low) & (v <= self.high), i, -1)


explain(globals())
