"""nrm2: the Euclidean length of a vector (BLAS level 1, without scaling)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`sqrt (reduce (+) 0 (map square x))`"""
    x = el.array("x", el.f32, n)
    return el.sqrt(x.map(lambda v: v * v).reduce(el.add, 0.0))


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {"x": rng.standard_normal(n, np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    return np.linalg.norm(x)
