"""Arrays in another shape, mirrored and turned, by NumPy's names.  Nothing is computed."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from egglift.ir import patterns as p
from egglift.ir.axes import Axes, at_depth, axes_of, scalar_of_elements
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.lengths import Length
from egglift.ir.making import zeros
from egglift.ir.patterns import Expr
from egglift.ir.rearranging import moveaxis, ravel, swapaxes
from egglift.ir.text import brief
from egglift.ir.types import dims
from egglift.ir.value import Like, Value, as_value, typed
from egglift.ir.whole_numbers import whole


def reshape(x: Like, *shape: int | Sequence[int]) -> Value:
    """The elements, row by row, in another shape; one length may be -1: what is left.

    reshape(x, (2, 3)) -> split 3 x
    """
    v = as_value(x)
    wanted = _lengths(v, [n for s in shape for n in (s if isinstance(s, Sequence) else (s,))])
    if 0 in wanted:
        return zeros(wanted, scalar_of_elements(v.expr))
    found = ravel(v)
    for n in reversed(wanted[1:]):
        found = found.split(n)
    return found if wanted else found[0]


def _lengths(v: Value, wanted: list[int]) -> list[int]:
    own = v.shape
    if any(isinstance(n, Length) for n in own):
        raise TypeMismatch(
            f"reshape of {brief(v.expr)}: its lengths are known when a kernel is called; split or join it"
        )
    count, known = prod(own), prod(n for n in wanted if n != -1)  # type: ignore[arg-type]
    if wanted.count(-1) == 1 and known and count % known == 0:
        wanted = [int(count) // known if n == -1 else n for n in wanted]
    if -1 in wanted or prod(wanted) != count:
        raise ShapeError(f"reshape of {brief(v.expr)}, of shape {own}: {count} elements do not make {tuple(wanted)}")
    return [whole(n, "a length") for n in wanted]


def squeeze(x: Like, axis: Axes = None) -> Value:
    """The array without axes of length 1: those that are named, or all.  ShapeError where one is longer."""
    e = as_value(x).expr
    lengths = dims(type_of(e))
    axes = [a for a, n in enumerate(lengths) if n == 1] if axis is None else axes_of(e, axis)
    for a in reversed(axes):
        if lengths[a] != 1:
            raise ShapeError(f"squeeze of {brief(e)}, of shape {lengths}: axis {a} has length {lengths[a]}, and not 1")
        e = at_depth(a, e, lambda part: p.At(0, part))
    return typed(e)


def flip(x: Like, axis: Axes = None) -> Value:
    """The elements in the opposite order, along the axes that are named, or all."""
    e = as_value(x).expr
    for a in axes_of(e, axis):
        e = at_depth(a, e, _turned)
    return typed(e)


def _turned(part: Expr) -> Expr:
    return Value(part)[::-1].expr


def flipud(x: Like) -> Value:
    """The rows in the opposite order."""
    return flip(x, 0)


def fliplr(x: Like) -> Value:
    """The columns in the opposite order."""
    return flip(x, 1)


def rot90(x: Like, k: int = 1, axes: Sequence[int] = (0, 1)) -> Value:
    """A matrix turned k times by 90 degrees, from the first of two axes towards the second."""
    v = as_value(x)
    first, second = axes
    match k % 4:
        case 0:
            return v
        case 1:
            return flip(swapaxes(v, first, second), first)
        case 2:
            return flip(v, (first, second))
    return swapaxes(flip(v, first), first, second)


def permute_dims(x: Like, axes: Sequence[int]) -> Value:
    """The axes in another order: `y[i][j][k] = x[k][i][j]` for axes (1, 2, 0)."""
    return moveaxis(x, list(axes), list(range(len(axes))))


def matrix_transpose(x: Like) -> Value:
    """The last two axes exchanged."""
    return moveaxis(x, -1, -2)


def unstack(x: Like, axis: int = 0) -> tuple[Value, ...]:
    """The parts along an axis, one by one: at most 64."""
    return tuple(moveaxis(x, axis, 0))


explain(globals())
