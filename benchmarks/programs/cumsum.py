"""cumsum: the sums of all elements of a vector up to each."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`scan (+) 0 x`"""
    return el.cumsum(el.array("x", el.f32, n))


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`: small whole numbers, whose sums are exact in any order."""
    return {"x": rng.integers(-4, 5, n).astype(np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    return np.cumsum(x)
