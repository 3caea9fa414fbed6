"""batched_matmul: the products of pairs of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]

SHAPES = (
    (1, 1, 1, 1),
    (2, 3, 5, 4),
    (7, 17, 13, 3),
    (3, 127, 127, 127),
    (1000, 16, 16, 16),
    (17, 64, 128, 96),
    (32, 256, 256, 256),
)


def program(count: int, m: int, n: int, k: int) -> Any:
    """`map (\\(A, B). A B) (zip As Bs)`"""
    return el.array("A", el.f32, (count, m, k)) @ el.array("B", el.f32, (count, k, n))


def inputs(count: int, m: int, n: int, k: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(count, m, n, k)`."""
    return {
        "A": rng.standard_normal((count, m, k), np.float32),
        "B": rng.standard_normal((count, k, n), np.float32),
    }


def reference(A: Any, B: Any) -> Any:
    """The program in NumPy."""
    return A @ B


def operations(count: int, m: int, n: int, k: int) -> int:
    """Additions and multiplications."""
    return 2 * count * m * n * k
