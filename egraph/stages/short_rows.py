"""Short rows of a result as its elements, each computed as a whole.

    [v[0,1] / sqrt (sum_2 v[0,2]^2)  for 0 < n, for 1 < 3]   ->   [<v[0][0] / r, v[0][1] / r, v[0][2] / r>  for 0 < n]

where r is sqrt (v[0][0]^2 + v[0][1]^2 + v[0][2]^2): what numbers of an element have in common is computed once, and who
has all of them need not share them out.
"""

from __future__ import annotations

from dataclasses import replace

from egglift.egraph.stages.stage import Dim, Names, Reduction, Stage, number, substituted
from egglift.egraph.stages.unrolled import LARGE, SHORT, fixed, unrolled
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import Scalar


def in_elements(stage: Stage) -> Stage | None:
    """The stage whose elements are the rows along its last dimension; None where they, or its reductions, are long."""
    if len(stage.dims) < 2 or stage.is_apart or not is_short(stage.dims[-1]):
        return None
    *dims, last = stage.dims
    body = spelled_out(stage.names, stage.body)
    if body is None or not isinstance(type_of(body), Scalar) or number(last) * _terms(body) > LARGE:
        return None
    places = range(number(last))
    *others, row = (stage.names.with_reads(body, lambda read, i=i: fixed(read, {last: i})) for i in places)  # type: ignore[misc]
    row = p.Fill(1, row)
    for x in reversed(others):
        row = p.Concat(p.Fill(1, x), row)
    return replace(stage, dims=tuple(dims), body=row)


def in_numbers(stage: Stage) -> Stage | None:
    """The stage with all of its reductions as sums of their elements; None where it has none, or a long one.

    [ max_2 (stack [f A, g A])[0,1,2] ]  ->  [ max (f A[0,1]) (g A[0,1]) ]
    """
    body = spelled_out(stage.names, stage.body) if stage.reductions and not stage.is_apart else None
    return None if body is None else replace(stage, body=body)


def spelled_out(names: Names, body: Expr) -> Expr | None:
    """A body with short reductions as sums of their elements; None where one is long, or all is too much."""
    new: dict[Expr, Expr] = {}
    for x, r in names.of(body):
        if isinstance(r, Reduction):
            element = spelled_out(names, r.element)
            if element is None or not names.is_closed(r.init) or not all(map(is_short, r.dims)):
                return None
            new[x] = unrolled(names, replace(r, element=element))
            if _terms(new[x]) > LARGE:
                return None
    return substituted(body, new) if new else body


def is_short(d: Dim) -> bool:
    """Has a dimension few indices, of which there is more than one, whatever lengths are known when it runs?"""
    return isinstance(d.extent, int) and not isinstance(d.extent, Length) and 1 < d.extent <= SHORT


def _terms(body: Expr) -> int:
    return sum(1 for _ in subterms(body))
