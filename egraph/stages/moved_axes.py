"""Where the axes of a view come from: through layouts that only move them, to the array below.

map transpose (transpose A), axes a b c  ->  A, axes b c a
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeAlias, cast

from egglift.egraph.stages.stage import Dim, Read
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr

Axes: TypeAlias = tuple[Hashable, ...]
#: an array, and what its outer axes are
Below: TypeAlias = tuple[Expr, Axes]
#: what the argument of a body is bound to: an element of an array, its axis, and what that array's argument is bound to
Bound: TypeAlias = "tuple[Expr, Hashable, Bound] | None"


def below(x: Expr, axes: Iterable[Hashable], through: Callable[[Expr, Axes], Below | None]) -> Below:
    """The array below maps, transpositions, and the layouts that `through` sees through; and what its axes are.

    through: from a layout and its axes to what is laid out and its axes; None where it does not know.
    """

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
        while bound is not None:
            x, axis, bound = bound
            e, axes = p.Map(e, x), (axis, *axes)
        return e, axes

    return at(x, tuple(axes), None)


def plain_read(read: Read) -> Read:
    """A read without transpositions: at its dimensions in another order.

    (transpose A)[0, 1] -> A[1, 0]
    """
    view, axes = below(read.view, read.dims, lambda e, axes: None)
    return Read(view, cast(tuple[Dim, ...], axes))
