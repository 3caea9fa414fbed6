"""Values of the interpreter: whole batches as NumPy arrays, repeated values held once.

A value of type T under b enclosing maps is a structure of arrays: one ndarray per scalar of T (tuples are
Python tuples, also those inside arrays), whose first b axes are the iterations of the maps and whose other
axes are the lengths of T.  Every ndarray has its full shape.  Along an axis where all elements are the same its
stride is zero: the repetitions cost no memory, and element-wise work is done once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from egglift.ir.errors import ProgramError

NdArray: TypeAlias = np.ndarray[Any, Any]
Value: TypeAlias = "NdArray | tuple[Value, ...]"


def each(f: Callable[[NdArray], NdArray], value: Value) -> Value:
    """`f` applied to every array of a structure."""
    return tuple(each(f, v) for v in value) if isinstance(value, tuple) else f(value)


def both(f: Callable[[NdArray, NdArray], NdArray], a: Value, b: Value) -> Value:
    """`f` applied to the corresponding arrays of two structures of one form."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(both(f, x, y) for x, y in zip(a, b, strict=True))
    assert not isinstance(a, tuple) and not isinstance(b, tuple)
    return f(a, b)


def arrays(value: Value) -> list[NdArray]:
    """The arrays of a structure, left to right."""
    return [a for v in value for a in arrays(v)] if isinstance(value, tuple) else [value]


def repeat(value: Value, axis: int, n: int) -> Value:
    """A new axis of length n along which the value repeats itself."""

    def one(a: NdArray) -> NdArray:
        return np.broadcast_to(np.expand_dims(a, axis), (*a.shape[:axis], n, *a.shape[axis:]))

    return each(one, value)


def under(value: Value, batch: tuple[int, ...]) -> Value:
    """A closed value, repeated for every iteration of the enclosing maps."""
    return each(lambda a: np.broadcast_to(a, (*batch, *a.shape)), value) if batch else value


def _repeats(a: NdArray, axis: int) -> bool:
    return a.shape[axis] <= 1 or a.strides[axis] == 0


def once(parts: Sequence[NdArray], keep: Sequence[int] = ()) -> tuple[list[NdArray], tuple[int, ...]]:
    """The arrays (of one rank), cut to length 1 along each axis on which all of them repeat themselves; and these axes.

    Empty axes stay empty, and those in `keep` as they are.
    """
    rank = parts[0].ndim
    axes = tuple(i for i in range(rank) if i not in keep and all(a.shape[i] > 1 and _repeats(a, i) for a in parts))
    if not axes:
        return list(parts), ()
    short = tuple(slice(0, 1) if i in axes else slice(None) for i in range(rank))
    return [a[short] for a in parts], axes


def along_axis(axis: int, part: slice | int | NdArray) -> Callable[[NdArray], NdArray]:
    """The function that takes `part` of an array along `axis`."""
    return lambda a: a[(slice(None),) * axis + (part,)]


def cut(axis: int, start: int, stop: int) -> Callable[[NdArray], NdArray]:
    """The function that takes positions start..stop-1 along `axis`."""
    return along_axis(axis, slice(start, stop))


def at(axis: int, i: int) -> Callable[[NdArray], NdArray]:
    """The function that takes position `i` along `axis`, which disappears."""
    return along_axis(axis, i)


def elementwise(f: Callable[..., Any], args: Sequence[NdArray]) -> NdArray:
    """`f` on arrays of one shape, evaluated once for all repetitions."""
    short, axes = once(args)
    result = np.asarray(f(*short))
    return np.broadcast_to(result, args[0].shape) if axes else result


def along(f: Callable[[NdArray], NdArray], a: NdArray, keep: Sequence[int]) -> NdArray:
    """`f`, which acts on the axes `keep` only (adjacent ones, whose number may change), on the rest once."""
    (short,), axes = once([a], keep)
    result = f(short)
    if not axes:
        return result
    moved = result.ndim - a.ndim
    shape = list(result.shape)
    for i in axes:
        shape[i if i < min(keep) else i + moved] = a.shape[i]
    return np.broadcast_to(result, shape)


def concatenate(parts: Sequence[NdArray], axis: int) -> NdArray:
    """The arrays one after the other along `axis`, repetitions along other axes kept as such."""
    short, axes = once(parts, (axis,))
    result = np.concatenate(short, axis)
    if not axes:
        return result
    shape = tuple(parts[0].shape[i] if i in axes else n for i, n in enumerate(result.shape))
    return np.broadcast_to(result, shape)


