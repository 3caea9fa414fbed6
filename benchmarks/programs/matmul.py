"""matmul: the product of two matrices; the variant is the type of their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.shapes import PRODUCT as SHAPES

__all__ = ["SHAPES", "VARIANTS", "inputs", "operations", "program", "reference"]

VARIANTS = ("f32", "f64")


def program(m: int, n: int, k: int, variant: str = "f32") -> Any:
    """`A B`, of m by n elements, each a sum of k products"""
    return el.array("A", variant, (m, k)) @ el.array("B", variant, (k, n))


def inputs(m: int, n: int, k: int, rng: np.random.Generator, variant: str = "f32") -> dict[str, Any]:
    """Random arguments of `program(m, n, k, variant)`."""
    dtype = el.as_type(variant).dtype
    return {"A": rng.standard_normal((m, k), dtype), "B": rng.standard_normal((k, n), dtype)}


def reference(A: Any, B: Any, variant: str = "f32") -> Any:
    """The program in NumPy."""
    return A @ B


def operations(m: int, n: int, k: int, variant: str = "f32") -> int:
    """Additions and multiplications."""
    return 2 * m * n * k
