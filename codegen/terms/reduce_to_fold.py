"""A pass over terms: reductions in the order of their elements."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import rebuild


def reduce_to_fold(t: Expr) -> Expr:
    """`t` with every reduction as a loop over its elements, wherever it stands.

    reduce add z x  ->  fold add z x
    """
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            loop = p.Fold(e.op.body, e.init, e.x) if isinstance(e, p.Reduce) else e
            memo[e] = rebuild(loop, go, go)
        return memo[e]

    return go(t)
