"""Contractions of what is itself a contraction: the tiles between both are no array.

    s[0,1] = sum_3 q[0,3] k[1,3]                        for blocks of 0, groups:
    o[0,2] = sum_1 f(s[0,1]) v[1,2]             ->        for blocks of 1, in turn:
                                                            a tile of f(s), in local memory
                                                            acc[0,2] += the tile's product with a block of v

What is summed up of f(s) alone, row by row, goes with it.  Where f is the exponential below the largest of its row,
the rows' largest so far are there instead, and what was added up below smaller ones is scaled (online):

    m = max_1 x[0,1];  sum_1 exp(x[0,1] - m) v[1,2]     ->  for blocks of 1:  n = max(m, max_1 x);  c = exp(m - n);
                                                            acc = c acc + sum_1 exp(x - n) v;  m = n

The second law reassociates, as the first does where blocks are padded.  Of f16 and bf16, powers are at most 1: they are
rounded as products take them, and what they are divided by, row by row, divides the results instead.

    sum_1 (f16)(exp(x[0,1] - m) / l) v[1,2]  ->  (sum_1 (f16)exp(x[0,1] - m) v[1,2]) / l

source: `compute_at` of Ragan-Kelley et al., Halide, 2013; Milakov and Gimelshein, Online Normalizer Calculation for
Softmax, 2018; Dao et al., FlashAttention, 2022
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from egglift.egraph.schedules.rows import at_rows, directly_read_by
from egglift.egraph.stages.as_pattern import views_of
from egglift.egraph.stages.given import Given, NotGiven
from egglift.egraph.stages.operands import Operand, operands_of
from egglift.egraph.stages.partition import Stages
from egglift.egraph.stages.sharing import can_share, commutes
from egglift.egraph.stages.stage import Dim, Read, Reduction, Stage, number, substituted
from egglift.egraph.stages.sums import is_sum
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.operators import named
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import Scalar


@dataclass(frozen=True)
class TileChain:
    """tile: what is computed in tiles of `rows` and `middle`; last: adds up its products over `middle`, for `rows` and
    `columns`; sums: what is added up of the tile's rows alone.  Both read the tile's elements as given.

    online: is the tile an exponent's argument, and what is added up the exponential of it below the largest of its row?
    Then `last` reads the largest and the first sum as the one pair that is given by the name of that sum.  What it
    multiplies may be rounded to fewer bits than what `sums` add up.
    """

    tile: Stage
    sums: tuple[Stage, ...]
    last: Stage
    rows: Dim
    middle: Dim
    columns: Dim
    online: bool

    def number(self, value: float) -> Expr:
        """A number as a tile's elements are."""
        t = self.tile_type
        return p.Literal(value if t.is_float else int(value), t)

    @property
    def tile_type(self) -> Scalar:
        """The type of a tile's elements."""
        t = type_of(self.tile.body)
        assert isinstance(t, Scalar)
        return t

    @property
    def tile_reads(self) -> frozenset[p.Input]:
        """What stands for an element of the tile in what reads it."""
        rows = {s.name for s in self.sums}
        return frozenset(g for g in self.last.given if not rows & _reads(self.last, g))

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All of its stages, each after those that it reads."""
        return (self.tile, *self.sums, self.last)

    def __str__(self) -> str:
        tile, last = (s.name.lstrip("%") for s in (self.tile, self.last))
        below = ", scaled to the largest of each row so far" if self.online else ""
        return f"each tile of {tile} is multiplied for {last} as it is computed, and never written{below}"


@dataclass(frozen=True)
class Chained:
    """A chain, and the names of the program's stages that it has in it."""

    chain: TileChain
    stages: frozenset[str]


