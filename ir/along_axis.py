"""Elements along one axis by NumPy's names: at places that an array says, and their differences."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.axes import axis_of, element_type, scalar_of_elements
from egglift.ir.errors import ShapeError
from egglift.ir.keywords import explain
from egglift.ir.lifting import filled
from egglift.ir.rearranging import moveaxis
from egglift.ir.types import BOOL
from egglift.ir.value import Like, Value, as_value, elementwise, typed
from egglift.ir.whole_numbers import whole


def take_along_axis(x: Like, indices: Like, axis: int = -1) -> Value:
    """`y[.., i, ..] = x[.., indices[.., i, ..], ..]` along an axis, as argmax and sorted places use it.

    Negative indices count from the end; those outside are clamped into the axis.  The other axes must be the same.
    """
    v, at = as_value(x), as_value(indices)
    a = axis_of(v.expr, axis)
    others = [tuple(n for i, n in enumerate(t.shape) if i != a) for t in (v, at)]
    if len(v.shape) != len(at.shape) or others[0] != others[1]:
        raise ShapeError(f"take_along_axis of {v.shape} at {at.shape}: all but axis {a} must be the same")
    last, places = moveaxis(v, a, -1), moveaxis(at, a, -1)
    n = last.shape[-1]

    def go(rows: Value, at: Value) -> Value:
        if len(rows.shape) > 1:
            return rows.map(go, at)
        return rows.gather(elementwise("where", at < 0, at + n, at))

    return moveaxis(go(last, places), -1, a)


def diff(x: Like, n: int = 1, axis: int = -1, prepend: Like = None, append: Like = None) -> Value:
    """The differences of neighbours along an axis, n times over; of bools, whether they differ.

    prepend, append: a number, or an array of other length along the axis, that stands before and after.
    """
    v = moveaxis(x, axis, 0)
    first, last = (None if e is None else _beside(v, e, axis) for e in (prepend, append))
    v = v if first is None else first.concat(v)
    v = v if last is None else v.concat(last)
    if scalar_of_elements(v.expr) == BOOL:
        for _ in range(whole(n, "how often")):
            v = elementwise("ne", v.drop(1), v.take(max(len(v) - 1, 0)))
        return moveaxis(v, 0, axis)
    for _ in range(whole(n, "how often")):
        v = v.drop(1) - v.take(max(len(v) - 1, 0))
    return moveaxis(v, 0, axis)


def _beside(v: Value, e: Like, axis: int) -> Value:
    """What stands beside `v` along its first axis: a number is repeated to one row."""
    other = as_value(e)
    if other.shape:
        return moveaxis(other, axis, 0)
    return typed(p.Fill(1, filled(e, element_type(v.expr))))


explain(globals())
