"""Stages of unlike shape that read one array, blocks of which are read once.

    s[0] = sum_1 A[0,1];  m[1] = max_0 A[0,1];  E[0,1] = exp A[0,1]
      ->  for blocks of 0 and 1, groups:  sums of the block's rows, maxima of its columns, exp of its elements

A group goes through its block for one stage after the other; from the second time on, the block is in a cache.
source: egglift; <map f x, map g y> = unzip (map (f x g) (zip x y)), of blocks
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from egglift.egraph.schedules.rows import read_by
from egglift.egraph.stages.adjacent import adjoined_along
from egglift.egraph.stages.as_pattern import as_pattern, reads_of
from egglift.egraph.stages.blocks import can_be_in_blocks
from egglift.egraph.stages.factors import with_factors
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.partition import Stages
from egglift.egraph.stages.sharing import sums_of
from egglift.egraph.stages.stage import Dim, Names, Stage, number
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import Scalar, leaves

GRID = 3  # dimensions that a grid has
LONG = 1 << 20  # elements, below which an array is in a cache of all units
MUCH = 64  # steps for each element, from which on reading it is little of what they take


@dataclass(frozen=True)
class BlockReading:
    """Stages that need nothing of each other, with the dimension of each along the axes that are cut.

    given: the same as the program has them, with where each one's result is cut again: neighbouring axes that are one
    for all stages are one.  views: what at least two of them read, the arrays of one shape; axes: which of its axes are
    cut.
    """

    stages: tuple[Stage, ...]
    given: tuple[tuple[Stage, tuple[int, ...]], ...]
    dims: tuple[tuple[Dim, ...], ...]
    views: tuple[Expr, ...]
    axes: tuple[int, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """The lengths of the axes that are cut."""
        return tuple(map(number, self.dims[0]))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the arrays."""
        ((shape, _), *_) = leaves(type_of(self.views[0]))
        return tuple(n for n in shape if isinstance(n, int))

    @property
    def bytes(self) -> int:
        """Of an index of what is cut, in all arrays."""
        beside = prod(n for i, n in enumerate(self.shape) if i not in self.axes)
        return beside * sum(scalar.size for v in self.views for _, scalar in leaves(type_of(v)))

    @property
    def names(self) -> Names:
        """What stands for what in the stages."""
        return self.stages[0].names

    @property
    def reduces(self) -> bool:
        """Do all stages reduce along all that is cut?"""
        return all({*dims} <= _reduced(s) for dims, s in zip(self.dims, self.stages, strict=True))

    @property
    def key(self) -> Hashable:
        """Equal for stages of which the same is found."""
        return tuple((s.name, as_pattern(s)) for s in self.stages)

    @property
    def name(self) -> str:
        """What was found, in a sentence."""
        return f"each block is read once, for {', '.join(s.name.lstrip('%') for s in self.stages)}"


def block_readings(whole: Stages) -> Iterator[BlockReading]:
    """Stages that read one array at indices of theirs, the largest array first; each set of stages once."""
    whole = replace(whole, stages=tuple(with_factors(whole.stages, LONG)))
    reads = {s.name: _large(s) for s in whole.stages}
    views = dict.fromkeys(view for found in reads.values() for view in found)
    known = set[frozenset[str]]()
    for view in sorted(views, key=lambda v: -_volume(v)):
        reading = [s for s in whole.stages if view in reads[s.name]]
        found = _of_view(view, _independent(reading, whole), whole)
        names = frozenset(s.name for s in found.stages) if found else frozenset()
        if found and not any(names <= other for other in known):
            known.add(names)
            yield found


