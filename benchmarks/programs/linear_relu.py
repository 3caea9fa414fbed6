"""linear_relu: a layer of a neural network: a matrix product, a bias for every column, the negative cut off."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.matmul import operations as operations
from benchmarks.programs.shapes import PRODUCT as SHAPES

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]


def program(m: int, n: int, k: int) -> Any:
    """`map (map (max 0)) (A B + bias)`"""
    A, B, bias = el.array("A", el.f32, (m, k)), el.array("B", el.f32, (k, n)), el.array("bias", el.f32, n)
    return el.maximum(A @ B + bias, 0)


def inputs(m: int, n: int, k: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(m, n, k)`."""
    shapes = {"A": (m, k), "B": (k, n), "bias": (n,)}
    return {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}


def reference(A: Any, B: Any, bias: Any) -> Any:
    """The program in NumPy."""
    return np.maximum(A @ B + bias, np.float32(0))
