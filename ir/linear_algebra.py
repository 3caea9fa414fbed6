"""Products of arrays, and lengths of vectors, by NumPy's names."""

from __future__ import annotations

import math
from collections.abc import Sequence

from egglift.ir import trace
from egglift.ir.axes import Axes, axes_of, axis_of, scalar_of_elements
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.making import eye
from egglift.ir.patterns import Expr
from egglift.ir.products import matmul
from egglift.ir.rearranging import expand_dims, ravel, swapaxes
from egglift.ir.reducing import squared
from egglift.ir.reshaping import squeeze
from egglift.ir.signs import conj
from egglift.ir.text import brief
from egglift.ir.types import F64, dims
from egglift.ir.value import Like, Value, as_value, elementwise, typed
from egglift.ir.whole_numbers import whole


def outer(a: Like, b: Like) -> Value:
    """`c[i][j] = a[i] * b[j]`; arrays of more axes are read as vectors."""
    return ravel(a).cross(ravel(b)).map(lambda row: row.map(lambda v: v[0] * v[1]))


def inner(a: Like, b: Like) -> Value:
    """The sum of products along the last axes: of vectors a number, of matrices `a @ b.T`; of a scalar, the product."""
    x, y = as_value(a).expr, as_value(b).expr
    left, right = dims(type_of(x)), dims(type_of(y))
    if not left or not right:
        return elementwise("mul", x, y)
    if left[-1] != right[-1]:
        both = f"{type_of(x)} ({brief(x, 40)}) and {type_of(y)} ({brief(y, 40)})"
        raise ShapeError(
            f"inner of {both}: the last axes have lengths {left[-1]} and {right[-1]}; they must be the same"
        )
    return typed(_inner(x, y))


def _inner(x: Expr, y: Expr) -> Expr:
    if len(dims(type_of(x))) > 1:
        return trace.map_body(lambda row: _inner(row, y), x)
    if len(dims(type_of(y))) > 1:
        return trace.map_body(lambda row: _inner(x, row), y)
    return matmul(x, y)


def dot(a: Like, b: Like) -> Value:
    """NumPy's: of vectors and matrices `a @ b`; of a scalar `a * b`; of more axes, a's last with b's last but one."""
    x, y = as_value(a), as_value(b)
    return inner(x, swapaxes(y, -1, -2) if len(y.shape) > 1 else y)


def vdot(a: Like, b: Like) -> Value:
    """The sum of the products of all elements, of arrays of as many; of complex ones, a's are conjugated."""
    return inner(conj(ravel(a)), ravel(b))


def matrix_power(x: Like, n: int) -> Value:
    """A square matrix multiplied n times with itself; ShapeError of other matrices.

    matrix_power(A, 5) -> A @ (A @ A) @ (A @ A)
    """
    v, count = as_value(x), whole(n, "the power")
    if len(v.shape) != 2 or v.shape[0] != v.shape[1]:
        raise ShapeError(f"matrix_power of {brief(v.expr)}, of shape {v.shape}: give a square matrix")
    if count == 0:
        return eye(whole(v.shape[0], "a length"), dtype=scalar_of_elements(v.expr))
    if count == 1:
        return v
    half = matrix_power(v, count // 2)
    return v @ (half @ half) if count % 2 else half @ half


def norm(x: Like, ord: float | str | None = None, axis: Axes = None, keepdims: bool = False) -> Value:
    """numpy.linalg.norm: the square root of the sum of squares along axes, or a norm of another order.

    ord: of vectors (one axis) 0 (how many are not 0), inf, -inf, or p, for the p-th root of the sum of |x|^p; of
    matrices (two axes) "fro", 1, -1, inf, -inf.  Of integers in f64.  TypeMismatch of orders that need singular values.
    """
    v = as_value(x)
    v = v if scalar_of_elements(v.expr).is_inexact else v.cast(F64)
    if ord is None:
        return _root(v, axis, keepdims)
    axes = axes_of(v.expr, axis)
    if len(axes) == 1:
        return _vector_norm(v, ord, axes[0], keepdims)
    if len(axes) == 2:
        order = axes if axis is None or isinstance(axis, int) else [axis_of(v.expr, a) for a in axis]
        return _matrix_norm(v, ord, order, keepdims)
    raise ShapeError(f"norm of order {ord!r} of {brief(v.expr)}: axis= must name one axis, or two")


def _root(v: Value, axis: Axes, keepdims: bool) -> Value:
    """The root of the sum of squares."""
    return elementwise("sqrt", typed(squared(v.expr)).sum(axis, keepdims))


def _vector_norm(v: Value, ord: float | str, axis: int, keepdims: bool) -> Value:
    size = elementwise("abs", v)
    match ord:
        case str():
            raise TypeMismatch(f"norm of order {ord!r} along one axis: there are 0, inf, -inf and numbers p")
        case math.inf:
            return size.max(axis, keepdims)
        case _ if ord == -math.inf:
            return size.min(axis, keepdims)
        case 0:
            return elementwise("ne", v, 0).sum(axis, keepdims).cast(scalar_of_elements(size.expr))
        case 1:
            return size.sum(axis, keepdims)
        case 2:
            return _root(v, axis, keepdims)
    return elementwise("pow", elementwise("pow", size, float(ord)).sum(axis, keepdims), 1 / ord)


def _matrix_norm(v: Value, ord: float | str, axes: Sequence[int], keepdims: bool) -> Value:
    rows, columns = axes
    if ord == "fro":
        return _root(v, [rows, columns], keepdims)
    added = {1: rows, -1: rows, math.inf: columns, -math.inf: columns}
    if isinstance(ord, str) or ord not in added:
        raise TypeMismatch(
            f'norm of order {ord!r} of matrices needs singular values; there are "fro", 1, -1, inf, -inf'
        )
    sums = elementwise("abs", v).sum(added[ord], True)
    found = sums.max([rows, columns], True) if ord > 0 else sums.min([rows, columns], True)
    return found if keepdims else squeeze(found, (rows, columns))


def vector_norm(x: Like, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Value:
    """The norm of vectors along axes; None: of all elements as one vector.  See `norm`."""
    v = as_value(x)
    if ord == 2:
        return norm(v, None, axis, keepdims)
    if axis is None and len(v.shape) > 1:
        found = norm(ravel(v), ord)
        return expand_dims(found, list(range(len(v.shape)))) if keepdims else found
    return norm(v, ord, axis, keepdims)


def matrix_norm(x: Like, keepdims: bool = False, ord: float | str = "fro") -> Value:
    """The norm of the matrices in the last two axes.  See `norm`."""
    return norm(x, ord, (-2, -1), keepdims)


explain(globals())
