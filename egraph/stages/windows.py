"""What is computed of windows of an array, computed of the array: windows overlap, so their elements are fewer.

    sum_2 (map (map f) (slide 11 1 A))[0, 1, 2]   =   (slide 11 1 s)[0, 1],   s[0] = sum_1 (map f A)[0, 1]

A reduction that reads an array at a window's number and at a place within the window depends on where that place lies
in the array, and on nothing else of the two.  As a law on patterns, map (map f) (slide n s x) = slide n s (map f x).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import prod

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.moved_axes import Axes, Below, below
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, number
from egglift.ir import patterns as p
from egglift.ir.axes import length_of, permuted
from egglift.ir.patterns import Expr

#: a reduction over fewer elements is computed for each window: to write it would take longer than it saves
WORTH = 16


@dataclass(frozen=True)
class Windows:
    """A reduction over windows as one over the array of which they are: its dimension is `base`."""

    reduction: Reduction
    base: Dim
    window: Dim
    place: Dim
    slide: p.Slide

    def of(self, read: Read) -> Read:
        """What is read of the array, read in windows."""
        return read.along(self.base, lambda x: p.Slide(self.slide.size, self.slide.step, x), (self.window, self.place))


def of_windows(names: Names, r: Reduction, dims: Sequence[Dim]) -> Windows | None:
    """A reduction that depends on two of `dims` only through windows that overlap; None if there are none such."""
    if not names.is_closed(r.init):
        return None
    reads = reads_of(names, r.element)
    for window, place in permutations(dims, 2):
        touched = [x for x in reads if window in x.dims or place in x.dims]
        if all(window in x.dims and place in x.dims for x in touched) and (
            found := _base(names, r, touched, window, place)
        ):
            return found
    return None


def shared_by_windows(names: Names, r: Reduction, places: Sequence[Dim]) -> bool:
    """Is a reduction a long one that windows, whose places are one of these dimensions, share?"""
    if prod(map(number, r.dims)) < WORTH:
        return False
    others = sorted(names.free(r.element) - {*places, *r.dims}, key=lambda d: d.number)
    found = (of_windows(names, r, (window, place)) for window in others for place in places)
    return any(w is not None and w.place in places for w in found)


def _base(names: Names, r: Reduction, reads: Sequence[Read], window: Dim, place: Dim) -> Windows | None:
    known = {x: unslid(x.view, len(x.dims), x.dims.index(window), x.dims.index(place)) for x in reads}
    found = [x for x in known.values() if x is not None]
    if not found or len(found) < len(known) or len({(x.slide.size, x.slide.step) for x in found}) > 1:
        return None
    slide, lengths = found[0].slide, {x.length for x in found}
    if len(lengths) > 1 or (length := found[0].length) >= number(window) * number(place):
        return None
    base = names.dim(length)

    def at_base(read: Read) -> Read:
        view = known.get(read)
        if view is None:
            return read
        return Read(view.x, tuple(base if d == window else d for d in read.dims if d != place))

    return Windows(replace(r, element=names.with_reads(r.element, at_base)), base, window, place, slide)


@dataclass(frozen=True)
class Unslid:
    """An array without the windows that `slide` makes along one of its axes, which is `length` long."""

    x: Expr
    slide: p.Slide
    length: int


def unslid(x: Expr, rank: int, window: int, place: int) -> Unslid | None:
    """`x`, of which `rank` axes count, with one, where that of windows was, for those of windows and of places in them.

    unslid(map (slide n s) A, 3, 1, 2) -> A; unslid(map transpose (slide n s A), 3, 0, 2) -> A
    """
    found: list[p.Slide] = []

    def through(e: Expr, axes: Axes) -> Below | None:
        if not isinstance(e, p.Slide) or axes[:2] != (window, place):
            return None
        found.append(e)
        return e.x, (window, *axes[2:])

    array, axes = below(x, range(rank), through)
    length = length_of(found[0].x) if found else None
    if place in axes or not isinstance(length, int):
        return None
    return Unslid(permuted(array, axes, [a for a in range(rank) if a != place]), found[0], length)
