"""Sums over elements whose number is that of the sum: by the numbers, each element is added once.

    [ sum_1 (where (eq k[1] 0) x[1] 0.0) for 0 < 256 ]   ->   sums[256] of <k[1], x[1]> for 1
    [ sum_1 (cast f32 (eq k[1] 0)) for 0 < 256 ]         ->   cast f32 (count[256] of k[1] for 1)

Of one-hot rows, each of which is 1 at one place, all are sums by that place.

source: egglift; of all the sums, one has an element, and the others have zeros of it
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from egglift.egraph.stages.as_pattern import computed
from egglift.egraph.stages.reshapes import without_reshapes
from egglift.egraph.stages.stage import Counted, Dim, Names, Reduction, number
from egglift.ir import patterns as p
from egglift.ir.check import SUMMED, type_of
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import BOOL, I32, Scalar

#: sums, below which they are added up one by one; and above which no device has a place for all near its units
FEW, MANY = 8, 1 << 14
#: elements that are as many additions as kernels for them take to be launched
SHORT = 1 << 12


@dataclass(frozen=True)
class ByNumbers:
    """A reduction at `number` as an element of the sums of `element`, a number or a pair of it and of what is added.

    cast: the type of what counts are cast to; None of sums.
    """

    number: Dim
    element: Expr
    counted: Counted
    cast: Scalar | None


def by_numbers(names: Names, r: Reduction, reassociate: bool) -> ByNumbers | None:
    """A long sum as one of those by numbers; None if it is none."""
    found = _found(names, r, reassociate)  # first: lengths that are traced are asked only where it matters
    if found is None or any(not isinstance(d.extent, int) for d in r.dims):
        return None
    return None if np.prod([number(d) for d in r.dims]) < SHORT else found


def _found(names: Names, r: Reduction, reassociate: bool) -> ByNumbers | None:
    """A sum of any length as one of those by numbers."""
    t = type_of(r.element)
    if r.op is None or r.op.name != "add" or r.init != r.op.neutral or not isinstance(t, Scalar):
        return None
    match _cast_inside(names.with_reads(r.element, without_reshapes)):
        case p.Cast(_, condition) if type_of(condition) == BOOL:
            place = _place(names, r, condition)
            return place and ByNumbers(place[0], place[1], Counted(place[0].extent, I32), t)
        case p.Apply("where", (condition, added, p.Literal() as zero)) if _is_zero(zero) and t in SUMMED:
            place = _place(names, r, condition) if reassociate or t.is_integer else None
            if place is None or place[0] in names.free(added):
                return None
            return ByNumbers(place[0], p.Tup((place[1], added)), Counted(place[0].extent, t), None)
    return None


def _cast_inside(x: Expr) -> Expr:
    """What is cast where a condition holds and is else 0 as what was cast where it holds: integers are summed wider.

    cast i64 (where c x 0)  ->  where c (cast i64 x) 0
    """
    match x:
        case p.Cast(Scalar() as t, p.Apply("where", (condition, added, p.Literal() as zero))) if _is_zero(zero):
            return p.Apply("where", (condition, p.Cast(t, added), p.Literal(0.0 if t.is_float else 0, t)))
    return x


def _is_zero(x: p.Literal) -> bool:
    return x.value == 0 and not str(x.value).startswith("-")


def _place(names: Names, r: Reduction, condition: Expr) -> tuple[Dim, Expr] | None:
    """The dimension whose index is compared with the number of an element, and that number: -1 where other conditions
    do not hold, which is nowhere."""
    match condition:
        case p.Apply("eq", (a, b)):
            return _compared(names, r, a, b) or _compared(names, r, b, a)
        case p.Apply("logical_and" | "bitwise_and", (a, b)):
            for one, other in ((a, b), (b, a)):
                found = _place(names, r, one)
                if found is not None and found[0] not in names.free(other):
                    place, t = found[1], type_of(found[1])
                    assert isinstance(t, Scalar)
                    return found[0], p.Apply("where", (other, place, p.Literal(-1, t)))
    return None


def _compared(names: Names, r: Reduction, index: Expr, place: Expr) -> tuple[Dim, Expr] | None:
    t = type_of(place)
    if not (isinstance(t, Scalar) and t.is_integer and t.is_signed) or len(free := names.free(index)) != 1:
        return None
    (dim,) = free
    if dim in r.dims or dim in names.free(place) or not isinstance(dim.extent, int) or not FEW < dim.extent <= MANY:
        return None
    return (dim, place) if _counts(names, index, dim) else None


def _counts(names: Names, index: Expr, dim: Dim) -> bool:
    """Is a body, over one dimension, its index?"""
    if names.has_reductions(index):
        return False
    whole = computed(names, (dim,), index)
    if any(isinstance(t, p.Input) for t in subterms(whole)):
        return False
    return bool(np.array_equal(np.asarray(evaluate(whole, {})), np.arange(number(dim))))
