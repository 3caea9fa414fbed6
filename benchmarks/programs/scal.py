"""scal: a vector times a number (BLAS level 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`a * x`"""
    a, x = el.scalar("a", el.f32), el.array("x", el.f32, n)
    return x.map(lambda v: a * v)


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {"a": np.float32(2.5), "x": rng.standard_normal(n, np.float32)}


def reference(a: Any, x: Any) -> Any:
    """The program in NumPy."""
    return a * x
