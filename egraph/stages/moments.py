"""Sums of products of distances from means, in one pass with these means.  It reassociates.

m = (sum_k x) / n;  sum_k (x - m)^2             ->  <n, <m, s>> of  reduce moments <0, <0, 0>> [<1, <x, 0>>]
and m' = (sum_k y) / n;  sum_k (x - m) (y - m')  ->  a mean for x and one for y, and a sum for each product of two

source: Chan, Golub and LeVeque, Updating Formulae (...) for Computing Sample Variances, 1979; n elements.  Of products:
Pebay, Formulas for Robust, One-Pass Parallel Computation of Covariances and (...) Moments, 2008
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from egglift.egraph.stages.stage import Dim, Names, Reduction
from egglift.egraph.stages.sums import is_sum
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr, Operator
from egglift.ir.tuples import as_one, parts_of, type_as_one
from egglift.ir.types import I64, Scalar, Tuple

#: which two of the numbers whose means there are a product is of
Pair = tuple[int, int]


@dataclass(frozen=True)
class _Product:
    """What stands for a sum of products of two distances, negative if `sign` is, and of what these are distances.

    sums: what each is the mean of, added up, of the same dimensions as the sum.
    """

    sum: Expr
    factors: tuple[Expr, Expr]
    sums: tuple[Reduction, Reduction]
    sign: int


def moments_in_one_pass(names: Names, body: Expr) -> dict[Expr, Expr]:
    """What such sums in a body, and the sums of their means, are of reductions that compute them together."""
    new: dict[Expr, Expr] = {}
    for related in _related(list(_products(names, body))):
        new |= _as_one(names, body, related)
    return new


def _products(names: Names, body: Expr) -> Iterator[_Product]:
    dims: dict[tuple[object, ...], tuple[Dim, ...]] = {}  # those of the first, for all of the same extents
    for x, r in names.of(body):
        if isinstance(r, Reduction) and is_sum(r):
            r = renamed(names, r, dims.setdefault(tuple(extents(r.dims)), r.dims))
            match r.element:
                case p.Apply("mul", (p.Apply("sub", a), p.Apply("sub", b))):
                    one, other = distance(names, r, a), distance(names, r, b)
                    if one and other and names.free(one[0].element) == names.free(other[0].element):  # no contraction
                        yield _Product(x, (one[0].element, other[0].element), (one[0], other[0]), one[1] * other[1])


def distance(names: Names, r: Reduction, pair: Sequence[Expr]) -> tuple[Reduction, int] | None:
    """The sum of the numbers of whose mean a difference is the distance, and its sign."""
    count = prod(n for n in extents(r.dims) if isinstance(n, int))
    for x, inner in names.of(p.Tup(tuple(pair))):
        t = type_of(x)
        if not (isinstance(inner, Reduction) and extents(inner.dims) == extents(r.dims) and is_sum(inner)):
            continue
        own = renamed(names, inner, r.dims)
        for mean in _quotients(x, count, t) if isinstance(t, Scalar) and t.is_float else ():
            if tuple(pair) in ((own.element, mean), (mean, own.element)):
                return own, 1 if pair[0] == own.element else -1
    return None


def _related(products: Sequence[_Product]) -> list[list[_Product]]:
    """Products that share what their factors are distances of, also by way of others."""
    found: list[list[_Product]] = []
    for one in products:
        with_it = [group for group in found if any(set(one.factors) & set(other.factors) for other in group)]
        found = [g for g in found if g not in with_it] + [[x for g in with_it for x in g] + [one]]
    return found


def _as_one(names: Names, body: Expr, products: Sequence[_Product]) -> dict[Expr, Expr]:
    """A reduction for all, and what the sums in a body are of it."""
    sums = {f: s for x in products for f, s in zip(x.factors, x.sums, strict=True)}
    numbers = list(sums)
    pairs = list(dict.fromkeys(_pair(numbers, x) for x in products))
    first, t = next(iter(sums.values())), type_of(numbers[0])
    assert isinstance(t, Scalar)
    op = moments(t, len(numbers), pairs)
    assert op.neutral is not None
    one, zeros = p.Literal(1.0, t), tuple(p.Literal(0.0, t) for _ in pairs)
    both = names.reduced(Reduction(op.body, op.neutral, first.dims, _state(one, numbers, zeros), op))
    _, means, totals = _parts(both, len(numbers), len(pairs))
    count = prod(n for n in extents(first.dims) if isinstance(n, int))
    new = {x.sum: _signed(x.sign, totals[pairs.index(_pair(numbers, x))]) for x in products}
    for number, mean in zip(numbers, means, strict=True):
        new |= dict.fromkeys(alike(names, body, sums[number]), _mul(mean, _number(count, t)))
    return new


def _pair(numbers: Sequence[Expr], x: _Product) -> Pair:
    i, j = sorted(numbers.index(f) for f in x.factors)
    return i, j


def _signed(sign: int, x: Expr) -> Expr:
    return x if sign > 0 else p.Apply("neg", (x,))


def moments(t: Scalar, count: int = 1, pairs: Sequence[Pair] = ((0, 0),)) -> Operator:
    """<n, <means, sums of products of distances to them>> of two sets together, for so many numbers of each element.

    pairs: of which numbers the products are.  What there is one of stands alone.
    """
    state = _type(t, count, len(pairs))
    arg = p.Arg(Tuple((state, state)))
    (na, ma, sa), (nb, mb, sb) = (_parts(p.Get(k, arg), count, len(pairs)) for k in range(2))
    n, zero = _add(na, nb), p.Literal(0.0, t)
    share = p.Apply("where", (p.Apply("gt", (n, zero)), p.Apply("div", (nb, n)), zero))
    apart = [p.Apply("sub", (b, a)) for a, b in zip(ma, mb, strict=True)]
    means = [_add(a, _mul(d, share)) for a, d in zip(ma, apart, strict=True)]
    sums = [
        _add(_add(a, b), _mul(_mul(_mul(apart[i], apart[j]), na), share))
        for a, b, (i, j) in zip(sa, sb, pairs, strict=True)
    ]
    neutral = _state(zero, [zero] * count, [zero] * len(pairs))
    name = "moments" if count == 1 else f"moments of {count}"
    return Operator(name, _state(n, means, sums), True, True, neutral)


def _state(n: Expr, means: Sequence[Expr], sums: Sequence[Expr]) -> Expr:
    return p.Tup((n, p.Tup((as_one(means), as_one(sums)))))


def _type(t: Scalar, count: int, pairs: int) -> Tuple:
    means, sums = (type_as_one((t,) * n) for n in (count, pairs))
    return Tuple((t, Tuple((means, sums))))


def _parts(x: Expr, count: int, pairs: int) -> tuple[Expr, list[Expr], list[Expr]]:
    """How many, the means and the sums."""
    means, sums = (p.Get(i, p.Get(1, x)) for i in range(2))
    return p.Get(0, x), parts_of(means, count), parts_of(sums, pairs)


def _number(count: int, t: Scalar) -> Expr:
    """How many elements there are, as a number of the program."""
    return p.Cast(t, p.Literal(count, I64)) if isinstance(count, Length) else p.Literal(float(count), t)


def _quotients(x: Expr, n: int, t: Scalar) -> list[Expr]:
    counted = p.Apply("div", (x, p.Cast(t, p.Literal(n, I64))))  # of a length that is known when a kernel is called
    if isinstance(n, Length):
        return [counted]
    count, part = p.Literal(float(n), t), p.Literal(float(np.asarray(1 / n, t.dtype)), t)
    return [counted, p.Apply("div", (x, count)), p.Apply("mul", (x, part)), p.Apply("mul", (part, x))]


def alike(names: Names, body: Expr, same: Reduction) -> Iterator[Expr]:
    """What stands in a body for that reduction, also over dimensions of its own."""
    found = ((x, r) for x, r in names.of(body) if isinstance(r, Reduction) and extents(r.dims) == extents(same.dims))
    yield from (x for x, r in found if renamed(names, r, same.dims) == same)


def renamed(names: Names, r: Reduction, dims: tuple[Dim, ...]) -> Reduction:
    """A reduction over other dimensions of the same extents."""
    new = dict(zip(r.dims, dims, strict=True))
    element = names.with_reads(r.element, lambda read: replace(read, dims=tuple(new.get(d, d) for d in read.dims)))
    return replace(r, dims=dims, element=element)


def extents(dims: tuple[Dim, ...]) -> list[object]:
    """How many indices each has."""
    return [d.extent for d in dims]


def _add(a: Expr, b: Expr) -> Expr:
    return p.Apply("add", (a, b))


def _mul(a: Expr, b: Expr) -> Expr:
    return p.Apply("mul", (a, b))
