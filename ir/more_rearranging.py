"""Arrays in another shape, mirrored, side by side, and parts of matrices, by NumPy's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod

from egglift.ir import patterns as p
from egglift.ir.axes import Axes, at_depth, axes_of, axis_of, element_type, scalar_of_elements
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.lengths import Length
from egglift.ir.lifting import filled
from egglift.ir.making import zeros
from egglift.ir.notation import iota
from egglift.ir.patterns import Expr
from egglift.ir.rearranging import broadcast_to, expand_dims, moveaxis, ravel, swapaxes
from egglift.ir.text import brief
from egglift.ir.type_names import TypeLike
from egglift.ir.types import BOOL, I32, I64, dims
from egglift.ir.value import Like, Value, as_value, elementwise, typed
from egglift.ir.whole_numbers import whole


def reshape(x: Like, *shape: int | Sequence[int]) -> Value:
    """The elements, row by row, in another shape; one length may be -1: what is left.

    reshape(x, (2, 3)) -> split 3 x
    """
    v = as_value(x)
    wanted = _lengths(v, [n for s in shape for n in (s if isinstance(s, Sequence) else (s,))])
    if 0 in wanted:
        return zeros(wanted, scalar_of_elements(v.expr))
    found = ravel(v)
    for n in reversed(wanted[1:]):
        found = found.split(n)
    return found if wanted else found[0]


def _lengths(v: Value, wanted: list[int]) -> list[int]:
    own = v.shape
    if any(isinstance(n, Length) for n in own):
        raise TypeMismatch(
            f"reshape of {brief(v.expr)}: its lengths are known when a kernel is called; split or join it"
        )
    count, known = prod(own), prod(n for n in wanted if n != -1)  # type: ignore[arg-type]
    if wanted.count(-1) == 1 and known and count % known == 0:
        wanted = [int(count) // known if n == -1 else n for n in wanted]
    if -1 in wanted or prod(wanted) != count:
        raise ShapeError(f"reshape of {brief(v.expr)}, of shape {own}: {count} elements do not make {tuple(wanted)}")
    return [whole(n, "a length") for n in wanted]


def squeeze(x: Like, axis: Axes = None) -> Value:
    """The array without axes of length 1: those that are named, or all.  ShapeError where one is longer."""
    e = as_value(x).expr
    lengths = dims(type_of(e))
    axes = [a for a, n in enumerate(lengths) if n == 1] if axis is None else axes_of(e, axis)
    for a in reversed(axes):
        if lengths[a] != 1:
            raise ShapeError(f"squeeze of {brief(e)}, of shape {lengths}: axis {a} has length {lengths[a]}, and not 1")
        e = at_depth(a, e, lambda part: p.At(0, part))
    return typed(e)


def flip(x: Like, axis: Axes = None) -> Value:
    """The elements in the opposite order, along the axes that are named, or all."""
    e = as_value(x).expr
    for a in axes_of(e, axis):
        e = at_depth(a, e, _turned)
    return typed(e)


def _turned(part: Expr) -> Expr:
    return Value(part)[::-1].expr


def flipud(x: Like) -> Value:
    """The rows in the opposite order."""
    return flip(x, 0)


def fliplr(x: Like) -> Value:
    """The columns in the opposite order."""
    return flip(x, 1)


def rot90(x: Like, k: int = 1, axes: Sequence[int] = (0, 1)) -> Value:
    """A matrix turned k times by 90 degrees, from the first of two axes towards the second."""
    v = as_value(x)
    first, second = axes
    match k % 4:
        case 0:
            return v
        case 1:
            return flip(swapaxes(v, first, second), first)
        case 2:
            return flip(v, (first, second))
    return swapaxes(flip(v, first), first, second)


def permute_dims(x: Like, axes: Sequence[int]) -> Value:
    """The axes in another order: `y[i][j][k] = x[k][i][j]` for axes (1, 2, 0)."""
    return moveaxis(x, list(axes), list(range(len(axes))))


def matrix_transpose(x: Like) -> Value:
    """The last two axes exchanged."""
    return moveaxis(x, -1, -2)


def unstack(x: Like, axis: int = 0) -> tuple[Value, ...]:
    """The parts along an axis, one by one: at most 64."""
    return tuple(moveaxis(x, axis, 0))


def concatenate(arrays: Sequence[Like], axis: int | None = 0) -> Value:
    """Arrays one behind the other along an axis; None: all their elements in one vector."""
    if isinstance(arrays, Value) or len(arrays) == 0:
        raise ShapeError("arrays that are put beside each other are a list of one or more: concatenate([x, y])")
    if axis is None:
        first, *rest = (ravel(a) for a in arrays)
        return first.concat(*rest)
    first, *rest = (moveaxis(a, axis, 0) for a in arrays)
    return moveaxis(first.concat(*rest), 0, axis)


def vstack(arrays: Sequence[Like]) -> Value:
    """Arrays below each other; a vector is a row."""
    return concatenate([_rows(a) for a in arrays], 0)


def hstack(arrays: Sequence[Like]) -> Value:
    """Arrays beside each other; vectors one behind the other."""
    values = [as_value(a) for a in arrays]
    return concatenate(values, 0 if values and len(values[0].shape) == 1 else 1)


def column_stack(arrays: Sequence[Like]) -> Value:
    """Arrays beside each other; a vector is a column."""
    return concatenate([_rows(a).T if len(as_value(a).shape) == 1 else as_value(a) for a in arrays], 1)


def _rows(x: Like) -> Value:
    v = as_value(x)
    return expand_dims(v, 0) if len(v.shape) == 1 else v


def broadcast_arrays(*arrays: Like) -> tuple[Value, ...]:
    """The arrays repeated until they have one shape."""
    values = [as_value(a) for a in arrays]
    ones = [v.cast(I32) * 0 for v in values]
    shape = reduce(lambda a, b: a + b, ones).shape
    return tuple(broadcast_to(v, [whole(n, "a length") for n in shape]) for v in values)


def meshgrid(*vectors: Like, indexing: str = "xy") -> tuple[Value, ...]:
    """A grid's coordinates: of each vector an array with an axis for every vector; "xy": the first two exchanged."""
    if indexing not in ("xy", "ij"):
        raise TypeMismatch(f'meshgrid: indexing is "xy" or "ij", not {indexing!r}')
    values = [as_value(v) for v in vectors]
    shape, found = [whole(v.shape[0], "a length") for v in values], []
    for place, v in enumerate(values):
        grid = broadcast_to(expand_dims(v, [a for a in range(len(values)) if a != place]), shape)
        found.append(moveaxis(grid, 0, 1) if indexing == "xy" and len(values) > 1 else grid)
    return tuple(found)


