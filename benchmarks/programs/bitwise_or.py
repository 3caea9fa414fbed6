"""bitwise_or: all the bits that are set in any element."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`reduce (|) 0 x`"""
    return el.reduce(el.bitwise_or, 0, el.array("x", el.u32, n))


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`: one bit each, of those that are not multiples of three."""
    bits = rng.integers(0, 32, n)
    return {"x": np.where(bits % 3 == 0, 0, 1 << bits).astype(np.uint32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    return np.bitwise_or.reduce(x)