def _of_view(view: Expr, given: Sequence[Stage], whole: Stages) -> BlockReading | None:
    """Stages that may be computed in blocks of the same axes of what they read; None if fewer than two may be."""
    if len(given) < 2:
        return None
    view, stages = adjoined_along(given, view)
    reads = {s.name: _large(s) for s, _ in stages}
    dims = [reads[s.name].get(view, ()) for s, _ in stages]
    axes = [i for i in range(min(map(len, dims))) if all(ds[i] is not None for ds in dims)]
    cut = [tuple(d for i, d in enumerate(ds) if i in axes and d is not None) for ds in dims]
    old = {s.name: (s, cuts) for s, (_, cuts) in zip(given, stages, strict=True)}
    fit = [(s, ds) for (s, _), ds in zip(stages, cut, strict=True) if axes and can_be_in_blocks(s, ds)]
    fit = [(s, ds) for s, ds in fit if _reduced(s) & {*ds} or not read_by(s, whole.stages) & old.keys()]
    if len(fit) < 2 or len(axes) > GRID:
        return None
    found = tuple(s for s, _ in fit)
    others = dict.fromkeys(v for s in found for v in reads[s.name] if v != view)
    alike = [v for v in others if all(reads[s.name].get(v, own) == own for s in found for own in [reads[s.name][view]])]
    views = (view, *(v for v in alike if _is_read_again(v, [reads[s.name] for s in found])))
    return BlockReading(found, tuple(old[s.name] for s in found), tuple(ds for _, ds in fit), views, tuple(axes))


def _is_read_again(view: Expr, reads: Sequence[Mapping[Expr, tuple[Dim | None, ...]]]) -> bool:
    """Is it read by several stages, or by one at several dimensions?"""
    return sum(view in own for own in reads) > 1 or any(None in own.get(view, ()) for own in reads)


def _independent(stages: Sequence[Stage], whole: Stages) -> list[Stage]:
    """Stages, in order, without those that need one before them: for what they reduce, if they do."""
    found: list[Stage] = []
    for s in stages:
        needed = read_by(sums_of(s) if s.reductions else s, whole.stages)
        if not any(t.name in needed for t in found):
            found.append(s)
    return found


def _reduced(stage: Stage) -> set[Dim]:
    return {d for r in stage.reductions for d in r.dims}


def _large(stage: Stage) -> dict[Expr, tuple[Dim | None, ...]]:
    """The large arrays that a stage reads, each with the dimension along each axis: None where it is none of the
    stage's that can be cut."""
    if stage.is_apart or any(not isinstance(d.extent, int) for d in stage.dims):
        return {}
    reads = [plain_read(r) for r in reads_of(stage.names, stage.body)]
    twice = {d for r in reads for d in r.dims if r.dims.count(d) > 1}
    found: dict[Expr, tuple[Dim | None, ...]] = {}
    for r in reads:
        if isinstance(r.type, Scalar) and r.dims and _is_worth_it(stage, r.view):
            dims = tuple(None if d in twice else d for d in r.dims)
            old = found.get(r.view, dims)
            found[r.view] = tuple(a if a == b else None for a, b in zip(old, dims, strict=True))
    return {v: _alike(dims, [other for w, other in found.items() if _is_made_alike(v, w)]) for v, dims in found.items()}


def _is_made_alike(one: Expr, other: Expr) -> bool:
    """Are arrays of one shape read, or computed, of the same largest one?"""

    def largest(view: Expr) -> Expr | None:
        return max((t for t in subterms(view) if isinstance(t, p.Input)), key=_volume, default=None)

    return type_of(one) == type_of(other) and largest(one) == largest(other)


def _alike(dims: tuple[Dim | None, ...], others: Sequence[tuple[Dim | None, ...]]) -> tuple[Dim | None, ...]:
    """The dimensions that others have at the same axes; None where they have another one there."""
    return tuple(d if all(o[i] == d for o in others) else None for i, d in enumerate(dims))


def _is_worth_it(stage: Stage, view: Expr) -> bool:
    """Is an array large, and does a stage take little more steps than it has elements?"""
    reduced = _reduced(stage)
    if _volume(view) < LONG or any(not isinstance(d.extent, int) for d in reduced):
        return False
    steps = prod(map(number, {*stage.dims, *reduced}))
    return steps <= MUCH * _volume(view) and any(isinstance(t, p.Input) for t in subterms(view))


def _volume(view: Expr) -> int:
    return prod(n for shape, _ in leaves(type_of(view))[:1] for n in shape if isinstance(n, int))
