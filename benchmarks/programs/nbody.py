"""nbody: the accelerations of bodies that attract each other, all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.blocks import by_rows
from benchmarks.programs.shapes import BODIES as SHAPES

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]

SOFTENING = 0.01

add_vectors = el.operator(
    lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]),
    associative=True,
    commutative=True,
    neutral=(0.0, 0.0, 0.0),
    name="add_vectors",
)


def program(n: int) -> Any:
    """`map (\\p. reduce (+) 0 (map (\\q. q.m * (q - p) / (|q - p|^2 + e)^(3/2)) bodies)) bodies`: x, y, z of each"""
    bodies = el.zip(*(el.array(name, el.f32, n) for name in ("x", "y", "z", "mass")))
    return bodies.map(lambda body: bodies.map(lambda other: pull(body, other)).reduce(add_vectors))


def pull(body: Any, other: Any) -> Any:
    """The acceleration of one body by another: positions and mass of each."""
    dx, dy, dz = (other[i] - body[i] for i in range(3))
    inverse = el.rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
    strength = other[3] * inverse * inverse * inverse
    return dx * strength, dy * strength, dz * strength


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {name: rng.random(n, np.float32) for name in ("x", "y", "z", "mass")}


def reference(x: Any, y: Any, z: Any, mass: Any) -> Any:
    """The program in NumPy."""
    at = np.stack([x, y, z]).astype(np.float64)

    def pulls(rows: slice) -> Any:
        d = at[:, None, :] - at[:, rows, None]
        strength = mass / ((d * d).sum(axis=0) + SOFTENING) ** 1.5
        return (d * strength).sum(axis=2)

    return tuple(by_rows(pulls, len(x), 3 * len(x)).astype(np.float32))


def operations(n: int) -> int:
    """As is the custom, 20 for a pair."""
    return 20 * n * n
