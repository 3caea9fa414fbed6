"""mean_variance: the mean of a vector and the mean square distance from it."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`m = sum x / n;  <m, sum (map (\\v. (v - m)^2) x) / n>`"""
    x = el.array("x", el.f32, n)
    mean = x.reduce(el.add, 0.0) / n
    variance = x.map(lambda v: (v - mean) * (v - mean)).reduce(el.add, 0.0) / n
    return el.tuple(mean, variance)


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {"x": rng.random(n, np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    return x.mean(), x.var()
