"""Few results of long reductions that read the same: one work-item adds to all of them.

    [ sum_2 x[2,0] * x[2,1]  for 0 < 3, for 1 < 3 ]
    ->  [[sum_0 x[0][0] * x[0][0], sum_0 x[0][0] * x[0][1], ...], ...]

In tiles, nine results keep few work-items busy, and each element is read from local memory for every one.  Together
they are one reduction of nine numbers, which is shared out like a sum; equal ones, of a symmetric result, are computed
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.stage import Dim, Names, Reduction, Stage, number, substituted
from egglift.egraph.stages.unrolled import LARGE, fixed
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.traverse import replaced, subterms
from egglift.ir.types import Scalar

#: results that a work-item has at most, and elements of each reduction at least
MOST, LONG = 16, 1 << 10
_COMMUTATIVE = frozenset(("add", "mul", "minimum", "maximum", "and", "or", "xor"))


def with_few_results(stage: Stage) -> Stage:
    """The stage whose elements are the arrays along its last dimensions; as it is where it has none that are short, or
    where these results read nothing in common."""
    dims = _short(stage)
    spaces = {r.dims for r in stage.reductions}
    if not dims or len(stage.phases) != 1 or len(spaces) != 1 or not isinstance(type_of(stage.body), Scalar):
        return stage
    (space,) = spaces
    if any(isinstance(d.extent, Length) for d in space) or prod(map(number, space)) < LONG or not _share(stage, dims):
        return stage
    body = _arrays(stage.names, stage.body, dims)
    if _terms(stage.names, body) > LARGE:
        return stage
    return replace(stage, dims=stage.dims[: -len(dims)], body=body)


def _short(stage: Stage) -> tuple[Dim, ...]:
    """The last dimensions that have few indices together."""
    if stage.is_apart or stage.planes is not None or stage.given:
        return ()
    found: tuple[Dim, ...] = ()
    for d in reversed(stage.dims):
        if isinstance(d.extent, Length) or not isinstance(d.extent, int) or prod(map(number, (d, *found))) > MOST:
            break
        found = (d, *found)
    return found if prod(map(number, found)) > 1 else ()


def _share(stage: Stage, dims: Sequence[Dim]) -> bool:
    """Do all results together read at most half of what each of them reads alone?"""
    reads = [x for r in stage.reductions for x in reads_of(stage.names, r.element)]
    once = sum(prod(number(d) for d in dims if d in x.dims) for x in reads)
    return bool(reads) and 2 * once <= len(reads) * prod(map(number, dims))


def _arrays(names: Names, body: Expr, dims: Sequence[Dim]) -> Expr:
    """An array for each dimension, of the body at all of its places."""
    if not dims:
        return _in_order(names, body)
    first, *others = dims
    at = [names.with_reads(body, lambda x, i=i: fixed(x, {first: i})) for i in range(number(first))]  # type: ignore[misc]
    *elements, array = (p.Fill(1, _arrays(names, x, others)) for x in at)
    found: Expr = array
    for x in reversed(elements):
        found = p.Concat(x, found)
    return found


def _in_order(names: Names, body: Expr) -> Expr:
    """A body in whose reductions what commutes has one order, so that equal ones are one."""
    new: dict[Expr, Expr] = {}
    for x, r in names.of(body):
        if isinstance(r, Reduction):
            new[x] = names.reduced(replace(r, element=replaced(r.element, _ordered)))
    return substituted(body, new)


def _ordered(e: Expr) -> Expr | None:
    match e:
        case p.Apply(op, (p.Input() as a, p.Input() as b)) if op in _COMMUTATIVE and b.name < a.name:
            return p.Apply(op, (b, a))
    return None


def _terms(names: Names, body: Expr) -> int:
    """What is computed for an element of all reductions; what several of them compute alike is computed once."""
    return len({t for _, r in names.of(body) if isinstance(r, Reduction) for t in subterms(r.element)})
