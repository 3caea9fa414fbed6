"""Arrays with their axes in another order or number, and repeated, by NumPy's names.  Nothing is computed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir import promotion
from egglift.ir.axes import at_depth, axes_of, axis_of, element_type, length_of, merged, permuted, scalar_of_elements
from egglift.ir.bounds import MOST
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError
from egglift.ir.keywords import explain
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size
from egglift.ir.text import brief
from egglift.ir.types import Scalar, dims
from egglift.ir.value import Like, Value, array_last, as_value, typed
from egglift.ir.whole_numbers import whole


def ravel(x: Like) -> Value:
    """All elements in one vector, row by row: of a scalar, a vector of one."""
    e = as_value(x).expr
    rank = len(dims(type_of(e)))
    return typed(merged(e, 0, rank) if rank else p.Fill(1, e))


def transpose(x: Like, *axes: int | Sequence[int]) -> Value:
    """`y[i][j] = x[j][i]`: the outer two axes exchanged; or all axes, in the order that is given.

    transpose(x, (1, 2, 0))[i][j][k] = x[k][i][j].  `x.T`, `x.transpose()` and `np.transpose(x)` reverse all axes, as in
    NumPy.
    """
    v = as_value(x)
    order = [a for given in axes for a in (given if isinstance(given, Sequence) else (given,))]
    if not order:
        return typed(p.Transpose(v.expr))
    rank = len(v.shape)
    if len(order) != rank:
        raise ShapeError(f"transpose of {brief(v.expr)}: it has {rank} axes, and {tuple(order)} names {len(order)}")
    return moveaxis(v, order, list(range(rank)))


def roll(shift: int | Sequence[int], x: Like, axis: int | Sequence[int] | None = 0) -> Value:
    """`y[(i + shift) % length] = x[i]`: every element so many places on, the last ones first; backwards where < 0.

    axis: along which; of several axes, one shift for each, or for all.  None: of all elements, read row by row.  The
    number comes first, as in all patterns; `numpy.roll(x, shift)` takes them the other way round, and axis=None.
    """
    v = array_last("roll(shift, x)", shift, x)
    if axis is None:
        return _shaped(_rolled(ravel(v).expr, sum(_numbers(shift))), v.shape)
    axes = list(axis) if isinstance(axis, Sequence) else [axis]
    shifts = _numbers(shift)
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    axes = axes * len(shifts) if len(axes) == 1 else axes
    if len(shifts) != len(axes):
        raise ShapeError(f"roll of {brief(v.expr)}: {len(shifts)} shifts along {len(axes)} axes; give one for each")
    e = v.expr
    for n, a in zip(shifts, axes):
        depth = axis_of(e, a)
        e = at_depth(depth, e, lambda part, n=n: _rolled(part, n))  # type: ignore[misc]
    return typed(e)


def _numbers(shift: int | Sequence[int]) -> list[int]:
    given = shift if isinstance(shift, Sequence) and not isinstance(shift, str) else (shift,)
    return [whole(n, "how far to roll", -MOST) for n in given]


def _rolled(e: Expr, n: int) -> Expr:
    length = length_of(e)
    assert isinstance(length, int)  # lengths in the notation are numbers
    return p.Roll(n % max(length, 1), e)


def _shaped(flat: Expr, shape: Sequence[Size]) -> Value:
    """A vector's elements in a shape."""
    for n in reversed(shape[1:]):
        flat = p.Split(n, flat)
    return typed(flat if shape else p.At(0, flat))


def concat(x: Like, *others: Like, axis: int = 0) -> Value:
    """The elements of one array after those of the other, along an axis: `concatenate` of a list."""
    first = as_value(x)
    e = moveaxis(first, axis, 0).expr if axis else first.expr
    for other in others:
        e = p.Concat(e, moveaxis(other, axis, 0).expr if axis else as_value(other).expr)
    return moveaxis(typed(e), 0, axis) if axis else typed(e)


def swapaxes(x: Like, axis1: int, axis2: int) -> Value:
    """Two axes exchanged: `swapaxes(x, 0, 1)` is `x.T`."""
    e = as_value(x).expr
    a, b = axis_of(e, axis1), axis_of(e, axis2)
    order = list(range(len(dims(type_of(e)))))
    order[a], order[b] = b, a
    return typed(permuted(e, range(len(order)), order))


def moveaxis(x: Like, source: int | Sequence[int], destination: int | Sequence[int]) -> Value:
    """Axes moved to other places; the others stay in their order.  ShapeError where they are not as many as places."""
    e = as_value(x).expr
    sources, places = _several(e, source), _several(e, destination)
    if len(sources) != len(places):
        raise ShapeError(f"moveaxis: {len(sources)} axes, {source}, go to {len(places)} places, {destination}")
    rank = len(dims(type_of(e)))
    order = [a for a in range(rank) if a not in sources]
    for place, a in sorted(zip(places, sources)):
        order.insert(place, a)
    return typed(permuted(e, range(rank), order))


