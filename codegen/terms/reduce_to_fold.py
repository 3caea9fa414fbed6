"""A pass over terms: reductions and scans in the order of their elements."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import rebuild


def reduce_to_fold(t: Expr) -> Expr:
    """`t` with every reduction and every scan as a loop over its elements, wherever it stands.

    reduce add z x  ->  fold add z x
    scan add z x    ->  scanSeq <add, add> z x
    """
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = rebuild(in_order(e), go, go)
        return memo[e]

    return go(t)


def in_order(e: Expr) -> Expr:
    """A reduction or a scan from left to right; any other pattern as it is."""
    match e:
        case p.Reduce(op, init, x):
            return p.Fold(op.body, init, x)
        case p.Scan(op, init, x):
            return p.ScanSeq(p.Tup((op.body, op.body)), init, x)
    return e
