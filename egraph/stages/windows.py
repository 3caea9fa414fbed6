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
from egglift.egraph.stages.moved_axes import Along, Axes, Below, along_axis, below, is_filled, relaid
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, number
from egglift.ir import patterns as p
from egglift.ir.axes import length_of, permuted
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import BOOL

#: a reduction over fewer elements, or that saves fewer steps, is computed for each window: to write it takes as long
WORTH = 16
#: what layouts are compared on
_ANY = p.Fill(1 << 40, p.Literal(True, BOOL))


@dataclass(frozen=True)
class Windows:
    """A reduction over windows as one over the array of which they are: its dimension is `base`.

    picked: layouts that say which windows there are, the last of them first.
    """

    reduction: Reduction
    base: Dim
    window: Dim
    place: Dim
    slide: p.Slide
    picked: tuple[Along, ...] = ()

    def of(self, read: Read) -> Read:
        """What is read of the array, read in windows."""

        def windows(x: Expr) -> Expr:
            found: Expr = p.Slide(self.slide.size, self.slide.step, x)
            for layout in reversed(self.picked):
                found = relaid(layout, found)
            return found

        return read.along(self.base, windows, (self.window, self.place))


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


def shared_by_windows(names: Names, r: Reduction, places: Sequence[Dim], saving: bool = True) -> bool:
    """Is a reduction a long one that windows, whose places are one of these dimensions, share?  saving: or does it save
    many steps?"""
    own, of_window = prod(map(number, r.dims)), max((number(d) for d in places), default=1)
    if own < WORTH and not (saving and _saves(r, own, of_window)):
        return False
    others = sorted(names.free(r.element) - {*places, *r.dims}, key=lambda d: d.number)
    found = (of_windows(names, r, (window, place)) for window in others for place in places)
    return any(w is not None and w.place in places for w in found)


def _saves(r: Reduction, own: int, of_window: int) -> bool:
    """Does it save many steps if windows share it?  Of elements that are computed, a step is all of their operations;
    what is half of all is worth to be written."""
    each, apart = own * of_window, own + of_window
    operations = sum(isinstance(t, p.Apply) for t in subterms(r.element))
    return each - apart >= WORTH or (each >= 2 * apart and (each - apart) * (1 + operations) >= 2 * WORTH)


def lying_near(read: Read) -> tuple[Dim, ...]:
    """The dimensions along which neighbours are read side by side: the last one, and that of its windows.

    A[0,1] -> 1; (map (slide 7 1) A)[0,1,2] -> 2, 1
    """
    rank = len(read.dims)
    windows = (i for i in range(rank - 1) if unslid(read.view, rank, i, rank - 1) is not None)
    return (*read.dims[-1:], *(read.dims[i] for i in windows))


def by_windows_apart(
    names: Names, step: Expr, dims: tuple[Dim, ...], element: Expr, op: p.Operator | None, down: bool = False
) -> tuple[tuple[Dim, ...], Expr]:
    """A reduction's dimensions and element, where windows in several directions are taken one direction at a time.

    The innermost direction first; or the outermost, down the columns, where the operator commutes.

    max_2,3 (windows of windows of A)[0,1,2,3]  ->  max_2 of max_3 ..., which windows of the other direction share
                                                ->  max_3 of max_2 ..., down
    """
    if op is None or op.neutral is None or len(dims) < 2:
        return dims, element
    if down and not op.commutative:
        return dims, element
    outer, others = (dims[-1:], dims[:-1]) if down else (dims[:1], dims[1:])
    inner_dims, inner_element = by_windows_apart(names, step, others, element, op, down)
    inner = Reduction(step, op.neutral, inner_dims, inner_element, op)
    if not shared_by_windows(names, inner, outer):
        return dims, element
    return outer, names.reduced(inner)


def _base(names: Names, r: Reduction, reads: Sequence[Read], window: Dim, place: Dim) -> Windows | None:
    known = {x: unslid(x.view, len(x.dims), x.dims.index(window), x.dims.index(place)) for x in reads}
    found = [x for x in known.values() if x is not None]
    if not found or len(found) < len(known) or len({(x.slide.size, x.slide.step) for x in found}) > 1:
        return None
    if len({tuple(relaid(layout, _ANY) for layout in x.picked) for x in found}) > 1:
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

    of_base = replace(r, element=names.with_reads(r.element, at_base))
    return Windows(of_base, base, window, place, slide, found[0].picked)


@dataclass(frozen=True)
class Unslid:
    """An array without the windows that `slide` makes along one of its axes, which is `length` long; picked: see
    `Windows`."""

    x: Expr
    slide: p.Slide
    length: int
    picked: tuple[Along, ...] = ()


def unslid(x: Expr, rank: int, window: int, place: int) -> Unslid | None:
    """`x`, of which `rank` axes count, with one, where that of windows was, for those of windows and of places in them.

    unslid(map (slide n s) A, 3, 1, 2) -> A; unslid(map transpose (slide n s A), 3, 0, 2) -> A
    """
    found: list[p.Slide] = []
    picked: list[Along] = []

    def through(e: Expr, axes: Axes) -> Below | None:
        if isinstance(e, p.Slide) and axes[:2] == (window, place):
            found.append(e)
            return e.x, (window, *axes[2:])
        layout = along_axis(e) if not found and axes[:1] == (window,) else None
        if layout is not None and not is_filled(layout):
            picked.append(layout)
            return layout.x, axes
        return None

    array, axes = below(x, range(rank), through, lambda axis: axis not in (window, place))
    length = length_of(found[0].x) if found else None
    if place in axes or not isinstance(length, int):
        return None
    return Unslid(permuted(array, axes, [a for a in range(rank) if a != place]), found[0], length, tuple(picked))
