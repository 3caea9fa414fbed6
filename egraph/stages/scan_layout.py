"""In which order the axes of a scan's array lie in memory: as those of what it reads.

    s[0, 1] = add up to 1 of A[1, 0];  [ s[0, 1] for 1, for 0 ]
    ->  s[0, 1] as [1, 0] = add up to 1 of A[1, 0];  s

Neighbouring work-items, which scan neighbouring columns, then write side by side as they read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.moved_axes import Axes, Below, along_axis, below, straight, without_ones
from egglift.egraph.stages.stage import Dim, Read, Stage
from egglift.ir import patterns as p
from egglift.ir.axes import permuted
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged, is_closed


def in_memory_order(stages: Sequence[Stage], result: Expr) -> tuple[list[Stage], Expr]:
    """Stages whose scans are written in the order in which they read, and what yields the result then."""
    found, new = list[Stage](), dict[Expr, Expr]()
    for stage in stages:
        s = with_views(with_arrays(stage, new), straight) if new else stage
        if s.scan is not None and s.scan.combined is None and (order := _order(s)) is not None:
            laid = _laid(s, order)
            new[p.Input(s.name, s.type)] = permuted(p.Input(laid.name, laid.type), laid.array_dims, s.array_dims)
            s = laid
        found.append(s)
    return found, straight(exchanged(result, new)) if new else result


def with_views(stage: Stage, f: Callable[[Expr], Expr]) -> Stage:
    """A stage with other views at the same dimensions."""
    names = stage.names
    return stage.with_bodies(lambda body: names.with_reads(body, lambda r: Read(f(r.view), r.dims)))


def with_arrays(stage: Stage, new: Mapping[Expr, Expr]) -> Stage:
    """A stage that reads other arrays."""
    return stage.with_bodies(lambda body: stage.names.exchanged(body, new)) if new else stage


def _order(stage: Stage) -> tuple[Dim, ...] | None:
    """The dimensions in the order of the axes of the first array that is read at all of them; None if as they are."""
    for read in reads_of(stage.names, stage.body):
        _, axes = below(read.view, read.dims, _through)
        order = tuple(d for d in cast(tuple[Dim, ...], axes) if d in stage.array_dims)
        if len(order) == len(stage.array_dims) == len(set(order)):
            return None if order == stage.array_dims else order
    return None


def _through(e: Expr, axes: Axes) -> Below | None:
    """Through what is laid out along one axis, which stays where it is."""
    along = e if isinstance(e, p.Gather) and is_closed(e.indices) else along_axis(e)
    return without_ones(e, axes) if along is None else (along.x, axes)


def _laid(stage: Stage, order: tuple[Dim, ...]) -> Stage:
    """A stage whose outer dimensions, and the place of the last one among them, are in that order."""
    assert stage.scan is not None
    last, outer = stage.dims[-1], tuple(d for d in order if d != stage.dims[-1])
    across = tuple(d for d in stage.dims if d not in order)
    return replace(stage, dims=(*outer, *across, last), scan=replace(stage.scan, axis=order.index(last)))
