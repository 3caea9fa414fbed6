"""Sharing a reduction out over a dimension of its own: parts by one stage, their sum by another.

    [ sum_2 e[0,1,2] ]  ->  parts = [ sum_3 e[1,2, 0 * l + 3] ];  [ (sum_2 parts[2,0,1]) + (sum_3 e[0,1, m + 3]) ]

source: [Hagedorn2018] (25); the operator is associative and has a neutral element; the last sum is what is left over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, Stage, substituted
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size, SizeOp
from egglift.ir.tuples import as_one
from egglift.ir.types import Tuple, leaves


def can_share(stage: Stage) -> bool:
    """May a stage's reductions be computed in parts?"""
    first = stage.phases[0] if stage.phases else ()
    return bool(first) and all(r.op is not None and r.op.neutral is not None for r in first)


def commutes(stage: Stage) -> bool:
    """May the first reductions of a stage take their elements in any order?"""
    return all(r.op is not None and r.op.commutative for r in (stage.phases or ((),))[0])


def sums_of(stage: Stage) -> Stage:
    """A stage with its reductions for its body, without what follows."""
    return replace(stage, body=as_one([x for x, r in stage.names.of(stage.body) if isinstance(r, Reduction)]))


def by_halves(stage: Stage) -> bool:
    """Are parts of the first reductions added by halves where a group has several results?

    Each round waits for all work-items; that pays where a step is more than one instruction, as those of tuples are.
    """
    return commutes(stage) and sum(len(leaves(type_of(r.init))) for r in stage.phases[0]) > 1


def longest(reductions: tuple[Reduction, ...]) -> Dim:
    """The dimension that is worth sharing out: the outermost where the order of elements must stay."""
    if not all(r.op is not None and r.op.commutative for r in reductions):
        return reductions[0].dims[0]
    return max(reductions[0].dims, key=lambda d: d.extent if isinstance(d.extent, int) else 0)


def shared_out(stage: Stage, pieces: Size) -> tuple[Stage, Stage]:
    """The stage of parts, with a dimension more, and the stage that adds them."""
    work = _Sharing(stage, longest(stage.reductions), pieces)
    parts = work.parts()
    return parts, work.sum(parts)


@dataclass
class _Sharing:
    stage: Stage
    along: Dim
    pieces: Size

    def __post_init__(self) -> None:
        n, names = self.along.extent, self.names
        self.piece: Size = SizeOp("/", n, self.pieces)
        self.main: Size = SizeOp("*", self.piece, self.pieces)
        self.part, self.inside = names.dim(self.pieces), names.dim(self.piece)
        self.left = names.dim(SizeOp("-", n, self.main))

    @property
    def names(self) -> Names:
        return self.stage.names

    def parts(self) -> Stage:
        """Every reduction over a piece of its elements."""
        reduced = []
        for r in self.stage.reductions:
            assert r.op is not None and r.op.neutral is not None
            dims = tuple(self.inside if d == self.along else d for d in r.dims)
            element = self.names.with_reads(r.element, self._main)
            reduced.append(self.names.reduced(replace(r, init=r.op.neutral, dims=dims, element=element)))
        body = as_one(reduced)
        return Stage(f"{self.stage.name}.parts", (self.part, *self.stage.dims), body, self.names)

    def sum(self, parts: Stage) -> Stage:
        """The parts of every reduction added, then what was left over, and what follows."""
        array = p.Input(parts.name, parts.type)
        new: dict[Expr, Expr] = {}
        results = [(x, r) for x, r in self.names.of(self.stage.body) if isinstance(r, Reduction)]
        for i, (x, r) in enumerate(results):
            assert r.op is not None
            own = at_depth(len(parts.dims), array, lambda e, i=i: p.Get(i, e)) if len(results) > 1 else array  # type: ignore[misc]
            element = self._element(Read(own, parts.dims))
            added = self.names.reduced(Reduction(r.op.body, r.init, (self.part,), element, r.op))
            dims = tuple(self.left if d == self.along else d for d in r.dims)
            rest = self.names.with_reads(r.element, self._left)
            new[x] = self.names.reduced(Reduction(r.step, added, dims, rest, None))
        return replace(self.stage, body=substituted(self.stage.body, new))

    def _element(self, read: Read) -> Expr:
        if not isinstance(read.type, Tuple):
            return self.names.read(read)
        depth, count = len(read.dims), len(read.type.items)
        items = [at_depth(depth, read.view, lambda e, i=i: p.Get(i, e)) for i in range(count)]  # type: ignore[misc]
        return p.Tup(tuple(self._element(Read(x, read.dims)) for x in items))

    def _main(self, read: Read) -> Read:
        return read.along(self.along, lambda x: p.Split(self.piece, p.Take(self.main, x)), (self.part, self.inside))

    def _left(self, read: Read) -> Read:
        return read.along(self.along, lambda x: p.Drop(self.main, x), (self.left,))


def added(stage: Stage, parts: Expr, dims: tuple[Dim, ...], part: Dim) -> Stage:
    """The stage that adds parts of all elements of another's reductions, whose array has `dims`; `part` counts them.

    [ sum_2 e[0,1,2] ]  ->  [ sum_3 parts[0,3,1] ]
    """
    work, new = _Sharing(stage, part, part.extent), dict[Expr, Expr]()
    results = [(x, r) for x, r in stage.names.of(stage.body) if isinstance(r, Reduction)]
    for i, (x, r) in enumerate(results):
        assert r.op is not None
        own = at_depth(len(dims), parts, lambda e, i=i: p.Get(i, e)) if len(results) > 1 else parts  # type: ignore[misc]
        element = work._element(Read(own, dims))
        new[x] = stage.names.reduced(Reduction(r.op.body, r.init, (part,), element, r.op))
    return replace(stage, body=substituted(stage.body, new))
