"""dot: the inner product of two vectors (BLAS level 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`reduce (+) 0 (map (*) (zip x y))`"""
    x, y = el.array("x", el.f32, n), el.array("y", el.f32, n)
    return el.reduce(el.add, 0.0, el.map(lambda p: p[0] * p[1], el.zip(x, y)))


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {"x": rng.random(n, np.float32), "y": rng.random(n, np.float32)}


def reference(x: Any, y: Any) -> Any:
    """The program in NumPy."""
    return x @ y
