"""Small programs over the patterns of reductions and maps, for tests of the e-graph."""

from __future__ import annotations

from collections.abc import Callable

import egglift as el
from egglift.ir.notation import as_expr
from egglift.ir.patterns import Expr


def dot(n: int) -> Expr:
    x, y = el.array("x", el.i32, n), el.array("y", el.i32, n)
    return as_expr(el.reduce(el.add, 0, x * y))


def asum(n: int) -> Expr:
    return as_expr(el.reduce(el.add, 0, el.map(el.abs, el.array("x", el.i32, n))))


def axpy(n: int) -> Expr:
    return as_expr(el.scalar("a", el.i32) * el.array("x", el.i32, n) + el.array("y", el.i32, n))


def gemv(n: int) -> Expr:
    a, x = el.array("A", el.i32, (n, n + 3)), el.array("x", el.i32, n + 3)
    return as_expr(a.map(lambda row: el.reduce(el.add, 0, row * x)))


def atax(n: int) -> Expr:
    a, x = el.array("A", el.i32, (n, n + 3)), el.array("x", el.i32, n + 3)
    y = a.map(lambda row: el.reduce(el.add, 0, row * x))
    return as_expr(a.T.map(lambda column: el.reduce(el.add, 0, column * y)))


def normalised_rows(n: int) -> Expr:
    """Rows minus their largest element, times the sum of that: the shape of softmax, in integers."""

    def row(x: el.Value) -> el.Value:
        largest = el.reduce(el.maximum, -(1 << 31), x)
        y = x.map(lambda e: e - largest)
        total = el.reduce(el.add, 0, y)
        return y.map(lambda e: e * total)

    return as_expr(el.array("A", el.i32, (5, n)).map(row))


def deviations(n: int) -> Expr:
    """The sum of squared differences from the sum: the shape of a variance, in integers."""
    x = el.array("x", el.i32, n)
    total = el.reduce(el.add, 0, x)
    return as_expr(el.reduce(el.add, 0, x.map(lambda e: (e - total) * (e - total))))


def ten_maps(n: int) -> Expr:
    x = el.array("x", el.i32, n)
    for i in range(10):
        x = x.map(lambda e, i=i: e * (i + 1) + i)
    return as_expr(x)


def arg_max(n: int) -> Expr:
    def larger(a: el.Value, b: el.Value) -> el.Value:
        first = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] <= b[1]))
        return el.tuple(el.where(first, a[0], b[0]), el.where(first, a[1], b[1]))

    lowest = el.tuple(el.literal(-(1 << 31), el.i32), el.literal((1 << 62), el.i64))
    op = el.operator(larger, associative=True, commutative=True, neutral=lowest)
    return as_expr(el.reduce(op, lowest, el.zip(el.array("x", el.i32, n), el.iota(n, el.i64))))


def composed(n: int) -> Expr:
    """A reduction whose operator is associative and not commutative: composition of `v -> a*v + b`."""
    op = el.operator(
        lambda f, g: el.tuple(f[0] * g[0], f[0] * g[1] + f[1]),
        associative=True,
        commutative=False,
        neutral=el.tuple(el.literal(1, el.i32), el.literal(0, el.i32)),
    )
    pairs = el.zip(el.array("x", el.i32, n), el.array("y", el.i32, n))
    return as_expr(el.reduce(op, op.neutral, pairs))


PROGRAMS: dict[str, Callable[[int], Expr]] = {
    f.__name__: f for f in (dot, asum, axpy, gemv, atax, normalised_rows, deviations, ten_maps, arg_max, composed)
}
