"""gesummv: the sum of two matrix-vector products (PolyBench); n is the side of the matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.gemv import dot
from benchmarks.programs.lengths import SIDE as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`a * A x + b * B x`"""
    a, b = el.scalar("a", el.f32), el.scalar("b", el.f32)
    A, B, x = el.array("A", el.f32, (n, n)), el.array("B", el.f32, (n, n)), el.array("x", el.f32, n)
    return el.zip(A, B).map(lambda p: a * dot(p[0], x) + b * dot(p[1], x))


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    matrices = {name: rng.random((n, n), np.float32) for name in "AB"}
    return {"a": np.float32(1.5), "b": np.float32(0.5), **matrices, "x": rng.random(n, np.float32)}


def reference(a: Any, b: Any, A: Any, B: Any, x: Any) -> Any:
    """The program in NumPy."""
    return a * (A @ x) + b * (B @ x)
