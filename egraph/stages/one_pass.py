"""Reductions that need each other's results, in one pass: laws with operators of tuples.  All of them reassociate.

m = (sum_k x) / n;  sum_k (x - m)^2         ->  <n, <m, s>> of  reduce moments <0, <0, 0>> [<1, <x, 0>>]
source: Chan, Golub and LeVeque, Updating Formulae (...) for Computing Sample Variances, 1979; n elements

m = max_k x;  sum_k exp(x - m)              ->  <m, s> of     reduce online <-inf, 0> [<x, 1>]
source: Milakov and Gimelshein, Online Normalizer Calculation for Softmax, 2018
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from egglift.egraph.stages.stage import Dim, Names, Reduction, substituted
from egglift.egraph.stages.sums import is_sum
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr, Operator
from egglift.ir.types import I64, Scalar, Tuple


def in_one_pass(names: Names, body: Expr) -> Expr:
    """`body` with every pair of such reductions as parts of one, wherever both stand."""
    new: dict[Expr, Expr] = {}
    for x, what in names.of(body):
        if isinstance(what, Reduction):
            for first, second in _pairs(names, what):
                new.update(_first(names, body, first))
                new[x] = second
                break
    return substituted(body, new)


@dataclass(frozen=True)
class _Found:
    """A reduction that another one needs, over the dimensions of the other, and what it is of both in one."""

    reduction: Reduction
    value: Expr


def _pairs(names: Names, r: Reduction) -> Iterator[tuple[_Found, Expr]]:
    """The reduction within `r` that goes in one pass with it, and what `r` is then."""
    for x, inner in names.of(r.element):
        if isinstance(inner, Reduction) and _extents(inner.dims) == _extents(r.dims):
            own = _renamed(names, inner, r.dims)
            pair = _moments(names, r, x, own) or _online(names, r, x, own)
            if pair is not None:
                yield _Found(inner, pair[0]), pair[1]


def _first(names: Names, body: Expr, found: _Found) -> dict[Expr, Expr]:
    """What stands for that reduction, also over dimensions of its own, and what it is of both in one."""
    same = found.reduction
    alike = ((x, r) for x, r in names.of(body) if isinstance(r, Reduction) and _extents(r.dims) == _extents(same.dims))
    return {x: found.value for x, r in alike if _renamed(names, r, same.dims) == same}


def _moments(names: Names, r: Reduction, sum_: Expr, inner: Reduction) -> tuple[Expr, Expr] | None:
    """The sum, and the sum of squared distances to the mean."""
    count = prod(n for n in _extents(r.dims) if isinstance(n, int))
    t = type_of(sum_)
    if not (is_sum(r) and is_sum(inner) and isinstance(t, Scalar) and t.is_float):
        return None
    x = inner.element
    means = _quotients(sum_, count, t)
    distances = [p.Apply("sub", pair) for m in means for pair in ((x, m), (m, x))]
    if r.element not in [p.Apply("mul", (d, d)) for d in distances]:
        return None
    one, zero = p.Literal(1.0, t), p.Literal(0.0, t)
    op = moments(t)
    assert op.neutral is not None
    both = names.reduced(Reduction(op.body, op.neutral, r.dims, p.Tup((one, p.Tup((x, zero)))), op))
    mean, squares = (p.Get(i, p.Get(1, both)) for i in range(2))
    return p.Apply("mul", (mean, _number(count, t))), squares


def _number(count: int, t: Scalar) -> Expr:
    """How many elements there are, as a number of the program."""
    return p.Cast(t, p.Literal(count, I64)) if isinstance(count, Length) else p.Literal(float(count), t)


def _online(names: Names, r: Reduction, largest: Expr, inner: Reduction) -> tuple[Expr, Expr] | None:
    """The largest element, and the sum of what is exponential below it."""
    t = type_of(largest)
    if not (is_sum(r) and inner.op is not None and inner.op.name == "maximum" and inner.init == inner.op.neutral):
        return None
    if not (isinstance(t, Scalar) and t.is_float):
        return None
    x = inner.element
    if r.element != p.Apply("exp", (p.Apply("sub", (x, largest)),)):
        return None
    op = online(t)
    assert op.neutral is not None
    both = names.reduced(Reduction(op.body, op.neutral, r.dims, p.Tup((x, p.Literal(1.0, t))), op))
    return p.Get(0, both), p.Get(1, both)


def moments(t: Scalar) -> Operator:
    """<count, <mean, sum of squared distances to it>> of two sets of numbers together."""
    three = Tuple((t, Tuple((t, t))))
    arg = p.Arg(Tuple((three, three)))
    (na, ma, sa), (nb, mb, sb) = (_three(p.Get(k, arg)) for k in range(2))
    n, d, zero = _add(na, nb), p.Apply("sub", (mb, ma)), p.Literal(0.0, t)
    share = p.Apply("where", (p.Apply("gt", (n, zero)), p.Apply("div", (nb, n)), zero))
    mean = _add(ma, _mul(d, share))
    squares = _add(_add(sa, sb), _mul(_mul(_mul(d, d), na), share))
    return Operator("moments", p.Tup((n, p.Tup((mean, squares)))), True, True, p.Tup((zero, p.Tup((zero, zero)))))


def _three(x: Expr) -> tuple[Expr, Expr, Expr]:
    return p.Get(0, x), p.Get(0, p.Get(1, x)), p.Get(1, p.Get(1, x))


def online(t: Scalar) -> Operator:
    """<largest, sum of exp (x - largest)> of two sets of numbers together."""
    arg = p.Arg(Tuple((Tuple((t, t)), Tuple((t, t)))))
    (ma, sa), (mb, sb) = (tuple(p.Get(i, p.Get(k, arg)) for i in range(2)) for k in range(2))
    m, lower = p.Apply("maximum", (ma, mb)), p.Apply("minimum", (ma, mb))
    part = p.Apply("exp", (p.Apply("sub", (lower, m)),))  # one for both: the sum below `m` stays as it is

    def scaled(old: Expr, s: Expr) -> Expr:
        """A sum below another largest element; below the same one, which may be infinite, as it is."""
        return p.Apply("where", (p.Apply("eq", (old, m)), s, _mul(s, part)))

    neutral = p.Tup((p.Literal(float("-inf"), t), p.Literal(0.0, t)))
    return Operator("online", p.Tup((m, _add(scaled(ma, sa), scaled(mb, sb)))), True, True, neutral)


def _quotients(x: Expr, n: int, t: Scalar) -> list[Expr]:
    counted = p.Apply("div", (x, p.Cast(t, p.Literal(n, I64))))  # of a length that is known when a kernel is called
    if isinstance(n, Length):
        return [counted]
    count, part = p.Literal(float(n), t), p.Literal(float(np.asarray(1 / n, t.dtype)), t)
    return [counted, p.Apply("div", (x, count)), p.Apply("mul", (x, part)), p.Apply("mul", (part, x))]


def _renamed(names: Names, r: Reduction, dims: tuple[Dim, ...]) -> Reduction:
    new = dict(zip(r.dims, dims, strict=True))
    element = names.with_reads(r.element, lambda read: replace(read, dims=tuple(new.get(d, d) for d in read.dims)))
    return replace(r, dims=dims, element=element)


def _extents(dims: tuple[Dim, ...]) -> list[object]:
    return [d.extent for d in dims]


def _add(a: Expr, b: Expr) -> Expr:
    return p.Apply("add", (a, b))


def _mul(a: Expr, b: Expr) -> Expr:
    return p.Apply("mul", (a, b))
