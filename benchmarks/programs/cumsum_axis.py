"""cumsum_axis: sums of all elements up to each, along the rows or the columns of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el

__all__ = ["SHAPES", "VARIANTS", "inputs", "program", "reference"]

VARIANTS = ("rows", "columns")
SHAPES = ((1, 1), (3, 17), (17, 3), (127, 128), (1000, 33), (33, 1003), (1000, 997), (1024, 1024), (5, 70001))


def program(m: int, n: int, variant: str) -> Any:
    """`map (scan (+) 0) A`, or `transpose (map (scan (+) 0) (transpose A))`"""
    return el.cumsum(el.array("A", el.f32, (m, n)), _axis(variant))


def inputs(m: int, n: int, rng: np.random.Generator, variant: str) -> dict[str, Any]:
    """Random arguments of `program(m, n)`: small whole numbers, whose sums are exact in any order."""
    return {"A": rng.integers(-4, 5, (m, n)).astype(np.float32)}


def reference(A: Any, variant: str) -> Any:
    """The program in NumPy."""
    return np.cumsum(A, _axis(variant))


def _axis(variant: str) -> int:
    return 1 if variant == "rows" else 0
