"""laplace: an operator on a sparse grid applied to a vector, its matrix computed and never stored (Jepsen).

A grid point has a level and an odd index in each dimension: its basis function is the product of the hats
`max 0 (1 - |2^level x - index|)`.  The matrix of the Laplace operator has integrals of products of their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.blocks import by_rows

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]

SHAPES = ((1, 1), (7, 2), (17, 5), (127, 5), (257, 3), (1000, 5), (4096, 5))

#: of pairs (value, derivative): a product and its derivative
product_rule = el.operator(
    lambda a, b: (a[0] * b[0], a[0] * b[1] + a[1] * b[0]),
    associative=True,
    commutative=True,
    neutral=(1.0, 0.0),
    name="product_rule",
)


def program(n: int, d: int) -> Any:
    """`map (\\i. sum (map (\\j. x j * (sum over t: weight t * gradient t * product over s /= t: overlap s))) grid)`

    n grid points in d dimensions, in doubles; `scale` is 2^level.  The inner sum is the derivative of a product.
    """
    scale, index = el.array("scale", el.f64, (n, d)), el.array("index", el.f64, (n, d))
    x, weight = el.array("x", el.f64, n), el.array("weight", el.f64, d)

    def entry(point: Any, other: Any) -> Any:
        in_each = el.map(
            lambda p, q, s, r, w: (overlap(p, q, s, r), w * gradient(p, q, s, r)),
            point[0],
            other[0],
            point[1],
            other[1],
            weight,
        )
        return in_each.reduce(product_rule)[1]

    grid = el.zip(scale, index)
    return grid.map(lambda point: el.map(lambda other, xj: xj * entry(point, other), grid, x).reduce(el.add, 0.0))


def overlap(p: Any, q: Any, s: Any, r: Any) -> Any:
    """The integral of the product of two hats of widths 1/p and 1/q around s/p and r/q: nested, equal or apart."""
    narrow = p >= q
    fine, coarse = el.where(narrow, p, q), el.where(narrow, q, p)
    at, top = el.where(narrow, s, r), el.where(narrow, r, s)
    height = el.maximum(0.0, 1 - el.abs(coarse * at / fine - top))  # of the wide hat in the middle of the other
    return el.where(p == q, el.where(s == r, 2 / (3 * p), 0.0), height / fine)


def gradient(p: Any, q: Any, s: Any, r: Any) -> Any:
    """The integral of the product of the slopes of two hats: 0 but for a hat and itself."""
    return el.where((p == q) & (s == r), 2 * p, 0.0)


def inputs(n: int, d: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n, d)`."""
    level = rng.integers(1, 5, (n, d))
    index = 2 * rng.integers(0, 2 ** (level - 1)) + 1
    return {"scale": 2.0**level, "index": index.astype(float), "x": rng.random(n), "weight": rng.random(d)}


def reference(scale: Any, index: Any, x: Any, weight: Any) -> Any:
    """The program in NumPy."""

    def values(rows: slice) -> Any:
        p, q, s, r = scale[rows, None], scale, index[rows, None], index
        fine, coarse = np.maximum(p, q), np.minimum(p, q)
        at, top = np.where(p >= q, s, r), np.where(p >= q, r, s)
        same = (p == q) & (s == r)
        nested = np.maximum(0, 1 - np.abs(coarse * at / fine - top)) / fine
        overlaps = np.where(p == q, np.where(same, 2 / (3 * p), 0), nested)
        gradients = weight * np.where(same, 2 * p, 0)
        others = [np.delete(overlaps, t, axis=2).prod(axis=2) for t in range(len(weight))]
        return sum(gradients[:, :, t] * other for t, other in enumerate(others)) @ x

    return by_rows(values, len(x), scale.size)


def operations(n: int, d: int) -> int:
    """Arithmetic of every pair of grid points, comparisons left out."""
    return n * n * (14 * d + 2)
