"""What every term of a sum is multiplied with, or divided by, taken out of the sum.

    sum_2 (A[0,2] / l[0]) * B[1,2]   ->   (sum_2 A[0,2] * B[1,2]) / l[0]

An attention's weights are divided once for each result then, not once for each of their products' factors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from egglift.egraph.stages.stage import Dim, Names, Reduction, Stage, substituted
from egglift.egraph.stages.sums import is_sum
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import Scalar


@dataclass(frozen=True)
class _Factored:
    """A term: what depends on the dimensions that are summed over, what it is multiplied with, and divided by."""

    inner: Expr
    times: tuple[Expr, ...] = ()
    over: tuple[Expr, ...] = ()


def factored(stage: Stage) -> Stage:
    """The stage with factors of whole sums of products outside of them, where each occurs once in a term.

    What is divided twice (`sum ((x / m) * (x / m))`) may be so that no square overflows, and stays.  Rounding changes
    as where sums are reassociated; numbers without reads are left to compilers.
    """
    names, new = stage.names, dict[Expr, Expr]()
    if stage.is_apart or len(stage.phases) != 1:
        return stage
    for x, r in names.of(stage.body):
        if not isinstance(r, Reduction) or not is_sum(r) or not isinstance(r.type, Scalar) or not r.type.is_float:
            continue
        f = _factored(names, r.element, frozenset(r.dims))
        outside = (*f.times, *f.over)
        if outside and len(set(outside)) == len(outside) and isinstance(f.inner, p.Apply) and f.inner.op == "mul":
            new[x] = _applied(f, names.reduced(replace(r, element=f.inner)))
    return replace(stage, body=substituted(stage.body, new)) if new else stage


def _factored(names: Names, e: Expr, summed: frozenset[Dim]) -> _Factored:
    match e:
        case p.Apply("mul", (a, b)):
            for one, other in ((a, b), (b, a)):
                if _is_outside(names, one, summed):
                    f = _factored(names, other, summed)
                    return replace(f, times=(*f.times, one))
            left, right = _factored(names, a, summed), _factored(names, b, summed)
            inner = e if (left.inner, right.inner) == (a, b) else p.Apply("mul", (left.inner, right.inner))
            return _Factored(inner, (*left.times, *right.times), (*left.over, *right.over))
        case p.Apply("div", (a, b)) if _is_outside(names, b, summed):
            f = _factored(names, a, summed)
            return replace(f, over=(*f.over, b))
    return _Factored(e)


def _is_outside(names: Names, e: Expr, summed: frozenset[Dim]) -> bool:
    """Is it the same for all terms, but different for different results?"""
    free = names.free(e)
    return bool(free) and not free & summed


def _applied(f: _Factored, total: Expr) -> Expr:
    for x in f.times:
        total = p.Apply("mul", (total, x))
    for x in f.over:
        total = p.Apply("div", (total, x))
    return total