def tril(x: Like, k: int = 0) -> Value:
    """A matrix with zeros above a diagonal (0: the main one, 1: the one above it)."""
    return _where_places(x, lambda i, j: j <= i + k)


def triu(x: Like, k: int = 0) -> Value:
    """A matrix with zeros below a diagonal."""
    return _where_places(x, lambda i, j: j >= i + k)


def diag(x: Like, k: int = 0) -> Value:
    """Of a vector, the matrix with it on a diagonal; of a matrix, the diagonal."""
    v = as_value(x)
    if len(v.shape) != 1:
        return diagonal(v, k)
    n = len(v) + abs(k)
    places = iota(n, I64)
    low = max(-k, 0)
    return places.map(lambda i: places.map(lambda j: elementwise("where", elementwise("eq", j, i + k), v[i - low], 0)))


def diagonal(x: Like, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Value:
    """The elements `x[i][i + offset]` of two axes, as the last axis of the result."""
    v, k = as_value(x), offset
    if len(v.shape) < 2:
        raise ShapeError(f"diagonal of {brief(v.expr)}, of shape {v.shape}: give an array of two axes or more")
    v = moveaxis(v, (axis1, axis2), (0, 1))
    rows, columns = (whole(n, "a length") for n in v.shape[:2])
    count = max(0, min(rows + min(k, 0), columns - max(k, 0)))
    part = v.drop(max(-k, 0)).take(count)
    return moveaxis(part.map(lambda row, i: row[i + max(k, 0)], iota(count, I32)), 0, -1)


def trace(x: Like, offset: int = 0, axis1: int = 0, axis2: int = 1, *, dtype: TypeLike = None) -> Value:
    """The sum of a diagonal of two axes."""
    return diagonal(x, offset, axis1, axis2).sum(-1, dtype=dtype)


def _where_places(x: Like, holds: Callable[[Value, Value], Value]) -> Value:
    v = as_value(x)
    if len(v.shape) < 2:
        raise ShapeError(f"a triangle of {brief(v.expr)}, of shape {v.shape}: give a matrix, or an array of more axes")
    rows, columns = (whole(n, "a length") for n in v.shape[-2:])
    down, across = iota(rows, I64), iota(columns, I64)

    def one(e: Expr) -> Expr:
        def row(r: Value, i: Value) -> Value:
            return r.map(lambda c, j: elementwise("where", holds(i, j), c, 0), across)

        return Value(e).map(row, down).expr

    return typed(at_depth(len(v.shape) - 2, v.expr, one))


def take_along_axis(x: Like, indices: Like, axis: int = -1) -> Value:
    """`y[.., i, ..] = x[.., indices[.., i, ..], ..]` along an axis, as argmax and sorted places use it.

    Negative indices count from the end; those outside are clamped into the axis.  The other axes must be the same.
    """
    v, at = as_value(x), as_value(indices)
    a = axis_of(v.expr, axis)
    others = [tuple(n for i, n in enumerate(t.shape) if i != a) for t in (v, at)]
    if len(v.shape) != len(at.shape) or others[0] != others[1]:
        raise ShapeError(f"take_along_axis of {v.shape} at {at.shape}: all but axis {a} must be the same")
    last, places = moveaxis(v, a, -1), moveaxis(at, a, -1)
    n = last.shape[-1]

    def go(rows: Value, at: Value) -> Value:
        if len(rows.shape) > 1:
            return rows.map(go, at)
        return rows.gather(elementwise("where", at < 0, at + n, at))

    return moveaxis(go(last, places), -1, a)


def diff(x: Like, n: int = 1, axis: int = -1, prepend: Like = None, append: Like = None) -> Value:
    """The differences of neighbours along an axis, n times over; of bools, whether they differ.

    prepend, append: a number, or an array of other length along the axis, that stands before and after.
    """
    v = moveaxis(x, axis, 0)
    first, last = (None if e is None else _beside(v, e, axis) for e in (prepend, append))
    v = v if first is None else first.concat(v)
    v = v if last is None else v.concat(last)
    if scalar_of_elements(v.expr) == BOOL:
        for _ in range(whole(n, "how often")):
            v = elementwise("ne", v.drop(1), v.take(max(len(v) - 1, 0)))
        return moveaxis(v, 0, axis)
    for _ in range(whole(n, "how often")):
        v = v.drop(1) - v.take(max(len(v) - 1, 0))
    return moveaxis(v, 0, axis)


def _beside(v: Value, e: Like, axis: int) -> Value:
    """What stands beside `v` along its first axis: a number is repeated to one row."""
    other = as_value(e)
    if other.shape:
        return moveaxis(other, axis, 0)
    return typed(p.Fill(1, filled(e, element_type(v.expr))))


def kron(a: Like, b: Like) -> Value:
    """The Kronecker product of two vectors, or of two matrices."""
    x, y = as_value(a), as_value(b)
    if len(x.shape) != len(y.shape) or len(x.shape) not in (1, 2):
        raise ShapeError(f"kron of {x.shape} and {y.shape}: give two vectors or two matrices")
    if len(x.shape) == 1:
        return x.map(lambda v: y.map(lambda w: v * w)).join()
    rows = x.map(lambda r: y.map(lambda s: r.map(lambda v: s.map(lambda w: v * w)).join()))
    return rows.join()


explain(globals())
