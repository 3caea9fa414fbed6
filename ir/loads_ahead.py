"""Folds that have several elements in registers before they take their steps: loads that wait for memory together."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import rebuild
from egglift.ir.types import Array, Scalar, Tuple, Type


def in_chunks(program: Expr, count: int) -> Expr:
    """`program` with each fold of numbers over numbers, outside of other loops, `count` elements at a time.

    fold f z xs  ->  fold f (fold (<z, c>. fold f z (toPrivate c)) z (split count (take m xs))) (drop m xs)
    """
    memo: dict[Expr, Expr] = {}

    def go(t: Expr) -> Expr:
        if t not in memo:
            memo[t] = _chunked(t, count) if isinstance(t, p.Fold) else rebuild(t, go, go)
        return memo[t]

    return go(program)


def _chunked(t: p.Fold, count: int) -> Expr:
    xs = t.x.b if isinstance(t.x, p.Distl) else t.x
    whole, state = type_of(xs), type_of(t.init)
    assert isinstance(whole, Array)
    n = whole.length
    if isinstance(xs, p.Iota) or not isinstance(n, int) or n < 2 * count or not _few(whole.element) or not _few(state):
        return t
    most = n - n % count
    chunk = Array(count, whole.element)
    captured = type_of(t.x.a) if isinstance(t.x, p.Distl) else None
    arg = p.Arg(Tuple((state, chunk if captured is None else Tuple((captured, chunk)))))
    each = p.Get(1, arg)
    own = p.To("private", each if captured is None else p.Get(1, each))
    inner = p.Fold(t.body, p.Get(0, arg), own if captured is None else p.Distl(p.Get(0, each), own), True)
    blocks = p.Split(count, p.Take(most, xs) if most < n else xs)
    chunks = p.Fold(inner, t.init, p.Distl(t.x.a, blocks) if isinstance(t.x, p.Distl) else blocks)
    if most == n:
        return chunks
    rest = p.Drop(most, xs)
    return p.Fold(t.body, chunks, p.Distl(t.x.a, rest) if isinstance(t.x, p.Distl) else rest)


def _few(t: Type) -> bool:
    """Is it a number, or a tuple of numbers?"""
    return isinstance(t, Scalar) or (isinstance(t, Tuple) and all(map(_few, t.items)))
