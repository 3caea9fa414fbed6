"""heat_1d: a step of the heat equation along a bar: a convolution with three weights (thesis, example 2.8)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS
from benchmarks.programs.neighbours import around

__all__ = ["LENGTHS", "inputs", "program", "reference"]

C = 0.2


def program(n: int) -> Any:
    """`convolution1d clamp [c, 1 - 2c, c] x`"""
    return el.convolution1d([C, 1 - 2 * C, C], "clamp", el.array("x", el.f32, n))


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {"x": rng.random(n, np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    near = around(x)
    return x + np.float32(C) * (near[-1,] - 2 * x + near[1,])
