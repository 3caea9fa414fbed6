"""Several parallel dimensions of a stage as one: a grid has three dimensions, an index space any number.

[ e[0,1,2,3] ]  ->  split of  [ e[4 / n, 4 mod n, 2, 3] ]     4 counts through 0 and 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, cut, permuted
from egglift.ir.patterns import Expr


def joined_axes(read: Read, outer: Dim, inner: Dim, both: Dim) -> Read:
    """What is read with two dimensions as one, the first of which changes more slowly.

    x[outer, inner] -> (join x)[both]; x[outer] -> (join (map (fill n) x))[both]
    """
    if outer not in read.dims and inner not in read.dims:
        return read
    view, dims = read.view, read.dims
    for d in (outer, inner):
        if d not in dims:  # the same for all of its indices
            view, dims = p.Fill(d.extent, view), (d, *dims)
    order = [d for d in dims if d not in (outer, inner)]
    at = min(dims.index(outer), dims.index(inner), len(order))
    order[at:at] = [outer, inner]
    return Read(at_depth(at, permuted(view, dims, order), p.Join), (*order[:at], both, *order[at + 2 :]))


def merged_dims(stage: Stage, dims: Sequence[Dim]) -> Stage:
    """The stage with `dims`, in their order, as one dimension, which comes first."""
    first, *others = dims
    for d in others:
        assert isinstance(first.extent, int) and isinstance(d.extent, int)
        both = stage.names.dim(first.extent * d.extent)
        body = stage.names.with_reads(stage.body, lambda r, a=first, b=d, c=both: joined_axes(r, a, b, c))  # type: ignore[misc]
        left = tuple(x for x in stage.dims if x not in (first, d))
        stage, first = replace(stage, dims=(both, *left), body=body), both
    return stage


def restored(x: Expr, dims: Sequence[Dim], merged: Sequence[Dim]) -> Expr:
    """The array of a stage whose dimensions `merged` came first, as one, with its axes in the order of `dims`."""
    extents = [d.extent for d in merged]
    x = cut(x, 0, [prod(n for n in extents[i:] if isinstance(n, int)) for i in range(1, len(extents))])
    return permuted(x, [*merged, *(d for d in dims if d not in merged)], dims)


def merged_reductions(stage: Stage) -> Stage:
    """The stage with one dimension for all that its reductions run over, in their order; as it is where they have one.

    sum_2,3 x[0, 2, 3]  ->  sum_4 (map join x)[0, 4]
    """
    names, new = stage.names, dict[Expr, Expr]()
    several = {r.dims for r in stage.reductions if len(r.dims) > 1}
    if len(several) != 1 or not all(isinstance(d.extent, int) for dims in several for d in dims):
        return stage
    (dims,) = several
    merged = Merged(names, dims)
    for x, r in names.of(stage.body):
        if isinstance(r, Reduction) and r.dims == dims and names.is_closed(r.init):
            new[x] = names.reduced(replace(r, dims=(merged.dim,), element=names.with_reads(r.element, merged.read)))
    return replace(stage, body=substituted(stage.body, new))


class Merged:
    """Several dimensions, in their order, as one: `dim`."""

    def __init__(self, names: Names, dims: Sequence[Dim]) -> None:
        self.steps: list[tuple[Dim, Dim, Dim]] = []
        self.dim, *others = dims
        for d in others:
            both = names.dim(number(self.dim) * number(d))
            self.steps.append((self.dim, d, both))
            self.dim = both

    def read(self, read: Read) -> Read:
        """What is read at that one."""
        for outer, inner, both in self.steps:
            read = joined_axes(read, outer, inner, both)
        return read
