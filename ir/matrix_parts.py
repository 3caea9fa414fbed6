"""Diagonals and triangles of matrices, and matrices made of matrices, by NumPy's names."""

from __future__ import annotations

from collections.abc import Callable

from egglift.ir.axes import at_depth
from egglift.ir.errors import ShapeError
from egglift.ir.keywords import explain
from egglift.ir.notation import iota
from egglift.ir.patterns import Expr
from egglift.ir.rearranging import moveaxis
from egglift.ir.text import brief
from egglift.ir.type_names import TypeLike
from egglift.ir.types import I32, I64
from egglift.ir.value import Like, Value, as_value, elementwise, typed
from egglift.ir.whole_numbers import whole


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
