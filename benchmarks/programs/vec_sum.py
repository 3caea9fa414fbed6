"""vecSum: the sum of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`reduce (+) 0 x`"""
    return el.reduce(el.add, 0.0, el.array("x", el.f32, n))


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {"x": rng.random(n, np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    return x.sum()
