"""arg_max: the largest element and the first place where it is, a reduction over pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def larger(a: Any, b: Any) -> Any:
    """Of two pairs (value, index) the one with the larger value; of equal values the first."""
    first = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
    return el.where(first, a[0], b[0]), el.where(first, a[1], b[1])


def program(n: int) -> Any:
    """`reduce larger <-inf, last> (zip x (iota n))`, the place as int64 as in NumPy

    Places are compared as 32-bit integers, which hold those of any array that has fewer than 2^31 elements.
    """
    x = el.array("x", el.f32, n)
    nothing = (float("-inf"), 2**31 - 1)
    op = el.operator(larger, associative=True, commutative=True, neutral=nothing)
    start = (el.literal(nothing[0], el.f32), el.literal(nothing[1], el.i32))
    found = el.reduce(op, start, el.zip(x, el.iota(n, el.i32)))
    return found[0], el.cast(found[1], el.i64)


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`: many elements are equal."""
    return {"x": rng.integers(-1000, 1000, n).astype(np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    at = np.argmax(x)
    return x[at], np.int64(at)
