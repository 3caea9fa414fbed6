"""gemv: a matrix times a vector (BLAS level 2); n is the side of the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import SIDE as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def dot(x: Any, y: Any) -> Any:
    """The inner product of two vectors."""
    return el.reduce(el.add, 0.0, el.map(lambda p: p[0] * p[1], el.zip(x, y)))


def program(n: int) -> Any:
    """`a * A x + b * y`"""
    a, b = el.scalar("a", el.f32), el.scalar("b", el.f32)
    A, x, y = el.array("A", el.f32, (n, n)), el.array("x", el.f32, n), el.array("y", el.f32, n)
    return el.zip(A, y).map(lambda p: a * dot(p[0], x) + b * p[1])


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    vectors = {name: rng.random(n, np.float32) for name in "xy"}
    return {"a": np.float32(1.5), "b": np.float32(0.5), "A": rng.random((n, n), np.float32), **vectors}


def reference(a: Any, b: Any, A: Any, x: Any, y: Any) -> Any:
    """The program in NumPy."""
    return a * (A @ x) + b * y
