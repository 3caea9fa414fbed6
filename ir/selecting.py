"""Elements chosen by conditions and compared with others, by NumPy's names."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from egglift.ir.errors import ShapeError
from egglift.ir.joining import concatenate
from egglift.ir.keywords import explain
from egglift.ir.lifting import is_number
from egglift.ir.rearranging import ravel
from egglift.ir.types import BOOL
from egglift.ir.value import Like, Value, as_numbers, as_value, elementwise


def select(condlist: Sequence[Like], choicelist: Sequence[Like], default: Like = 0) -> Value:
    """The choice of the first condition that is true, else the default: NumPy's select.

    select([x < 0, x < 1], [a, b], c) -> where(x < 0, a, where(x < 1, b, c))
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ShapeError(f"select of {len(condlist)} conditions and {len(choicelist)} choices: one choice for each")
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        found = elementwise("where", condition, choice, found)
    return as_value(found)


def isin(element: Like, test_elements: Like, *, invert: bool = False) -> Value:
    """Is each element among the others?  Each is compared with all.  invert: is it not?"""
    v, others = as_numbers(element), ravel(as_numbers(test_elements))
    found = ((v[..., None] if v.shape else v) == others).any(-1)
    return ~found if invert else found


def append(arr: Like, values: Like, axis: int | None = None) -> Value:
    """Values behind an array, along an axis; None: behind all its elements, row by row."""
    given = [as_numbers([v] if is_number(v) else v) for v in (arr, values)]
    return concatenate([ravel(v) for v in given] if axis is None else given, axis or 0)


def array_equal(a1: Like, a2: Like) -> Value:
    """Have two arrays one shape, and the same elements?"""
    a, b = as_numbers(a1), as_numbers(a2)
    if a.shape != b.shape:
        return as_value(False)
    equal = a == b
    return equal.all() if a.shape and prod(a.shape) else equal.cast(BOOL) if not a.shape else as_value(True)  # type: ignore[arg-type]


explain(globals())
