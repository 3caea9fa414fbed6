"""attention: of each query the average of all values, weighted by the softmax of its products with the keys."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.softmax_rows import softmax

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]

SHAPES = ((1, 1, 1), (3, 5, 2), (17, 13, 16), (127, 257, 32), (512, 512, 64), (1000, 1003, 64))


def program(n: int, m: int, d: int) -> Any:
    """`map softmax (Q K^T / sqrt d) V`: n queries, m keys with their values, d elements each"""
    Q, K, V = el.array("Q", el.f32, (n, d)), el.array("K", el.f32, (m, d)), el.array("V", el.f32, (m, d))
    return el.map(softmax, Q @ K.T / d**0.5) @ V


def inputs(n: int, m: int, d: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n, m, d)`."""
    rows = {"Q": n, "K": m, "V": m}
    return {name: rng.standard_normal((count, d), np.float32) for name, count in rows.items()}


def reference(Q: Any, K: Any, V: Any) -> Any:
    """The program in NumPy."""
    scores = Q @ K.T / np.float32(Q.shape[1] ** 0.5)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ V


def operations(n: int, m: int, d: int) -> int:
    """Additions and multiplications of the two products."""
    return 4 * n * m * d
