"""ten_maps: a pipeline of ten maps, which must become one loop."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`map f10 (... (map f1 x))`"""
    xs = el.array("x", el.f32, n)
    xs = xs.map(lambda v: v + 1.0)
    xs = xs.map(lambda v: v * 0.5)
    xs = xs.map(lambda v: v * v)
    xs = xs.map(lambda v: v - 0.25)
    xs = xs.map(el.abs)
    xs = xs.map(el.sqrt)
    xs = xs.map(lambda v: el.maximum(v, 0.125))
    xs = xs.map(lambda v: 1.0 / v)
    xs = xs.map(lambda v: el.minimum(v, 4.0))
    return xs.map(lambda v: v * 3.0 - 1.0)


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {"x": rng.standard_normal(n, np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    y = (x + 1) * np.float32(0.5)
    y = np.sqrt(np.abs(y * y - np.float32(0.25)))
    return np.minimum(1 / np.maximum(y, np.float32(0.125)), np.float32(4)) * 3 - 1
