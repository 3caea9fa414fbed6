"""jacobi_1d: the mean of three neighbours, elements at the ends repeated (thesis, example 2.6)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS
from benchmarks.programs.neighbours import around

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`map (\\w. reduce (+) 0 w / 3) (slide 3 1 (pad 1 1 clamp x))`"""
    return el.stencil(lambda w: w.reduce(el.add) * (1 / 3), 3, 1, 1, 1, "clamp", el.array("x", el.f32, n))


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {"x": rng.random(n, np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    return sum(around(x).values()) * np.float32(1 / 3)
