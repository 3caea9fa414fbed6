"""Reductions that need each other's results, in one pass: laws with operators of tuples.  All of them reassociate.

m = max_k x;  sum_k exp(x - m)              ->  <m, s> of     reduce online <-inf, 0> [<x, 1>]
source: Milakov and Gimelshein, Online Normalizer Calculation for Softmax, 2018

Of f16 and bf16, whose powers are added up in f32, the largest is kept in f32, too.

means, and sums of products of distances from them: moments.py
"""

from __future__ import annotations

from collections.abc import Iterator

from egglift.egraph.stages.moments import alike, extents, moments_in_one_pass, renamed
from egglift.egraph.stages.stage import Names, Reduction, substituted
from egglift.egraph.stages.sums import is_sum
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Operator
from egglift.ir.types import Scalar, Tuple, Type


def in_one_pass(names: Names, body: Expr) -> Expr:
    """`body` with such reductions as parts of one, wherever all of them stand."""
    new = moments_in_one_pass(names, body)
    for x, what in names.of(body):
        if isinstance(what, Reduction) and x not in new:
            for inner, first, second in _online(names, what):
                new.update(dict.fromkeys(alike(names, body, inner), first))
                new[x] = second
                break
    return substituted(body, new)


def _online(names: Names, r: Reduction) -> Iterator[tuple[Reduction, Expr, Expr]]:
    """The largest element that a sum of what is exponential below it needs, and what both are of one reduction."""
    for largest, inner in names.of(r.element):
        t = type_of(largest)
        if not (isinstance(inner, Reduction) and extents(inner.dims) == extents(r.dims) and is_sum(r)):
            continue
        if inner.op is None or inner.op.name != "maximum" or inner.init != inner.op.neutral:
            continue
        x = renamed(names, inner, r.dims).element
        if not (isinstance(t, Scalar) and t.is_float):
            continue
        power, wide = p.Apply("exp", (p.Apply("sub", (x, largest)),)), t.computed
        if r.element in (power, p.Cast(wide, power)):
            op = online(wide)
            assert op.neutral is not None
            element = p.Tup((_as(wide, x), p.Literal(1.0, wide)))
            both = names.reduced(Reduction(op.body, op.neutral, r.dims, element, op))
            yield inner, _as(t, p.Get(0, both)), _as(r.type, p.Get(1, both))


def _as(t: Type, e: Expr) -> Expr:
    """A number of another type, or as it is."""
    assert isinstance(t, Scalar)
    return e if type_of(e) == t else p.Cast(t, e)


def online(t: Scalar) -> Operator:
    """<largest, sum of exp (x - largest)> of two sets of numbers together."""
    arg = p.Arg(Tuple((Tuple((t, t)), Tuple((t, t)))))
    (ma, sa), (mb, sb) = (tuple(p.Get(i, p.Get(k, arg)) for i in range(2)) for k in range(2))
    m, lower = p.Apply("maximum", (ma, mb)), p.Apply("minimum", (ma, mb))
    part = p.Apply("exp", (p.Apply("sub", (lower, m)),))  # one for both: the sum below `m` stays as it is

    def scaled(old: Expr, s: Expr) -> Expr:
        """A sum below another largest element; below the same one, which may be infinite, as it is."""
        return p.Apply("where", (p.Apply("eq", (old, m)), s, p.Apply("mul", (s, part))))

    neutral = p.Tup((p.Literal(float("-inf"), t), p.Literal(0.0, t)))
    return Operator("online", p.Tup((m, p.Apply("add", (scaled(ma, sa), scaled(mb, sb))))), True, True, neutral)
