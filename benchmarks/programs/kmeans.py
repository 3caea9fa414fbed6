"""kmeans: for every point the nearest centroid, a step of the k-means algorithm (Rodinia)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.pair_distances import squared

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]

SHAPES = ((1, 1, 1), (17, 2, 3), (127, 5, 7), (1000, 5, 34), (1003, 17, 34), (65536, 5, 34))


def program(n: int, k: int, d: int) -> Any:
    """`map (\\p. argmin (map (distance p) centroids)) points`: n points, k centroids, d features"""
    points, centroids = el.array("points", el.f32, (n, d)), el.array("centroids", el.f32, (k, d))
    return points.map(lambda p: el.argmin(centroids.map(lambda c: squared(p, c))))


def inputs(n: int, k: int, d: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n, k, d)`: small whole numbers, so that equal distances stay equal."""
    shapes = {"points": (n, d), "centroids": (k, d)}
    return {name: rng.integers(-8, 8, shape).astype(np.float32) for name, shape in shapes.items()}


def reference(points: Any, centroids: Any) -> Any:
    """The program in NumPy."""
    distances = [np.square(points - c).sum(axis=1) for c in centroids]
    return np.argmin(distances, axis=0)


def operations(n: int, k: int, d: int) -> int:
    """Subtractions, multiplications and additions."""
    return 3 * n * k * d
