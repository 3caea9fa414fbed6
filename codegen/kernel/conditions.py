"""Conditions `e < n` on indices, and what is asked of indices wherever code is generated or printed."""

from __future__ import annotations

from egglift.codegen.kernel.index import Index
from egglift.ir.lengths import about, content

#: `e < n`, as (e, n)
Condition = tuple[Index, int]


def within(test: Index, n: int) -> tuple[Condition, ...]:
    """`0 <= test < n` as conditions `e < m`."""
    return ((test, n), (-1 - test, 0)) if test.range[0] < 0 else ((test, n),)


def share(conditions: tuple[Condition, ...]) -> float:
    """The part of the executors for which all `conditions` hold, at most."""
    part = 1.0
    for e, n in conditions:
        low, high = map(about, e.range)
        part *= min(1.0, max(0, about(n) - low) / (high - low + 1))
    return part


def has_lane(at: Index) -> bool:
    """Does `at` differ between the lanes of a vector?"""
    return at.has_lane


def is_aligned(at: Index, width: int) -> bool:
    """Is `at` a multiple of `width` whatever its variables are?"""
    # what is asked of lengths is asked of the smallest multiple first: where that is none, the others do not matter
    steps = sorted((k for _, k in at.terms), key=content)
    return at.constant % width == 0 and all(k % width == 0 for k in steps)
