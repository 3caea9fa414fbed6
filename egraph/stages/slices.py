"""What is computed of several slices of an array, computed of the array once.

    tanh (sum_1 (take 4 W)[0,1] * x[1]) * (sum_1 (drop 4 W)[0,1] * x[1])
    ->  s[0] = sum_1 W[0,1] * x[1];  tanh (take 4 s)[0] * (drop 4 s)[0]

Slices that overlap would compute some elements twice; those that do not are one stage with more to share out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.moved_axes import Axes, Below, below
from egglift.egraph.stages.repeats import length_at
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction
from egglift.ir import patterns as p
from egglift.ir.axes import length_of, permuted
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size


@dataclass(frozen=True)
class Slice:
    """A dimension that goes through a part of an axis: the part from `start` on of what is read at `base`."""

    dim: Dim
    base: Dim
    start: int

    def of(self, read: Read) -> Read:
        """What is read of the whole, read of the slice."""

        def cut(x: Expr) -> Expr:
            rest = p.Drop(self.start, x) if self.start else x
            return rest if length_of(rest) == self.dim.extent else p.Take(self.dim.extent, rest)

        return read.along(self.base, cut, (self.dim,))


@dataclass(frozen=True)
class Slices:
    """A reduction of slices as one of what they are of."""

    reduction: Reduction
    slices: tuple[Slice, ...]

    def of(self, read: Read) -> Read:
        """What is read of the whole, read of the slices."""
        for s in self.slices:
            read = s.of(read)
        return read


def of_slices(names: Names, r: Reduction) -> Slices:
    """A reduction with the whole of each axis of which it reads one slice at a dimension."""
    found = []
    for dim in sorted(names.free(r.element) - set(r.dims), key=lambda d: d.number):
        reads = {x: unsliced(x.view, len(x.dims), x.dims.index(dim)) for x in _at(names, r, dim)}
        whole = {(x.start, x.length) for x in reads.values()}
        if len(whole) == 1 and (length := next(iter(whole))[1]) != dim.extent:
            base = names.dim(length)
            r = replace(r, element=names.with_reads(r.element, _whole({x: reads[x].x for x in reads}, dim, base)))
            found.append(Slice(dim, base, next(iter(whole))[0]))
    return Slices(r, tuple(found))


def _at(names: Names, r: Reduction, dim: Dim) -> Iterator[Read]:
    return (x for x in reads_of(names, r.element) if dim in x.dims)


def _whole(known: dict[Read, Expr], dim: Dim, base: Dim) -> Callable[[Read], Read]:
    def at_base(read: Read) -> Read:
        return Read(known[read], tuple(base if d == dim else d for d in read.dims)) if read in known else read

    return at_base


@dataclass(frozen=True)
class Unsliced:
    """An array with the whole of an axis, which is `length` long, of which a part from `start` on was read."""

    x: Expr
    start: int
    length: Size


def unsliced(x: Expr, rank: int, axis: int) -> Unsliced:
    """`x`, of which `rank` axes count, with the whole of one.

    unsliced(drop 2 (take 5 A), 2, 0) -> A, from 2 on
    """
    starts: list[int] = []

    def through(e: Expr, axes: Axes) -> Below | None:
        match e:
            case p.Take(_, y) if axes[:1] == (axis,):
                return y, axes
            case p.Drop(int(n), y) if axes[:1] == (axis,):
                starts.append(n)
                return y, axes
        return None

    array, axes = below(x, range(rank), through)
    whole = permuted(array, axes, list(range(rank)))
    return Unsliced(whole, sum(starts), length_at(whole, axis))
