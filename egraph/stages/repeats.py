"""What is computed of repeated elements, computed of each once.

    sum_2 (fill 5 A)[0, 1, 2]                =   s[1],                       s[0] = sum_1 A[0, 1]
    sum_1 (join (map (fill 5) A))[0, 1]      =   (join (map (fill 5) s))[0], s[0] = sum_1 A[0, 1]
    sum_1 (join (fill 5 A))[0, 1]            =   (join (fill 5 s))[0],       s[0] = sum_1 A[0, 1]

A statistic of a group of channels is one number for all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.moved_axes import Axes, Below, below
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, length_of, permuted
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size

#: names of the two axes that were joined to one
RUNS, PLACES = "runs", "places"


@dataclass(frozen=True)
class Repeats:
    """A reduction that is the same for runs of indices of `dim`, as one for each run: its dimension is `base`.

    base: None where it is the same for all indices; times: how long a run is, or how often all indices of `base` come
    one after the other (`around`).
    """

    reduction: Reduction
    dim: Dim
    base: Dim | None
    times: Size
    around: bool = False

    def of(self, read: Read) -> Read:
        """What is read for each run, read for each index."""
        if self.base is None:
            return read
        depth = 0 if self.around else 1
        return read.along(self.base, lambda x: p.Join(at_depth(depth, x, lambda e: p.Fill(self.times, e))), (self.dim,))


def of_repeats(names: Names, r: Reduction, dims: Sequence[Dim]) -> Repeats | None:
    """A reduction whose elements are repeated along one of `dims`; None where they are not."""
    if not names.is_closed(r.init):
        return None
    reads = reads_of(names, r.element)
    for dim in dims:
        once = {x: unrepeated(x.view, len(x.dims), x.dims.index(dim)) for x in reads if x.dims.count(dim) == 1}
        found = [x for x in once.values() if x is not None]
        alike = len({(x.runs, x.times, x.around) for x in found}) == 1
        if alike and len(found) == sum(dim in x.dims for x in reads):
            base = None if found[0].runs is None else names.dim(found[0].runs)
            return Repeats(_of_each_run(names, r, once, dim, base), dim, base, found[0].times, found[0].around)
    return None


def _of_each_run(
    names: Names, r: Reduction, once: dict[Read, Unrepeated | None], dim: Dim, base: Dim | None
) -> Reduction:
    def first(read: Read) -> Read:
        view = once.get(read)
        if view is None:
            return read
        run = () if base is None else (base,)
        return Read(view.x, tuple(e for d in read.dims for e in (run if d == dim else (d,))))

    return replace(r, element=names.with_reads(r.element, first))


@dataclass(frozen=True)
class Unrepeated:
    """An array without repetitions along an axis: so many runs, None where all is one, of so many times each.

    around: not each element is repeated, but all of them, one after the other.
    """

    x: Expr
    runs: Size | None
    times: Size
    around: bool = False


def unrepeated(x: Expr, rank: int, axis: int) -> Unrepeated | None:
    """`x`, of which `rank` axes count, with runs of one element each along an axis, or without it if all are one.

    unrepeated(fill n A, 2, 0) -> A; unrepeated(map (join . map (fill n)) A, 2, 1) -> A;
    unrepeated(map (join . fill n) A, 2, 1) -> A
    """
    times: list[Size] = []
    joined: list[Hashable] = []

    def through(e: Expr, axes: Axes) -> Below | None:
        match e:
            case p.Join(y) if axes[:1] == (axis,):
                return y, (RUNS, PLACES, *axes[1:])
            case p.Fill(n, y) if axes[:1] in ((axis,), (PLACES,), (RUNS,)):
                times.append(n)
                return y, axes[1:]
            case p.Join(y) if axes and not times and axes[0] not in (RUNS, PLACES):
                joined.append(axes[0])
                return y, ((axes[0], RUNS), (axes[0], PLACES), *axes[1:])
        return None

    array, axes = below(x, range(rank), through)
    left = [a for a in axes if a in (axis, RUNS, PLACES)]
    if axis in left or len(left) > 1 or not times:
        return None
    for other in reversed(joined):
        both = (other, RUNS), (other, PLACES)
        rest = [a for a in axes if a not in both]
        array, axes = p.Join(permuted(array, axes, [*both, *rest])), (other, *rest)
    order = [left[0] if a == axis else a for a in range(rank) if a != axis or left]
    runs = length_at(array, axes.index(left[0])) if left else None
    return Unrepeated(permuted(array, axes, order), runs, times[-1], PLACES in left)


def length_at(x: Expr, depth: int) -> Size:
    """The length of the axis so many axes down."""
    lengths: list[Size] = []

    def found(e: Expr) -> Expr:
        lengths.append(length_of(e))
        return e

    at_depth(depth, x, found)
    return lengths[0]
