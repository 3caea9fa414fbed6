"""How many neighbours in memory are copied at once, as a vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

from egglift.codegen.emission.builder import Builder, NotVector
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import is_aligned
from egglift.codegen.kernel.index import Index, Var, index
from egglift.codegen.kernel.views import View
from egglift.ir.lengths import Length, divides
from egglift.ir.types import BOOL, Scalar, Type

WIDE, TOGETHER = 64, 16  # bytes that one work-item copies at once: by itself, and with neighbours
#: the source and the target of an element
Pair: TypeAlias = Callable[[Index], tuple[View, View]]


def runs(em: Builder, t: Type, n: int, pair: Pair) -> list[tuple[int, int]]:
    """How n neighbours are moved, elements of type `t`: runs of so many, so many of them at once.

    A GPU reads vectors where they are aligned only: `x[8*i-1 .. 8*i+4]` is an element, four at once, and an element.
    """
    width = width_of(em, t, (n,), WIDE, pair, both=True)
    if not isinstance(t, Scalar) or isinstance(n, Length) or em.limits.warp == 1 or em.distribution.lane is not None:
        return [(n, width)]
    most = TOGETHER // t.size
    while most > 1:
        for head in range(most):
            body = (n - head) // most * most
            if body > 0 and _from_vectors(em, head, body, most, pair):
                return [run for run in ((head, 1), (body, most), (n - head - body, 1)) if run[0]]
        most //= 2
    return [(n, width)]


def _from_vectors(em: Builder, start: int, count: int, width: int, pair: Pair) -> bool:
    """Are `count` elements from `start` on copied from aligned vectors of global memory to registers?

    They may be where the first and the last elements are not: those may lie beyond an edge.
    """
    chunk, lane = Var("?c", count // width, "loop"), Var("?", width, "lane")
    match _plain(em, pair, index(chunk) * width + start + lane):
        case im.Load() as source, im.Load() as place:
            pass
        case _:
            return False
    near = source.at.coefficient(lane) == 1 and place.at.coefficient(lane) == 1
    spaces = source.buffer.space == "global" and place.buffer.space == "private" and place.buffer.lanes == 1
    return near and spaces and is_aligned(source.at.substitute({lane: 0}), width)


def width_of(
    em: Builder, t: Type, dims: Sequence[int], limit: int, pair: Pair, both: bool, aligned: bool = False
) -> int:
    """How many neighbours along the last of `dims` can be moved at once, elements of type `t`, at most `limit` bytes.

    pair: the source and the target of an element, counted through all dimensions.  They must be neighbours in memory,
    and aligned: both of them, or the one that is in global memory.  Where none are aligned, `both` may do without,
    unless they must be `aligned`.
    """
    if not isinstance(t, Scalar) or t == BOOL or em.distribution.lane is not None or not dims:
        return 1
    for anywhere in (False, True) if both and not aligned else (False,):
        width = widest = 1 << max(limit // t.size, 1).bit_length() - 1
        while width > 1 and not (
            divides(width, dims[-1], ask=width == widest) and _fits(em, width, prod(dims), pair, both, anywhere)
        ):
            width //= 2
        if width > 1:
            return width
    return 1


def _fits(em: Builder, width: int, total: int, pair: Pair, both: bool, anywhere: bool) -> bool:
    """Can `width` neighbours be moved at once?  anywhere: wherever they start in global memory."""
    lane, chunk = Var("?", width, "lane"), Var("?c", total // width, "loop")
    found = _plain(em, pair, index(chunk) * width + lane)
    if found is None:
        return False
    source, place = found
    if both:
        near = _adjacent(place, lane, anywhere)
        near = near and (_adjacent(source, lane, anywhere) or isinstance(source, im.Const))
    else:
        loads = [v for v in found if isinstance(v, im.Load)]
        near = len(loads) == 2 and any(_adjacent(v, lane) and v.buffer.space == "global" for v in loads)
    return near


def _plain(em: Builder, pair: Pair, i: Index) -> tuple[View, View] | None:
    """The source and the target of the elements that `i` counts; None where they take statements."""
    try:
        with em.probe() as statements:
            found = pair(i)
    except NotVector:  # which statements depends on the lane
        return None
    return None if statements else found


def _adjacent(v: View, lane: Var, anywhere: bool = False) -> bool:
    """Is `v` one vector in memory for all lanes?  anywhere: in global memory it may start at any element."""
    if not isinstance(v, im.Load) or v.buffer.lanes > 1 or v.at.coefficient(lane) != 1:
        return False
    return (anywhere and v.buffer.space == "global") or is_aligned(v.at.substitute({lane: 0}), lane.count)
