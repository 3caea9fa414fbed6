"""pair_distances: the distance of every point to every point of another set.

The variant is the kind of distance: the square of the Euclidean (Jepsen, "GPU programming made easier"), or the sum
of the coordinates' differences (Manhattan, as in SkelCL)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.shapes import PAIRS as SHAPES

__all__ = ["SHAPES", "VARIANTS", "inputs", "operations", "program", "reference"]

VARIANTS = ("squared", "manhattan")


def program(n: int, m: int, d: int, variant: str = "squared") -> Any:
    """`allpairs (\\p q. sum (map far (zip p q))) X Y` of n and m points of d coordinates"""
    X, Y = el.array("X", el.f32, (n, d)), el.array("Y", el.f32, (m, d))
    return el.allpairs(squared if variant == "squared" else manhattan, X, Y)


def squared(p: Any, q: Any) -> Any:
    """The square of the distance of two points."""
    return el.reduce(el.add, 0.0, el.map(lambda a, b: (a - b) * (a - b), p, q))


def manhattan(p: Any, q: Any) -> Any:
    """The sum of the differences of the coordinates of two points."""
    return el.reduce(el.add, 0.0, el.map(lambda a, b: el.abs(a - b), p, q))


def inputs(n: int, m: int, d: int, rng: np.random.Generator, variant: str = "squared") -> dict[str, Any]:
    """Random arguments of `program(n, m, d, variant)`."""
    return {"X": rng.random((n, d), np.float32), "Y": rng.random((m, d), np.float32)}


def reference(X: Any, Y: Any, variant: str = "squared") -> Any:
    """The program in NumPy, a coordinate after the other: all differences at once would not fit."""
    total = np.zeros((len(X), len(Y)), np.float32)
    for x, y in zip(X.T, Y.T, strict=True):
        difference = x[:, None] - y
        total += difference * difference if variant == "squared" else np.abs(difference)
    return total


def operations(n: int, m: int, d: int, variant: str = "squared") -> int:
    """Subtractions, additions, and multiplications or absolute values."""
    return 3 * n * m * d
