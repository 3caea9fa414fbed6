"""Whole numbers that users give as lengths, counts and places; lengths that are known when a kernel is called too."""

from __future__ import annotations

from typing import Any

from egglift.ir.bounds import MOST, shown
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.lengths import Length


def limits(at: slice, n: int) -> tuple[int, int, int]:
    """`at.indices(n)` where lengths are known when a kernel is called; forwards only."""
    step = 1 if at.step is None else whole(at.step, "the step of a slice of a run-time length", 1)

    def place(i: Any, none: int) -> int:
        if i is None:
            return none
        at = whole(i, "the place of a slice", -MOST)
        return min(max(at + n, 0) if at < 0 else at, n)

    return place(at.start, 0), place(at.stop, n), step


def whole(n: Any, what: str, least: int = 0, instead: str = "") -> int:
    """A whole number of at least `least`, as a Python int; ProgramError names `what` it should be, and what to do."""
    try:
        number: int = n if isinstance(n, Length) else int(n.__index__())
    except (AttributeError, TypeError):  # arrays of NumPy's and values of a program have the method
        remedy = f"; {instead}" if instead else ""
        raise TypeMismatch(f"{what} must be a whole number, not {n!r}{remedy}") from None
    if number < least:
        raise ShapeError(f"{what} must be {least} or more, not {shown(number)}")
    if number > MOST:
        raise ShapeError(f"{what} must be at most 2^62, not {shown(number)}")
    return number