def tile_chains(whole: Stages) -> Iterator[Chained]:
    """The chains of a program's stages: what is in one, nothing else needs."""
    wanted = {t.name for t in subterms(whole.result) if isinstance(t, p.Input)}
    read = {s.name: directly_read_by(s, whole.stages) for s in whole.stages}

    def readers(s: Stage) -> list[Stage]:
        return [r for r in whole.stages if s.name in read[r.name]]

    for first in whole.stages:
        for last in readers(first):
            rows = [r for r in readers(first) if r is not last]
            alone = all(readers(r) == [last] for r in rows)
            if alone and not wanted & {s.name for s in (first, *rows)}:
                with suppress(NotGiven):
                    chain = _found(first, rows, last)
                    yield Chained(chain, frozenset(s.name for s in (first, *rows, last)))


def _found(first: Stage, rows: Sequence[Stage], last: Stage) -> TileChain:
    """NotGiven if these are no chain."""
    if not all(_reduces_once(s) for s in (first, *rows, last)):
        raise NotGiven
    given = Given({s.name: s for s in (first, *rows)})
    last = given.within(last)
    starts = frozenset(s.name for s in rows)
    if len(last.reductions) != 1 or first.name not in given.at:
        raise NotGiven
    at, (r,) = given.at[first.name], last.reductions
    factor, other = _factors(last, r, first.name, starts)
    row, middle, columns = _dims(last, r, at, other)
    dims = (*(d for d in last.dims if d not in (row, columns)), row, middle)
    if set(factor.dims) != set(dims) or set(at) != set(dims):
        raise NotGiven
    own: dict[Expr, Expr] = {last.names.read(Read(p.Input(first.name, first.type), at)): at_rows(first, at).body}
    found = [_of_rows(s, given, dims[:-1], middle) for s in rows]
    kept = factor.at.x if isinstance(factor.at, p.Cast) and _is_narrow(factor.at.x) else factor.at
    below = _below_the_largest(kept, found)
    body = substituted(kept if below is None else below.argument, own)
    tile = Stage(f"{last.name}.tile", dims, body, last.names)
    if below is None:
        element = _given(last, tile, "tile")
        sums = tuple(_with_elements(s, kept, element, own) for s in found)
        last = _with_elements(last, kept, element, own)
    else:
        sums = tuple(_summing(s, _given(last, tile, "powers"), middle) for s in found)
        element = _given(last, replace(tile, body=kept), "factors" if _is_narrow(kept) else "powers")
        last = _with_elements(last, kept, element, own, below.over)
    chain = TileChain(tile, sums, last, row, middle, columns, below is not None)
    if _reads(tile, tile.body) & {first.name, *starts} or any(first.name in _reads(s, s.body) for s in chain.stages):
        raise NotGiven
    return chain


def _reduces_once(stage: Stage) -> bool:
    """Are a stage's reductions one loop over one dimension, or over several that are contracted?"""
    return not stage.is_apart and len(stage.phases) == 1 and can_share(stage) and commutes(stage)


def _reads(stage: Stage, body: Expr) -> set[str]:
    """The names of the arrays that are read in a body."""
    names = {t.name for view in views_of(stage.names, body) for t in subterms(view) if isinstance(t, p.Input)}
    return names - stage.names.reads.keys() - stage.names.reductions.keys()


def _factors(last: Stage, r: Reduction, first: str, starts: Collection[str]) -> tuple[Operand, Operand]:
    """The factor of the products that are added up which needs the first stage, and the other one."""
    operands = operands_of(last.names, r.element, (*last.dims, *r.dims))
    ours = [o for o in operands if first in _reads(last, o.at)]
    others = [o for o in operands if o not in ours]
    if len(r.dims) != 1 or not is_sum(r) or len(ours) != 1 or len(others) != 1:
        raise NotGiven
    (factor,), (other,) = ours, others
    products = [p.Apply("mul", pair) for pair in ((factor.at, other.at), (other.at, factor.at))]
    if r.element not in products or _reads(last, other.at) & set(starts):
        raise NotGiven
    return factor, other


def _dims(last: Stage, r: Reduction, at: Sequence[Dim], other: Operand) -> tuple[Dim, Dim, Dim]:
    """A tile's rows, for all of which the other factor is the same; what is added up; and the result's columns."""
    (middle,) = r.dims
    rows = [d for d in last.dims if d in at and d not in other.dims]
    columns = [d for d in last.dims if d not in at]
    if middle not in at or middle not in other.dims or len(columns) != 1 or columns[0] not in other.dims or not rows:
        raise NotGiven
    return max(rows, key=number), middle, columns[0]


