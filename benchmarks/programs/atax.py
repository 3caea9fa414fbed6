"""atax: a matrix, then its transpose, times a vector (PolyBench); n is the side of the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.gemv import dot
from benchmarks.programs.lengths import SIDE as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`A^T (A x)`"""
    A, x = el.array("A", el.f32, (n, n)), el.array("x", el.f32, n)
    product = A.map(lambda row: dot(row, x))
    return A.T.map(lambda column: dot(column, product))


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {"A": rng.random((n, n), np.float32), "x": rng.random(n, np.float32)}


def reference(A: Any, x: Any) -> Any:
    """The program in NumPy."""
    return A.T @ (A @ x)
