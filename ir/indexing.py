"""`x[i, a:b, None, ..., indices]`: what NumPy makes of several indices at once.

x[..., 1:]      map (drop 1) x, at any number of axes
x[i, :, j]      whole numbers and arrays of indices go together: one element for each place of both
x[rows, cols]   gather (rows * n + cols) (join x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from math import prod
from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir import trace
from egglift.ir.axes import merged, permuted
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError
from egglift.ir.lifting import as_expr, lifted
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.types import I32, I64, Array, Scalar, dims, leaves

#: an index of an axis, None for a new axis, or an ellipsis for the axes that nothing else is said of
Entry = Any


def indexed(x: Expr, at: Sequence[Entry], part: Callable[[Expr, Entry], Expr]) -> Expr:
    """`x[at]` for several entries.  part: `x[entry]` for one that is a whole number, a slice or an array of indices.

    ShapeError for more than one ellipsis, and for arrays of indices whose shapes do not fit each other.
    """
    entries, depth = _spread(x, at), 0
    for entry in entries:
        if entry is not None and not _is_array(entry):
            x = _below(depth, x, lambda y, entry=entry: part(y, entry))  # type: ignore[misc]
        depth += entry is not None and not _is_number(entry)
    places = [d for d, entry in enumerate(e for e in entries if not (e is None or _is_number(e))) if _is_array(entry)]
    arrays = [as_expr(np.asarray(a) if isinstance(a, list) else a) for a in entries if _is_array(a)]
    if not arrays:
        return _with_new_axes(x, [entry for entry in entries if not _is_number(entry)])
    first, count = places[0], depth
    axes = list(range(count))
    x = permuted(x, axes, [*axes[:first], *places, *(d for d in axes[first:] if d not in places)])
    index = arrays[0] if len(arrays) == 1 else _linear(x, first, arrays)
    gather = part if len(arrays) == 1 else lambda y, i: p.Gather(i, y)
    x = _below(first, merged(x, first, len(arrays)), lambda y: _gathered(y, index, gather))
    new, rest = len(dims(type_of(index))), count - len(arrays)
    kept = [entry for entry in entries if entry is None or isinstance(entry, slice)]
    where = _place(entries)
    if where == 0 and first:  # NumPy has them first where they stand apart
        axes = list(range(new + rest))
        x = permuted(x, axes, [*axes[first : first + new], *axes[:first], *axes[first + new :]])
    return _with_new_axes(x, [*kept[:where], *[slice(None)] * new, *kept[where:]])


def from_the_end(x: Expr, index: Expr, axis: int = 0) -> Expr:
    """An array of indices of an axis of `x` in which negative ones count from its end, as in NumPy.

    ShapeError where one that is written in the program is in no array of that length; what is given with a call may be.
    """
    lengths, t = dims(type_of(x)), scalar_in(index)
    if axis >= len(lengths) or t.is_float or not t.is_signed:  # no indices of it: whoever gathers says so
        return index
    n = lengths[axis]
    assert isinstance(n, int)
    if isinstance(index, p.Constant) and type(n) is int:
        places = np.frombuffer(index.data, t.dtype)
        if ((places < -n) | (places >= n)).any():
            bad = places[(places < -n) | (places >= n)][0]
            along = f" along axis {axis}" if axis else ""
            raise ShapeError(f"{brief(x)} has {n} elements{along}, and none at {bad}: use indices from {-n} to {n - 1}")
        return replace(index, data=np.where(places < 0, places + n, places).astype(t.dtype).tobytes())
    rank = len(dims(type_of(index)))
    return _below(rank, index, lambda i: lifted("where", [lifted("lt", [i, 0]), lifted("add", [i, n]), i]))


def scalar_in(index: Expr) -> Scalar:
    """The type of the numbers in an array of indices."""
    ((_, t),) = leaves(type_of(index))
    return t


def is_several(at: Any) -> bool:
    """Is it more than an index of one axis?"""
    return isinstance(at, tuple | list) or at is None or at is Ellipsis or (_is_array(at) and len(_shape(at)) > 1)


def _shape(array: Any) -> Sequence[object]:
    return dims(type_of(as_expr(array)))


def _spread(x: Expr, at: Sequence[Entry]) -> list[Entry]:
    """The entries with the axes that an ellipsis stands for."""
    missing = len(dims(type_of(x))) - sum(1 for e in at if not (e is None or e is Ellipsis))
    dots = [i for i, e in enumerate(at) if e is Ellipsis]
    if len(dots) > 1:
        raise ShapeError(f"{brief(x)} is indexed with {len(dots)} ellipses; one stands for all that are left out")
    return [e for entry in at for e in ([slice(None)] * max(0, missing) if entry is Ellipsis else [entry])]


def _is_array(entry: Entry) -> bool:
    """Is it an array of indices?"""
    if (expr := getattr(entry, "expr", None)) is not None:
        return isinstance(type_of(expr), Array)
    return isinstance(entry, np.ndarray | list) and np.ndim(entry) > 0


def _is_number(entry: Entry) -> bool:
    """Does it take one element of an axis?"""
    return not (entry is None or isinstance(entry, slice) or _is_array(entry))


def _below(depth: int, x: Expr, f: Callable[[Expr], Expr]) -> Expr:
    return f(x) if depth == 0 else trace.map_body(lambda y: _below(depth - 1, y, f), x)


def _place(entries: Sequence[Entry]) -> int:
    """Before which of the slices and new axes the axes of the arrays stand: the first of all, where they are apart."""
    runs = [(apart, len(list(run))) for apart, run in groupby(e is None or isinstance(e, slice) for e in entries)]
    together = sum(1 for apart, _ in runs if not apart) == 1
    return runs[0][1] if together and runs[0][0] else 0


def _linear(x: Expr, depth: int, indices: Sequence[Expr]) -> Expr:
    """Where elements at pairs of indices, or more than pairs, of the axes of `x` from `depth` on are, in these as one.

    <i, j> -> i * n + j, each clamped into its axis
    """
    lengths = _lengths(x, depth, len(indices))
    wide = I64 if prod(lengths) >= 1 << 31 else I32
    places = [_cast(from_the_end(x, i, depth + axis), wide) for axis, i in enumerate(indices)]
    places = [lifted("minimum", [lifted("maximum", [i, 0]), n - 1]) for i, n in zip(places, lengths, strict=True)]
    linear = places[0]
    for i, n in zip(places[1:], lengths[1:], strict=True):
        linear = lifted("add", [lifted("mul", [linear, n]), i])
    return linear


def _gathered(x: Expr, index: Expr, part: Callable[[Expr, Entry], Expr]) -> Expr:
    """`x` at an array of indices of any number of axes."""
    shape = dims(type_of(index))
    x = part(x, merged(index, 0, len(shape)))
    for n in reversed(shape[1:]):
        x = p.Split(n, x)
    return x


def _lengths(x: Expr, depth: int, count: int) -> Sequence[Any]:
    found = dims(type_of(x))[depth : depth + count]
    if len(found) < count:
        raise ShapeError(f"{brief(x)} is {type_of(x)}, which has no {depth + count} axes: leave indices out")
    return found


def _cast(index: Expr, t: Any) -> Expr:
    return _below(len(dims(type_of(index))), index, lambda i: i if type_of(i) == t else p.Cast(t, i))


def _with_new_axes(x: Expr, kept: Sequence[Entry]) -> Expr:
    """`x` with an axis of length 1 for each None among its axes."""
    for depth, entry in enumerate(kept):
        if entry is None:
            x = _below(depth, x, lambda y: p.Fill(1, y))
    return x