def join_structures(parts: Sequence[Value], axis: int) -> Value:
    """`concatenate` for structures of one form."""
    first = parts[0]
    if isinstance(first, tuple):
        return tuple(join_structures([p[i] for p in parts], axis) for i in range(len(first)))
    return concatenate([p for p in parts if not isinstance(p, tuple)], axis)


def pick(a: NdArray, positions: NdArray, axis: int) -> NdArray:
    """Elements of `a` along `axis` at fixed positions.  An index, not np.take: that copies all of a strided array."""
    return along(along_axis(axis, positions), a, (axis,))


def gather(indices: NdArray, a: NdArray, axis: int) -> NdArray:
    """`a[..., indices, ...]` along `axis`; indices are clamped into the array.

    indices has `axis` batch axes and its own; `a` has the same batch axes and any after `axis`.
    """
    n = a.shape[axis]
    if n == 0 and indices.size:
        raise ProgramError("gather from an empty array")
    wide = indices.dtype == np.uint64
    clamped = np.minimum(indices, np.uint64(max(n - 1, 0))) if wide else indices
    clamped = elementwise(lambda i: np.clip(i.astype(np.int64), 0, max(n - 1, 0)), [clamped])
    (i,), _ = once([clamped], (axis,))
    if all(i.shape[k] == 1 for k in range(axis)):
        return pick(a, i.reshape(-1), axis)
    (short,), _ = once([a], (axis,))
    if all(short.shape[k] == 1 for k in range(axis)):
        table = short.reshape(short.shape[axis:])
        result = along(lambda chosen: table[chosen], clamped, (axis,))
        return np.broadcast_to(result, (*clamped.shape, *a.shape[axis + 1 :]))
    rows = clamped.reshape(*clamped.shape, *(1,) * (a.ndim - axis - 1))
    return np.take_along_axis(a, np.broadcast_to(rows, (*clamped.shape, *a.shape[axis + 1 :])), axis)


def contract(a: NdArray, b: NdArray) -> NdArray | None:
    """`sum(a * b)` over the last axis as matrix products, or None where that would save no memory.

    It saves memory where `a` and `b` repeat themselves along different axes: `a * b` is far larger than either of
    them then, and is never made.
    """
    last = a.ndim - 1
    live_a = [i for i in range(last) if not _repeats(a, i)]
    live_b = [i for i in range(last) if not _repeats(b, i)]
    left = [i for i in live_a if i not in live_b]
    right = [i for i in live_b if i not in live_a]
    if not left or not right or a.dtype.kind == "b" or 0 in a.shape:
        return None
    shared = [i for i in live_a if i in live_b]
    x, y = _matrices(a, shared, left), _matrices(b, shared, right)
    product = np.matmul(x, np.swapaxes(y, -1, -2))
    shape = [a.shape[i] for i in (*shared, *left, *right)]
    order = [*shared, *left, *right]
    rest = [i for i in range(last) if i not in order]
    full = product.reshape(*shape, *(1,) * len(rest))
    placed = np.transpose(full, [(*order, *rest).index(i) for i in range(last)])
    return np.broadcast_to(placed, a.shape[:-1])


def _matrices(a: NdArray, shared: list[int], own: list[int]) -> NdArray:
    """`a` as (shared axes, its own axes as one, the last axis)."""
    last = a.ndim - 1
    live = tuple(slice(None) if i in (*shared, *own, last) else 0 for i in range(a.ndim))
    kept = [i for i in range(a.ndim) if i in (*shared, *own, last)]
    ordered = np.transpose(a[live], [kept.index(i) for i in (*shared, *own, last)])
    return ordered.reshape(*(a.shape[i] for i in shared), -1, a.shape[last])


def neighbours(n: int) -> tuple[slice, slice, slice]:
    """Neighbours are combined: any associative operator may be."""
    return slice(0, n - n % 2, 2), slice(1, n, 2), slice(n - 1, n)


def halves(n: int) -> tuple[slice, slice, slice]:
    """x[i] is combined with x[i + ceil(n/2)]."""
    half = n - n // 2
    return slice(0, n // 2), slice(half, n), slice(n // 2, half)
