"""syrk: a multiple of a matrix times its own transpose, added to a multiple of another (BLAS level 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]

SHAPES = ((1, 1), (3, 17), (17, 13), (127, 127), (257, 3), (512, 512), (1000, 997), (1024, 1024))


def program(n: int, k: int) -> Any:
    """`a * A A^T + b * C`, all of the symmetric matrix"""
    a, b = el.scalar("a", el.f32), el.scalar("b", el.f32)
    A, C = el.array("A", el.f32, (n, k)), el.array("C", el.f32, (n, n))
    return a * (A @ A.T) + b * C


def inputs(n: int, k: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n, k)`."""
    shapes = {"A": (n, k), "C": (n, n)}
    matrices = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    return {"a": np.float32(1.5), "b": np.float32(0.5), **matrices}


def reference(a: Any, b: Any, A: Any, C: Any) -> Any:
    """The program in NumPy."""
    return a * (A @ A.T) + b * C


def operations(n: int, k: int) -> int:
    """Additions and multiplications."""
    return 2 * n * n * k
