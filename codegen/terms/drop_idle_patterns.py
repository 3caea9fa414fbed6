"""A pass over terms: patterns that do nothing at the lengths at hand."""

from __future__ import annotations

from egglift.codegen.kernel.views import length
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.lengths import surely_equal
from egglift.ir.patterns import Expr
from egglift.ir.traverse import rebuild


def drop_idle_patterns(t: Expr) -> Expr:
    """`t` without what does nothing at these lengths, wherever it stands.

    padUp k x    ->  x    where k divides the length
    take n x     ->  x    of n elements
    drop 0 x     ->  x
    concat x []  ->  x
    fold f z []  ->  z
    map id x     ->  x
    """
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = _reduced(rebuild(e, go, go))
        return memo[e]

    return go(t)


def _reduced(e: Expr) -> Expr:
    match e:
        case p.PadUp(_, x) | p.Take(_, x) | p.Drop(_, x) if surely_equal(_length(e), _length(x)):
            return x
        case p.Concat(a, b) if _length(b) == 0:
            return a
        case p.Concat(a, b) if _length(a) == 0:
            return b
        case p.Fold(_, z, x) if surely_equal(_length(x), 0):
            return z
        case p.Map(p.Arg(), x, None):
            return x
        case _:
            return e


def _length(e: Expr) -> int:
    return length(type_of(e))
