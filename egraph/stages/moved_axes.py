"""Where the axes of a view come from: through layouts that only move them, to the array below.

map transpose (transpose A), axes a b c  ->  A, axes b c a
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TypeAlias, cast

from egglift.egraph.stages.stage import Dim, Read
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import is_closed, replaced
from egglift.ir.types import dims

Axes: TypeAlias = tuple[Hashable, ...]
#: an array, and what its outer axes are
Below: TypeAlias = tuple[Expr, Axes]
#: what the argument of a body is bound to: an element of an array, its axis, and what that array's argument is bound to
Bound: TypeAlias = "tuple[Expr, Hashable, Bound] | None"


#: layouts that say of one axis which of its elements are where
Along = p.Pad | p.PadUp | p.Take | p.Drop | p.Roll | p.Stride


def below(
    x: Expr,
    axes: Iterable[Hashable],
    through: Callable[[Expr, Axes], Below | None],
    aside: Callable[[Hashable], bool] = lambda axis: False,
) -> Below:
    """The array below maps, transpositions, and the layouts that `through` sees through; and what its axes are.

    through: from a layout and its axes to what is laid out and its axes; None where it does not know.  aside: layouts
    along such an axis stay, and windows along two such: they are about nothing else, and come on top of what is found
    below them.
    """
    kept: list[tuple[Hashable, Along | p.Slide]] = []

    def at(e: Expr, axes: Axes, bound: Bound) -> Below:
        match e:
            case p.Map(body, x, None) if axes:
                return at(body, axes[1:], (x, axes[0], bound))
            case p.Arg() if bound is not None:
                x, axis, outer = bound
                return at(x, (axis, *axes), outer)
            case p.Transpose(x) if len(axes) > 1:
                return at(x, (axes[1], axes[0], *axes[2:]), bound)
        if (found := through(e, axes)) is not None:
            return at(*found, bound)
        if axes and aside(axes[0]) and (layout := along_axis(e)) is not None:
            kept.append((axes[0], layout))
            return at(layout.x, axes, bound)
        if len(axes) > 1 and all(map(aside, axes[:2])) and isinstance(e, p.Slide):
            kept.append((axes[:2], e))
            return at(e.x, (axes[:2], *axes[2:]), bound)
        while bound is not None:
            x, axis, bound = bound
            e, axes = p.Map(e, x), (axis, *axes)
        return e, axes

    array, found = at(x, tuple(axes), None)
    for axis, kind in reversed(kept):
        place = found.index(axis)
        array = at_depth(place, array, lambda e, like=kind: relaid(like, e))  # type: ignore[misc]
        if isinstance(kind, p.Slide) and isinstance(axis, tuple):
            found = (*found[:place], *axis, *found[place + 1 :])
    return array, found


def along_axis(e: Expr) -> Along | None:
    """`e`, if it is a layout along one axis, with the same at its ends everywhere, if anything."""
    if not isinstance(e, Along) or (isinstance(e, p.Pad | p.PadUp) and e.value is not None and not is_closed(e.value)):
        return None
    return e


def is_filled(e: Along) -> bool:
    """Does a layout put a value at the ends?"""
    return isinstance(e, p.Pad | p.PadUp) and e.value is not None


def relaid(layout: Along | p.Slide, x: Expr) -> Expr:
    """Another array in the same layout."""
    return replace(layout, x=x)


def plain_read(read: Read) -> Read:
    """A read without transpositions, at its dimensions in another order, and without axes of one element that go again.

    (transpose A)[0, 1] -> A[1, 0]; (join (transpose (fill 1 A)))[0] -> A[0]
    """
    view, axes = below(read.view, read.dims, without_ones)
    return Read(view, cast(tuple[Dim, ...], axes))


def straight(x: Expr) -> Expr:
    """`x` with what moves the axes of an input there and back again left out.

    map (get 0) (transpose (transpose A)) -> map (get 0) A
    """
    return replaced(x, _straight)


def _straight(e: Expr) -> Expr | None:
    if not isinstance(e, p.Transpose | p.Map):
        return None
    order = range(len(dims(type_of(e))))
    array, axes = below(e, order, lambda e, axes: None)
    return permuted(array, axes, order) if isinstance(array, p.Input) else None


def without_ones(e: Expr, axes: Axes) -> Below | None:
    """Through axes of one element that go again."""
    match e:
        case p.Join(p.Fill(1, x) | p.Transpose(p.Fill(1, x))) | p.At(0, p.Fill(1, x)):
            return x, axes
    return None
