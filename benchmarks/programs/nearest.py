"""nearest: for every query the place of the nearest of many points in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.blocks import by_rows

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]

SHAPES = ((1, 1), (3, 17), (17, 41), (127, 1000), (1, 65536), (1000, 1003), (1024, 16384))


def program(n: int, m: int) -> Any:
    """`map (\\q. argmin (map (distance q) points)) queries`: n queries, m points"""
    queries, points = (el.array(name, (el.f32, el.f32), count) for name, count in (("queries", n), ("points", m)))
    return queries.map(lambda q: el.argmin(points.map(lambda p: squared(q, p))))


def squared(p: Any, q: Any) -> Any:
    """The square of the distance of two points."""
    return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])


def inputs(n: int, m: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n, m)`: whole numbers, so that equal distances stay equal."""
    counts = {"queries": n, "points": m}
    return {
        name: tuple(rng.integers(-1000, 1000, count).astype(np.float32) for _ in range(2))
        for name, count in counts.items()
    }


def reference(queries: Any, points: Any) -> Any:
    """The program in NumPy."""
    x, y = queries

    def places(rows: slice) -> Any:
        return np.argmin((x[rows, None] - points[0]) ** 2 + (y[rows, None] - points[1]) ** 2, axis=1)

    return by_rows(places, len(x), len(points[0]))


def operations(n: int, m: int) -> int:
    """Subtractions, multiplications and additions."""
    return 5 * n * m
