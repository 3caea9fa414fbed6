"""integer_sums: sums over f64 and over every integer type; the variant is the type's name."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "VARIANTS", "inputs", "program", "reference"]

VARIANTS = ("f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


def program(n: int, variant: str = "i32") -> Any:
    """`reduce (+) 0 x`, modulo the type's range"""
    return el.reduce(el.add, 0, el.array("x", variant, n))


def inputs(n: int, rng: np.random.Generator, variant: str = "i32") -> dict[str, Any]:
    """Random arguments of `program(n, variant)`: all of an integer type's range, so that sums wrap around."""
    if variant == "f64":
        return {"x": rng.random(n)}
    range = np.iinfo(el.as_type(variant).dtype)
    return {"x": rng.integers(range.min, range.max, n, range.dtype, endpoint=True)}


def reference(x: Any, variant: str = "i32") -> Any:
    """The program in NumPy."""
    return x.sum(dtype=x.dtype)
