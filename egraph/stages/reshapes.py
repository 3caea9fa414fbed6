"""Reads of arrays in another shape and back, and of what was repeated before: in their simplest form.

    (join (map (split 8) A))[0, 1, 2]                            ->  A[.., 1, 2]      for what was in that shape before
    (map join (split 8 (join (map (fill 64) m))))[0, 1]          ->  m[0]             for runs of 64, in eights
    (split 4 (join (fill 8 m)))[0, 1]                            ->  (split 4 m)[..]

An index of a layout is digits of the dimensions: `join` takes those apart of which `split` has put an index together,
and what fills an axis depends on none of its digits.  A statistic of a group of channels, whose elements lie in another
shape, is then one number for each group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias, cast

from egglift.egraph.stages.moved_axes import Axes, Below, below
from egglift.egraph.stages.repeats import length_at
from egglift.egraph.stages.stage import Dim, Read, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, cut, merged, permuted
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms


@dataclass(frozen=True)
class Digit:
    """`index // stride % length` of the index of a dimension."""

    dim: Dim
    stride: int
    length: int


#: an index of an axis: its digits, the first of which counts the longest runs
Digits: TypeAlias = tuple[Digit, ...]


def without_reshapes(read: Read) -> Read:
    """A read without layouts that undo each other, and without dimensions along which it is the same; as it is where
    that is no simpler."""
    kinds = {type(t) for t in subterms(read.view)} & {p.Split, p.Join, p.Fill}
    if len(kinds) < 2 or len(set(read.dims)) < len(read.dims) or any(isinstance(d.extent, Length) for d in read.dims):
        return read
    array, axes = below(read.view, [_whole(d) for d in read.dims], _through)
    found = _rebuilt(array, [cast(Digits, a) for a in axes], read.dims)
    return found if found is not None and _size(found) < _size(read) else read


def _size(read: Read) -> tuple[int, int]:
    return len(read.dims), sum(1 for t in subterms(read.view) if not isinstance(t, p.Arg | p.Map))


def _whole(d: Dim) -> Digits:
    return (Digit(d, 1, number(d)),) if number(d) > 1 else ()


def _through(e: Expr, axes: Axes) -> Below | None:
    digits = cast(tuple[Digits, ...], axes)
    match e:
        case p.Split(int(), x) if len(axes) > 1:
            return x, (_together(digits[0] + digits[1]), *axes[2:])
        case p.Join(x) if axes and (apart := _apart(digits[0], length_at(x, 1))) is not None:
            return x, (*apart, *axes[1:])
        case p.Fill(_, x) if axes:
            return x, axes[1:]
    return None


def _together(digits: Digits) -> Digits:
    """Digits that go on in each other are one."""
    found: list[Digit] = []
    for d in digits:
        if found and found[-1].dim == d.dim and found[-1].stride == d.stride * d.length:
            d = Digit(d.dim, d.stride, found.pop().length * d.length)
        found.append(d)
    return tuple(found)


def _apart(digits: Digits, rows: object) -> tuple[Digits, Digits] | None:
    """The digits of the number of a row, and of the place in it, in rows of that length; None if they are not so."""
    if not isinstance(rows, int):
        return None
    inner: Digits = ()
    for i in reversed(range(len(digits))):
        left = rows // prod(d.length for d in inner)
        d = digits[i]
        if left == 1:
            return digits[: i + 1], inner
        if left % d.length == 0:
            inner = (d, *inner)
        elif d.length % left == 0:
            outer = Digit(d.dim, d.stride * left, d.length // left)
            return (*digits[:i], outer), (Digit(d.dim, d.stride, left), *inner)
        else:
            return None
    return ((), inner) if prod(d.length for d in inner) == rows else None


def _rebuilt(array: Expr, axes: Sequence[Digits], dims: Sequence[Dim]) -> Read | None:
    """The read of an array whose axes are at these digits; None where a dimension's digits overlap or leave gaps that
    fit no repetition."""
    digits: list[Digit] = []
    for axis in axes:
        blocks = [prod(d.length for d in axis[i + 1 :]) for i in range(len(axis) - 1)]
        array = cut(array, len(digits), blocks) if axis else at_depth(len(digits), array, lambda e: p.At(0, e))
        digits += axis
    read = tuple(dict.fromkeys(d.dim for d in digits))
    wanted = [d for dim in read for d in sorted(_of(digits, dim), key=lambda d: -d.stride)]
    array = permuted(array, digits, wanted)
    for depth, dim in enumerate(read):
        array_or_none = _one_axis(array, depth, dim, [d for d in wanted if d.dim == dim])
        if array_or_none is None:
            return None
        array = array_or_none
    return Read(array, read) if set(read) <= set(dims) else None


def _of(digits: Iterable[Digit], dim: Dim) -> list[Digit]:
    return [d for d in digits if d.dim == dim]


def _one_axis(x: Expr, depth: int, dim: Dim, digits: Sequence[Digit]) -> Expr | None:
    """`x` with one axis for those of the digits of a dimension, from `depth` on, repeated where digits are missing."""
    count, above = 0, number(dim)
    for d in (*digits, None):
        below_it = d.stride * d.length if d else 1
        if above % below_it:
            return None
        if above > below_it:
            x = at_depth(depth + count, x, lambda e, n=above // below_it: p.Fill(n, e))  # type: ignore[misc]
            count += 1
        if d:
            count, above = count + 1, d.stride
    return merged(x, depth, count)
