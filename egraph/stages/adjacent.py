"""Dimensions that all that is read has next to each other in memory, as one: a contraction as a product of matrices.

    [ sum_4,5 W[2,3,4,5] * T[0,1,4,5] ]   ->   map split (split [ sum_8 W'[7,8] * T'[6,8] ])
    W' = join (map (map join) W): 6 counts through 0 and 1, 7 through 2 and 3, 8 through 4 and 5

Tiles then are cut from what lies together, however many dimensions a user gave it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, permutations

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.merging import joined_axes
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.stage import Dim, Read, Reduction, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.patterns import Expr

#: two dimensions, the first of which changes more slowly
Pair = tuple[Dim, Dim]


def adjoined(stage: Stage) -> tuple[Stage, tuple[int, ...]]:
    """A stage in which what can be one dimension is one; and where a dimension of the result is cut again, how long
    what it is cut into is, in turn: `separated` does so.

    Stages without reductions, that go on with what is computed where they are, or of lengths that are known when they
    run, stay as they are.
    """
    if stage.is_apart or stage.given or len(stage.phases) != 1:
        return stage, ()
    parallel, reduced = _runs(_parallel(stage)), _runs(_reduced(stage))
    for outer, *others in reduced:
        for inner in others:
            stage, outer = _summed_as_one(stage, outer, inner)
    cuts: list[int] = []
    for outer, *others in parallel:
        for inner in others:
            cuts += (stage.dims.index(outer), number(inner))
            stage, outer = _with_one(stage, outer, inner)
    return stage, tuple(cuts)


def adjoined_along(stages: Sequence[Stage], view: Expr) -> tuple[Expr, list[tuple[Stage, tuple[int, ...]]]]:
    """An array with the innermost two neighbouring axes as one that all stages, which read it, may take as one; these
    stages, and where each one's result is cut again, as `adjoined` says."""
    plain = [s.with_bodies(lambda body, s=s: s.names.with_reads(body, plain_read)) for s in stages]  # type: ignore[misc]
    axes = [_axes(s, view) for s in plain]
    for axis in reversed(range(min(map(len, axes)) - 1)):
        found = [_joined(s, own[axis], own[axis + 1]) for s, own in zip(plain, axes, strict=True)]
        if all(found):
            return at_depth(axis, view, p.Join), [x for x in found if x is not None]
    return view, [(s, ()) for s in stages]


def _axes(stage: Stage, view: Expr) -> tuple[Dim, ...]:
    """At which dimensions a stage reads an array; none where it reads it at several."""
    found = {r.dims for r in reads_of(stage.names, stage.body) if r.view == view}
    return next(iter(found)) if len(found) == 1 else ()


def _joined(stage: Stage, outer: Dim, inner: Dim) -> tuple[Stage, tuple[int, ...]] | None:
    """A stage with two dimensions as one, and where that is cut again; None where they cannot be one."""
    if stage.is_apart or stage.given or len(stage.phases) > 1:
        return None
    if (outer, inner) in _parallel(stage):
        return _with_one(stage, outer, inner)[0], (stage.dims.index(outer), number(inner))
    if stage.phases and (outer, inner) in _reduced(stage):
        return _summed_as_one(stage, outer, inner)[0], ()
    return None


def separated(x: Expr, cuts: tuple[int, ...]) -> Expr:
    """The array of an adjoined stage with the dimensions that the stage had before.

    separated(x, (0, 24)) -> split 24 x
    """
    for at, length in reversed(list(zip(cuts[::2], cuts[1::2], strict=True))):
        x = at_depth(at, x, lambda e, n=length: p.Split(n, e))  # type: ignore[misc]
    return x


def _parallel(stage: Stage) -> list[Pair]:
    """Pairs of neighbouring dimensions of the result that can be one."""
    return [pair for pair in pairwise(stage.dims) if _are_next_to_each_other(stage, pair)]


def _reduced(stage: Stage) -> list[Pair]:
    """Pairs of dimensions of the stage's reductions that can be one: in their order, unless the operator commutes."""
    (first,) = stage.phases
    several = {r.dims for r in first}
    if len(several) != 1 or not all(stage.names.is_closed(r.init) for r in first):
        return []
    (dims,) = several
    commutes = all(r.op is not None and r.op.commutative for r in first)
    pairs = permutations(dims, 2) if commutes else pairwise(dims)
    return [pair for pair in pairs if _are_next_to_each_other(stage, pair)]


def _runs(pairs: Sequence[Pair]) -> list[list[Dim]]:
    """Dimensions that follow each other.

    _runs([(a, b), (b, c), (e, f)]) -> [[a, b, c], [e, f]]
    """
    after = dict(pairs)
    found = []
    for first in after.keys() - after.values():
        run = [first]
        while run[-1] in after:
            run.append(after[run[-1]])
        found.append(run)
    return sorted(found, key=lambda run: run[0].number)


def _are_next_to_each_other(stage: Stage, pair: Pair) -> bool:
    """Are both in everything that is read, and next to each other in memory there, or neither is?"""
    if not all(isinstance(d.extent, int) for d in pair):
        return False
    return all(
        _has_both(plain_read(read), pair) for read in reads_of(stage.names, stage.body) if set(pair) & set(read.dims)
    )


def _has_both(read: Read, pair: Pair) -> bool:
    outer, inner = pair
    if not isinstance(read.view, p.Input) or outer not in read.dims or inner not in read.dims:
        return False
    return read.dims.index(inner) == read.dims.index(outer) + 1


def _with_one(stage: Stage, outer: Dim, inner: Dim) -> tuple[Stage, Dim]:
    """The stage with two neighbouring dimensions as one, and this one."""
    at, both = stage.dims.index(outer), stage.names.dim(number(outer) * number(inner))
    body = stage.names.with_reads(stage.body, lambda r: joined_axes(r, outer, inner, both))
    return replace(stage, dims=(*stage.dims[:at], both, *stage.dims[at + 2 :]), body=body), both


def _summed_as_one(stage: Stage, outer: Dim, inner: Dim) -> tuple[Stage, Dim]:
    """The stage with two dimensions of its reductions as one, and this one."""
    names, both = stage.names, stage.names.dim(number(outer) * number(inner))
    new: dict[Expr, Expr] = {}
    for x, r in names.of(stage.body):
        if isinstance(r, Reduction):
            dims = tuple(both if d == outer else d for d in r.dims if d != inner)
            element = names.with_reads(r.element, lambda read: joined_axes(read, outer, inner, both))
            new[x] = names.reduced(replace(r, dims=dims, element=element))
    return replace(stage, body=substituted(stage.body, new)), both
