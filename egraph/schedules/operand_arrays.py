"""Operands as arrays over digits: cut as a schedule says, and kept in a memory space."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

from egglift.egraph.schedules.schedule import Keep, Loop, Schedule
from egglift.egraph.stages.loops import Tensor, nest
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.stage import Dim
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, cut, length_of, merged, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import Size, SizeOp
from egglift.ir.types import Array

#: the how-many-th digit of a dimension
Digit: TypeAlias = tuple[Dim, int]


def cut_operand(
    o: Operand, schedule: Schedule, reduced: Sequence[Dim], rest: Dim | None = None
) -> tuple[Expr, list[Digit]]:
    """An operand and its axes, one for each digit.

    Parallel dimensions are padded up to whole blocks; of reduced ones the whole blocks are taken.  rest: a reduced
    dimension of which what is left over is wanted, of those before it their whole blocks, of those behind it all.
    """
    x, axes = o.array, list[Digit]()
    before = reduced[: reduced.index(rest)] if rest is not None else reduced
    for d in o.dims:
        blocks, depth = schedule.blocks(d), len(axes)
        if blocks and d == rest:
            x = at_depth(depth, x, lambda e, b=blocks[0]: p.Drop(_whole(e, b), e))  # type: ignore[misc]
        elif blocks and d in before:
            x = at_depth(depth, x, lambda e, b=blocks[0]: p.Take(_whole(e, b), e))  # type: ignore[misc]
        elif blocks and d not in reduced:
            x = at_depth(depth, x, lambda e, b=blocks[0]: p.PadUp(b, e))  # type: ignore[misc]
        if d in reduced and rest is not None:
            blocks = ()
        x = cut(x, depth, blocks)
        axes += [(d, i) for i in range(len(blocks) + 1)]
    return x, axes


def packed(t: Tensor, loops: Sequence[Loop]) -> Tensor:
    """A tensor as a copy in global memory, made by loops like those that read it, in the order in which they do.

    A[0, 2, 1] -> toGlobal (mapGlobal0 (mapSeq (mapVec id)) A), where 0 is a loop of the grid, 2 one of a reduction, and
    1 one of lanes: blocks lie one behind the other, and each is read from its beginning to its end

    Without lanes, steps of a reduction are neighbours: compilers make one load, and shuffles, of neighbours that are
    wanted one by one.
    """
    levels = {(loop.dim, loop.digit): loop.level for loop in loops}
    order = list(t.axes)
    if Level("vec") not in (levels[a] for a in order):  # type: ignore[index]
        order.sort(key=lambda a: levels[a] is None)  # type: ignore[index]
    copy = nest([(a, levels[a] or Level("seq")) for a in t.axes], [t], lambda ts: ts[0].x)  # type: ignore[index]
    stored = p.To("global", permuted(copy, t.axes, order))
    return replace(t, x=permuted(stored, order, t.axes))


def kept(keep: Keep, tensors: Sequence[Tensor], reduced: Collection[Dim]) -> list[Tensor]:
    """The tensors, one of them as a copy in a memory space.

    In local memory it is an array over dimensions, not over their digits, those of reductions outermost, such that
    work-items that own neighbours read neighbours; or innermost, where the schedule says so.
    """
    t = tensors[keep.operand]
    found = list(tensors)
    found[keep.operand] = (
        replace(t, x=p.To("private", t.x)) if keep.space == "private" else _kept_local(t, keep, reduced)
    )
    return found


def _kept_local(t: Tensor, keep: Keep, reduced: Collection[Dim]) -> Tensor:
    axes: tuple[Digit, ...] = t.axes  # type: ignore[assignment]
    dims = list(dict.fromkeys(d for d, _ in axes))
    dims.sort(key=lambda d: (d in reduced) == keep.steps_inside)
    groups = [sorted((a for a in axes if a[0] == d), key=lambda a: a[1]) for d in dims]
    order = [a for group in groups for a in group]
    sizes = sizes_of([t])
    x = permuted(t.x, axes, order)
    for depth, group in enumerate(groups):
        x = merged(x, depth, len(group))
    x = p.To("local", x, *((keep.pad, keep.swizzle) if len(groups) > 1 else ()))
    depth = 0
    for group in groups:
        x = cut(x, depth, [_product([sizes[a] for a in group[i:]]) for i in range(1, len(group))])
        depth += len(group)
    return replace(t, x=permuted(x, order, axes))


def sizes_of(tensors: Sequence[Tensor]) -> dict[Digit, Size]:
    """How long the axis of each digit is."""
    found: dict[Digit, Size] = {}
    for t in tensors:
        inner = type_of(t.x)
        for a in t.axes:
            assert isinstance(inner, Array)
            found.setdefault(a, inner.length)  # type: ignore[arg-type]
            inner = inner.element
    return found


def _whole(x: Expr, block: Size) -> Size:
    """The length of `x` that whole blocks make up."""
    n = length_of(x)
    if isinstance(n, int) and isinstance(block, int):
        return n // block * block
    return SizeOp("*", SizeOp("/", n, block), block)


def _product(sizes: Sequence[Size]) -> Size:
    numbers = [s for s in sizes if isinstance(s, int)]
    if len(numbers) == len(sizes):
        return prod(numbers)
    found = sizes[0]
    for s in sizes[1:]:
        found = SizeOp("*", found, s)
    return found
