"""softmax_rows: the softmax of each row of a matrix; rows have n elements, all of them about 2^20."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def rows(n: int) -> int:
    """How many rows of n there are."""
    return max(1, min(1000, (1 << 20) // n))


def softmax(row: Any) -> Any:
    """The exponentials of a vector, divided by their sum."""
    largest = row.reduce(el.maximum, float("-inf"))
    powers = row.map(lambda v: el.exp(v - largest))
    total = powers.reduce(el.add, 0.0)
    return powers.map(lambda v: v / total)


def program(n: int, count: int | None = None) -> Any:
    """`map softmax A`, of `count` rows (about 2^20 elements unless given)"""
    return el.array("A", el.f32, (count or rows(n), n)).map(softmax)


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    return {"A": rng.standard_normal((rows(n), n), np.float32)}


def reference(A: Any) -> Any:
    """The program in NumPy."""
    powers = np.exp(A - A.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
