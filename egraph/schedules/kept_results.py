"""Results that a group keeps in local memory first, and copies out in the order of memory.

Elements that are short arrays lie apart: what neighbouring work-items store at the same time is not next to each other.
A block of them, number by number, is:

    block -> split c (join (map (mapLocal (mapVec id)) (split l (split w (join (toLocal block))))))
"""

from __future__ import annotations

from collections.abc import Sequence

from egglift.egraph.schedules.operand_arrays import Digit
from egglift.egraph.schedules.schedule import Keep, Loop
from egglift.ir import patterns as p
from egglift.ir.axes import element_type, merged, permuted
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import Size
from egglift.ir.types import Array, Type


def copied_out(keep: Keep, found: Expr, loops: Sequence[Loop], sizes: dict[Digit, Size]) -> Expr:
    """A block's elements, an array over parallel loops over digits of one dimension, by way of local memory.

    Work-items write it in turns: as many numbers as lanes have elements, one behind the other, each.
    """
    (items,) = (loop for loop in loops if loop.kind == "item")
    axes = [(loop.dim, loop.digit) for loop in loops]
    order = sorted(axes, key=lambda a: a[1])
    together = [a for a in order if a != (items.dim, items.digit)]
    assert order[: len(together)] == together, "work-items go through neighbours"
    vector = sizes[together[0]] if together else 1
    x = merged(permuted(found, axes, order), 0, len(order))
    shape = _lengths(element_type(x))
    x = p.Join(p.To("local", merged(x, 1, len(shape)), keep.pad))
    turns = p.Split(sizes[items.dim, items.digit], p.Split(vector, x))
    written: Expr = p.Join(p.Join(_each(turns, (Level("seq"), items.level, Level("vec")))))
    for length in reversed(shape):  # the numbers as elements again
        written = p.Split(length, written)
    if together:
        written = p.Split(sizes[items.dim, items.digit], written)
    return permuted(written, order, axes)


def _each(x: Expr, levels: Sequence[Level | None]) -> Expr:
    """Every number as it is, by these executors, the outermost first."""
    if not levels:
        return x
    return p.Map(_each(p.Arg(element_type(x)), levels[1:]), x, levels[0])


def _lengths(t: Type) -> list[Size]:
    """The lengths of nested arrays, the outermost first."""
    return [t.length, *_lengths(t.element)] if isinstance(t, Array) else []
