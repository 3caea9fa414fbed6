"""Sums of products of distances from two means, without these means: of distances from what is near them.

    m[0] = (sum_2 x[2,0]) / n;  sum_2 (x[2,0] - m[0]) * (x[2,1] - m[1])
    ->  s[0] = (sum_2 x[l * 2, 0]) / k;  t[0] = sum_2 (x[2,0] - s[0]);
        sum_2 (x[2,0] - s[0]) * (x[2,1] - s[1])  -  t[0] * t[1] / n

Covariances of columns are one reading of all rows then, in place of two.  It reassociates.  Any s is right; as s is the
mean of k elements, k (m - s)^2 <= sum_2 (x - m)^2: what is subtracted is at most n / k times what is left.

source: Chan, Golub and LeVeque, Algorithms for Computing the Sample Variance, 1983 (shifted data)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from egglift.egraph.stages.moments import distance
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, number
from egglift.egraph.stages.sums import is_sum
from egglift.ir import patterns as p
from egglift.ir.axes import element_type
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Scalar

EVERY = 64  # the how-many-th elements a mean is estimated by
LONG = 1 << 10  # elements of which a mean is estimated, at least


@dataclass(frozen=True)
class Centred:
    """A sum of products of distances from two means: that of distances from estimates, and the sums of these distances.

    sign: -1 where one of the differences is the other way round.
    """

    products: Reduction
    sums: tuple[Reduction, Reduction]
    sign: int

    def whole(self, apart: Callable[[Reduction], Expr]) -> Expr:
        """The sum, of what stands for each of its reductions."""
        one, other = map(apart, self.sums)
        (d,) = self.products.dims
        t = type_of(self.products.init)
        assert isinstance(t, Scalar)
        rest = p.Apply("div", (p.Apply("mul", (one, other)), p.Literal(float(number(d)), t)))
        found = p.Apply("sub", (apart(self.products), rest))
        return found if self.sign > 0 else p.Apply("neg", (found,))


def centred(names: Names, body: Expr) -> dict[Expr, Centred]:
    """Such sums in a body, by what stands for them there: of factors at other dimensions than each other."""
    found: dict[Expr, Centred] = {}
    for x, r in names.of(body):
        if isinstance(r, Reduction) and (one := _centred(names, r)):
            found[x] = one
    return found


def _centred(names: Names, r: Reduction) -> Centred | None:
    if not is_sum(r) or len(r.dims) != 1 or not isinstance(r.dims[0].extent, int) or number(r.dims[0]) < EVERY * LONG:
        return None
    plain = replace(r, element=names.with_reads(r.element, plain_read))
    match plain.element:
        case p.Apply("mul", (p.Apply("sub", a), p.Apply("sub", b))):
            one, other = distance(names, plain, a), distance(names, plain, b)
            # of the same numbers, means and squares are taken together (moments.py)
            if one and other and names.free(one[0].element) != names.free(other[0].element):
                own = [_below(names, sum_) for sum_, _ in (one, other)]
                products = replace(plain, element=p.Apply("mul", (own[0].element, own[1].element)))
                return Centred(products, (own[0], own[1]), one[1] * other[1])
    return None


def _below(names: Names, r: Reduction) -> Reduction:
    """The sum of distances from an estimate of the mean, for the sum of numbers."""
    (d,), t = r.dims, type_of(r.init)
    assert isinstance(t, Scalar)
    some = names.dim(number(d) // EVERY)
    element = names.with_reads(r.element, lambda read: _of_some(read, d, some))
    total = names.reduced(replace(r, dims=(some,), element=element))
    estimate = p.Apply("div", (total, p.Literal(float(number(some)), t)))
    return replace(r, element=p.Apply("sub", (r.element, estimate)))


def _of_some(read: Read, d: Dim, some: Dim) -> Read:
    """What is read of every so-many-th element."""

    def firsts(x: Expr) -> Expr:
        blocks = p.Split(EVERY, p.Take(number(some) * EVERY, x))
        return p.Map(p.At(0, p.Arg(element_type(blocks))), blocks)

    return read.along(d, firsts, (some,))
