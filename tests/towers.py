"""Programs whose steps read the step before at several places: as many steps, twice as many paths with each."""

from __future__ import annotations

import egglift as el
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr


def prefix_sums(steps: int, n: int = 1 << 20) -> Expr:
    """Prefix sums by doubling: every step adds what lies 1, 2, 4, ... places before."""
    v = el.array("x", el.f32, n)
    for k in range(steps):
        v = v + v.pad(1 << k % 20, 0, ("constant", 0.0)).take(n)
    return as_program(v)


def squares(steps: int, n: int = 1 << 20) -> Expr:
    """`v * v + v` again and again: both are read at one place."""
    v = el.array("x", el.f32, n)
    for _ in range(steps):
        v = v * v + v
    return as_program(v)


def pyramid(steps: int, n: int = 1 << 20) -> Expr:
    """Sums of neighbours, of their sums, and so on: each array is one element shorter."""
    v = el.array("x", el.f32, n)
    for k in range(1, steps + 1):
        v = v.take(n - k) + v.drop(1)
    return as_program(v)


def smoothed(steps: int, n: int = 1 << 20) -> Expr:
    """Time steps of a stencil, written out."""
    v = el.array("x", el.f32, n)
    for _ in range(steps):
        v = el.map(lambda w: el.reduce(el.add, 0.0, w) / 3, el.slide(3, 1, el.pad(1, 1, "clamp", v)))
    return as_program(v)


def lowered(steps: int, n: int = 1 << 20) -> Expr:
    """`v - max(v) * 0.5` again and again."""
    v = el.array("x", el.f32, n)
    for _ in range(steps):
        v = v - v.reduce(el.maximum, float("-inf")) * 0.5
    return as_program(v)


def products(steps: int, n: int = 64) -> Expr:
    """`M @ M + M` again and again."""
    m = el.array("M", el.f32, (n, n))
    for _ in range(steps):
        m = m @ m + m
    return as_program(m)


def horner(steps: int, n: int = 1 << 20) -> Expr:
    """`v * x + y` again and again."""
    x, y = el.array("x", el.f32, n), el.array("y", el.f32, n)
    v = y
    for _ in range(steps):
        v = v * x + y
    return as_program(v)


def row_sums(steps: int, rows: int = 64, n: int = 1024) -> Expr:
    """Prefix sums of every row."""

    def row(v: el.Value) -> el.Value:
        for k in range(steps):
            v = v + v.pad(1 << k % 20, 0, ("constant", 0.0)).take(n)
        return v

    return as_program(el.array("A", el.f32, (rows, n)).map(row))


def halves(steps: int, n: int = 1 << 10) -> Expr:
    """Nothing is computed: halves change places and lie upon each other."""
    v = el.array("x", el.f32, n)
    for _ in range(steps):
        v = v.drop(n // 2).concat(v.pad(1, 0, "clamp").take(n // 2))
    return as_program(v)
