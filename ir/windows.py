"""Windows along any axes, by NumPy's name.  Nothing is computed."""

from __future__ import annotations

from collections.abc import Sequence

from egglift.ir import patterns as p
from egglift.ir.axes import Axes, at_depth, axis_of, permuted
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError
from egglift.ir.keywords import explain
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.types import dims
from egglift.ir.value import Like, Value, as_value, typed
from egglift.ir.whole_numbers import whole


def sliding_window_view(x: Like, window_shape: int | Sequence[int], axis: Axes = None) -> Value:
    """All windows of a shape: NumPy's `lib.stride_tricks.sliding_window_view`.

    window_shape: how long windows are along `axis`: one number for one axis, or as many as axes; axis None: all axes.
    The axes count the windows then, and behind all of them are those of the windows: of a [c][h][w], windows of (3, 5)
    along (1, 2) are a [c][h - 2][w - 4][3][5].  ShapeError where a window is longer than its axis.

    sliding_window_view(x, 3) -> slide 3 1 x
    """
    e = as_value(x).expr
    sizes = list(window_shape) if isinstance(window_shape, Sequence) else [window_shape]
    given = range(len(dims(type_of(e)))) if axis is None else axis if isinstance(axis, Sequence) else (axis,)
    axes = [axis_of(e, a) for a in given]
    if len(axes) != len(sizes):
        counts = f"lengths of windows: {len(sizes)}, axes: {len(axes)}"
        raise ShapeError(f"sliding_window_view of {brief(e)}, which is {type_of(e)}: {counts}; give one for each axis")
    wanted = [whole(n, "the length of a window", 1) for n in sizes]
    outer = min(axes, default=0)
    pairs = [(a - outer, n) for a, n in zip(axes, wanted)]
    return typed(at_depth(outer, e, lambda part: _windows(part, pairs)))


def _windows(x: Expr, windows: Sequence[tuple[int, int]]) -> Expr:
    """Windows along axes, the last one first, such that their own axes come in the order of `windows`."""
    rank = len(dims(type_of(x)))
    for axis, n in reversed(windows):
        x = at_depth(axis, x, lambda part, n=n: p.Slide(n, 1, part))  # type: ignore[misc]
        count = len(dims(type_of(x)))
        now = list(range(count))
        order = [a for a in now if a != axis + 1]
        order.insert(rank, axis + 1)
        x = permuted(x, now, order)
    return x


explain(globals())
