"""Results whose reductions read the same for runs of indices, in the shape that has runs as an axis.

    [ x[0,1] / max_2 (map (join . map (fill 32)) A)[0,1,2]  for 0 < n, for 1 < 32 * m ]
    ->  s[0,1,2] = x'[0,1,2] / max_3 A[0,1,3]  for 0 < n, for 1 < m, for 2 < 32;   map join s

Blocks that are scaled by a statistic of their own, and written in the shape of what they were cut from: in that shape
each element would reduce its block anew.  Products of the blocks on a diagonal are a batch of products, and no product
whose operands are laid out anew for each element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.repeats import unrepeated
from egglift.egraph.stages.reshapes import without_reshapes
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, number
from egglift.ir import patterns as p
from egglift.ir.axes import merged
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr

#: indices of a run at least: an axis of fewer makes poor tiles, and what they have in common is computed again
LEAST = 8


@dataclass(frozen=True)
class ResultRuns:
    """A body over dimensions of which one is cut: it is number `at` and the next one."""

    dims: tuple[Dim, ...]
    body: Expr
    at: int

    def whole(self, array: Expr) -> Expr:
        """The array over the dimensions as they were."""
        return merged(array, self.at, 2)


def result_runs(names: Names, dims: Sequence[Dim], body: Expr) -> ResultRuns | None:
    """A body with one of `dims` as runs and places in them; None where none of its reductions, for all of
    its indices, reads in runs."""
    reductions = [r for _, r in names.of(body) if isinstance(r, Reduction)]
    own = [r for r in reductions if names.free(r.element) - set(r.dims) == frozenset(dims)]
    reads = [x for r in own for x in reads_of(names, r.element)]
    for dim in dims:
        if isinstance(dim.extent, Length) or any(x.dims.count(dim) > 1 for x in _all_reads(names, body)):
            continue
        for inner in filter(None, (_inner(x, dim) for x in reads if dim in x.dims)):
            return _cut(names, dims, body, dim, inner)
    return None


def _inner(read: Read, dim: Dim) -> int | None:
    """How many indices of a dimension follow each other before there is another run, or the first one again."""
    found = unrepeated(read.view, len(read.dims), read.dims.index(dim))
    if found is None or found.runs is None:
        return None
    inner = found.runs if found.around else found.times
    return inner if isinstance(inner, int) and LEAST <= inner < number(dim) else None


def _cut(names: Names, dims: Sequence[Dim], body: Expr, dim: Dim, times: int) -> ResultRuns:
    runs, places = names.dim(number(dim) // times), names.dim(times)

    def digits(read: Read) -> Read:
        if dim not in read.dims:
            return read
        return without_reshapes(read.along(dim, lambda x: p.Split(times, x), (runs, places)))

    at = list(dims).index(dim)
    return ResultRuns((*dims[:at], runs, places, *dims[at + 1 :]), names.with_reads(body, digits), at)


def _all_reads(names: Names, body: Expr) -> list[Read]:
    """The reads in a body, and in its reductions."""
    return [*reads_of(names, body), *(x for r in names.within(body) for x in reads_of(names, r.element))]