def _several(e: Expr, axes: int | Sequence[int]) -> list[int]:
    """Axes of `e`, in the order in which they are given."""
    given = [axes] if isinstance(axes, int) else list(axes)
    axes_of(e, given)  # none is missing, or named twice
    return [axis_of(e, a) for a in given]


def expand_dims(x: Like, axis: int | Sequence[int]) -> Value:
    """New axes of length 1, at these places of the result."""
    e = as_value(x).expr
    given = [axis] if isinstance(axis, int) else list(axis)
    rank = len(dims(type_of(e))) + len(given)
    for a in given:
        if not -rank <= a < rank:
            raise ShapeError(f"expand_dims of {brief(e)}: the result has {rank} axes, and no axis {a}")
    places = sorted({a % rank for a in given})
    if len(places) < len(given):
        raise ShapeError(f"expand_dims of {brief(e)}: axes {given} name an axis twice")
    for a in places:
        e = at_depth(a, e, lambda part: p.Fill(1, part))
    return typed(e)


def broadcast_to(x: Like, shape: int | Sequence[int]) -> Value:
    """x repeated along new outer axes, and along axes of length 1, until it has the shape; ShapeError if it cannot."""
    e, wanted = as_value(x).expr, _shape(shape)
    own = dims(type_of(e))
    fits = len(own) <= len(wanted) and all(n in (1, m) for n, m in zip(reversed(own), reversed(wanted)))
    if not fits:
        raise ShapeError(
            f"broadcast_to: {brief(e)} has shape {own}, and cannot have {wanted}: from the last length on, "
            "each must be the same, or 1"
        )
    return typed(_broadcast(e, own, wanted))


def _broadcast(e: Expr, own: Sequence[Size], wanted: Sequence[int]) -> Expr:
    new = len(wanted) - len(own)
    for depth, (n, m) in enumerate(zip(own, wanted[new:])):
        if n != m:
            e = at_depth(depth, e, lambda part, m=m: p.Fill(m, p.At(0, part)))  # type: ignore[misc]
    return reduce(lambda inner, n: p.Fill(n, inner), reversed(wanted[:new]), e)


def tile(x: Like, reps: int | Sequence[int]) -> Value:
    """x repeated as a whole along each axis, the last number for the last axis; more numbers are new outer axes."""
    counts, e = list(_shape(reps)), as_value(x).expr
    rank = len(dims(type_of(e)))
    for _ in range(len(counts) - rank):
        e = p.Fill(1, e)
    counts = [1] * (rank - len(counts)) + counts
    for depth, n in enumerate(counts):
        if n != 1:
            e = at_depth(depth, e, lambda part, n=n: p.Join(p.Fill(n, part)))  # type: ignore[misc]
    return typed(e)


def repeat(x: Like, repeats: int, axis: int | None = None) -> Value:
    """Each element repeated so many times, in its place along an axis; None: of all elements in one vector."""
    e, n = as_value(x).expr, whole(repeats, "how often to repeat")
    if axis is None:
        e, depth = ravel(x).expr, 0
    else:
        depth = axis_of(e, axis)
    return typed(at_depth(depth, e, lambda part: p.Join(p.Map(p.Fill(n, p.Arg(element_type(part))), part))))


def beside(function: str, arrays: Any) -> Sequence[Like]:
    """The list of one or more arrays that a function puts beside each other, or an array, which is one of its parts."""
    is_array = isinstance(arrays, Value | np.ndarray)
    if not (arrays.shape if is_array else isinstance(arrays, Sequence)) or not len(arrays):
        raise ShapeError(
            f"arrays that are put beside each other are a list of one or more, and not {arrays!r}: {function}([x, y])"
        )
    found: Sequence[Like] = arrays
    return found


def stack(xs: Sequence[Like], axis: int = 0) -> Value:
    """Arrays of one shape along a new axis, at that place of the result; their elements meet at one type."""
    parts = [as_value(x).expr for x in beside("stack", xs)]
    shapes = [dims(type_of(e)) for e in parts]
    if len(set(shapes)) > 1:
        raise ShapeError(
            f"stack takes arrays of one shape, not {', '.join(map(str, shapes))}; broadcast_to makes them so"
        )
    t = reduce(promotion.promote, (scalar_of_elements(e) for e in parts))
    first, *rest = (Value(p.Fill(1, _as(e, t))) for e in parts)
    return moveaxis(first.concat(*rest), 0, axis)


def _as(e: Expr, t: Scalar) -> Expr:
    if scalar_of_elements(e) == t:
        return e
    return at_depth(len(dims(type_of(e))), e, lambda v: promotion.cast(v, t))


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    given = shape if isinstance(shape, Sequence) else (shape,)
    return tuple(whole(n, "a length") for n in given)


explain(globals())