def _of_rows(stage: Stage, given: Given, rows: Sequence[Dim], middle: Dim) -> Stage:
    """What is reduced of the first stage's rows, over the chain's dimensions."""
    at = given.at.get(stage.name, ())
    if set(at) != set(rows) or any(len(r.dims) != 1 for r in stage.reductions):
        raise NotGiven
    new = dict(zip(stage.dims, at, strict=True)) | {r.dims[0]: middle for r in stage.reductions}
    return given.within(replace(stage, dims=tuple(rows), body=stage.names.at(stage.body, new)))


@dataclass(frozen=True)
class _Below:
    """exp(argument - the largest of its row) / over"""

    argument: Expr
    over: Expr | None = None


def _below_the_largest(factor: Expr, rows: Sequence[Stage]) -> _Below | None:
    """x of a factor exp(x - m), where m is the largest of its row, which a stage has beside the sum of such factors.

    Or of one that is divided by what is of the row, and rounded.
    """
    match factor:
        case p.Cast(_, p.Apply("div", (x, over))) | p.Apply("div", (x, over)) if _is_narrow(factor) and _is_of_rows(
            over, rows
        ):
            below = _below_the_largest(x, rows)
            return below and replace(below, over=_wide(over))
        case p.Cast(_, x) if _is_narrow(factor):
            return _below_the_largest(x, rows)
        case p.Apply(
            "exp", (p.Apply("sub", (x, p.Get(0, p.Input() as largest) | p.Cast(_, p.Get(0, p.Input() as largest)))),)
        ) if len(rows) == 1:
            (stage,), x = rows, _wide(x)
            t = type_of(x)
            r, *others = stage.reductions
            if others or r.op is None or r.op.name != "online" or not isinstance(t, Scalar):
                return None
            own = _reads(stage, largest) == {stage.name} and stage.body == stage.names.reduced(r)
            return _Below(x) if own and r.element == p.Tup((x, p.Literal(1.0, t))) else None
    return None


def _wide(e: Expr) -> Expr:
    """As it is computed: f16 and bf16 in f32."""
    t = type_of(e)
    return p.Cast(t.computed, e) if isinstance(t, Scalar) and t.is_narrow else e


def _is_narrow(e: Expr) -> bool:
    t = type_of(e)
    return isinstance(t, Scalar) and t.is_narrow


def _is_of_rows(e: Expr, rows: Sequence[Stage]) -> bool:
    """Is it the same all along a row?"""
    return any(s.names.free(e) <= set(s.dims) for s in rows)


def _given(last: Stage, tile: Stage, name: str) -> p.Input:
    """What stands for an element of the tile, or of the exponential of it."""
    found = last.names.read(Read(p.Input(f"{last.name}.{name}", tile.type), tile.dims))
    assert isinstance(found, p.Input)
    return found


def _with_elements(
    stage: Stage, factor: Expr, element: p.Input, own: Collection[Expr], over: Expr | None = None
) -> Stage:
    """A stage that reduces the tile's elements for the factor, and divides what they come to.

    own: reads of the first stage, which it has no more.
    """
    new = dict[Expr, Expr]()
    for x, r in stage.names.of(stage.body):
        if isinstance(r, Reduction):
            total = stage.names.reduced(replace(r, element=substituted(r.element, {factor: element})))
            new[x] = total if over is None else p.Apply("div", (total, over))
    return replace(stage, body=substituted(stage.body, new), given=stage.given - set(own) | {element})


def _summing(stage: Stage, element: p.Input, middle: Dim) -> Stage:
    """A stage with the sum of the tile's rows for its body."""
    op = named("add", element.type)
    assert op.neutral is not None
    body = stage.names.reduced(Reduction(op.body, op.neutral, (middle,), element, op))
    return replace(stage, body=body, given=frozenset({element}))
