"""Arrays with gaps, turned axes and repeated ones, as programs read them: from one stretch of memory, without a copy.

A layout is a pair (length, stride in elements) for each axis, as NumPy has it: `a[::2]` of ten elements is ((5, 2),), a
column of a matrix of four columns ((3, 4),), `a[::-1]` ((10, -1),), and what `broadcast_to` repeats has strides of 0.
The stretch of memory begins at the lowest element and ends behind the highest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.rearranging import moveaxis
from egglift.ir.reshaping import flip
from egglift.ir.value import Value, typed

#: for each axis its length and its stride, in elements
Layout: TypeAlias = tuple[tuple[int, int], ...]


def layout_of(shape: Sequence[int], strides: Sequence[int], size: int) -> Layout | None:
    """The layout of an array with elements of `size` bytes; None where they do not lie at multiples of their size."""
    if 0 in shape or any(s % size for s in strides):
        return None
    return tuple((int(n), int(s) // size if n > 1 else 0) for n, s in zip(shape, strides, strict=True))


def span(layout: Layout) -> int:
    """How many elements of memory an array reaches over."""
    return 1 + sum((n - 1) * abs(s) for n, s in layout)


def seen(base: Value, layout: Layout) -> Value:
    """The array, of the stretch of memory that it reaches over.

    seen(x, ((5, 2),)) -> map (\\w. w[0]) (slide 1 2 x)
    """
    moved = [a for a, (_, s) in enumerate(layout) if s]
    inward = sorted(moved, key=lambda a: -abs(layout[a][1]))
    found = _rows(base, tuple((layout[a][0], abs(layout[a][1])) for a in inward))
    if not moved:
        found = base[0]
    if inward != sorted(inward):
        found = moveaxis(found, list(range(len(inward))), [sorted(inward).index(a) for a in inward])
    if turned := [i for i, a in enumerate(sorted(moved)) if layout[a][1] < 0]:
        found = flip(found, turned)
    e = found.expr
    for a, (n, s) in enumerate(layout):
        if not s:
            e = at_depth(a, e, lambda part, n=n: p.Fill(n, part))  # type: ignore[misc]
    return typed(e)


def _rows(x: Value, axes: Layout) -> Value:
    """Axes of strides that fall: windows, each a stride after the one before."""
    if not axes:
        return x
    (_, stride), *rest = axes
    inner = span(tuple(rest))
    if not rest:
        return x if stride == 1 else x.slide(1, stride).map(lambda w: w[0])
    rows = x.split(inner) if stride == inner else x.slide(inner, stride)
    return rows if tuple(rest) == ((inner, 1),) else rows.map(lambda r: _rows(r, tuple(rest)))
