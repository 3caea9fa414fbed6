"""Products of arrays, and lengths of vectors, by NumPy's names."""

from __future__ import annotations

from egglift.ir import trace
from egglift.ir.axes import Axes, scalar_of_elements
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError
from egglift.ir.making import eye
from egglift.ir.patterns import Expr
from egglift.ir.products import matmul
from egglift.ir.rearranging import ravel, swapaxes
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
    """The sum of the products of all elements, of arrays of as many."""
    return inner(ravel(a), ravel(b))


def matrix_power(x: Like, n: int) -> Value:
    """A square matrix multiplied n times with itself; ShapeError of other matrices.

    matrix_power(A, 5) -> A @ (A @ A) @ (A @ A)
    """
    v, count = as_value(x), whole(n, "the power")
    if len(v.shape) != 2 or v.shape[0] != v.shape[1]:
        raise ShapeError(f"matrix_power of {brief(v.expr)}, of shape {v.shape}: give a square matrix")
    if count == 0:
        return eye(whole(v.shape[0], "a length"), type=scalar_of_elements(v.expr))
    if count == 1:
        return v
    half = matrix_power(v, count // 2)
    return v @ (half @ half) if count % 2 else half @ half


def norm(x: Like, axis: Axes = None, keepdims: bool = False) -> Value:
    """The square root of the sum of squares along axes: a vector's length, a matrix's Frobenius norm.

    As numpy.linalg.norm of its default order; of integers in f64.
    """
    x = as_value(x)
    x = x if scalar_of_elements(x.expr).is_float else x.cast(F64)
    return elementwise("sqrt", (x * x).sum(axis, keepdims))
