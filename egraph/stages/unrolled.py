"""Short reductions as sums of their elements, computed where they are needed.

    sum_1 f (sum_2 (A[0,2] - A[1,2])^2)     ->     sum_1 f ((A[0][0] - A[1][0])^2 + (A[0][1] - A[1][1])^2 + ...)

As a stage of its own, such a reduction has as many results as the space around it has indices, all to be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod

import numpy as np

from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.traverse import applied, children, is_closed, rebuild, replaced, subterms
from egglift.ir.types import Scalar

#: elements that a reduction has at most, and parts of all elements together
SHORT, LARGE = 8, 300


def can_unroll(names: Names, r: Reduction, outer: Sequence[Dim], around: Sequence[Dim]) -> bool:
    """Is it short, and different for each element of the reduction over `around`, and nearly each index of `outer`?

    Lengths that are known when it runs may be long.
    """
    if not names.is_closed(r.init) or names.has_reductions(r.element):
        return False
    if any(isinstance(d.extent, Length) for d in r.dims):
        return False
    free, count = names.free(r.element), prod(map(number, r.dims))
    parts = _repeated(names, r)
    again = prod(number(d) for d in outer if d not in free)
    return bool(around) and free >= set(around) and max(count, again) <= SHORT and count * parts <= LARGE


def _repeated(names: Names, r: Reduction) -> int:
    """The parts of the element of a reduction that are others for each of its indices."""
    found: dict[Expr, bool] = {}
    for t in subterms(r.element):  # children first
        own = bool(names.free(t) & set(r.dims)) if isinstance(t, p.Input) else False
        found[t] = own or any(found.get(x, False) for x in children(t))
    return sum(found.values())


def unrolled(names: Names, r: Reduction) -> Expr:
    """The value of a reduction as an expression."""
    places = [dict(zip(r.dims, at, strict=True)) for at in product(*(range(number(d)) for d in r.dims))]
    elements = [_at(names, r.element, at) for at in places]
    if r.op is not None and r.op.neutral == r.init:
        return reduce(lambda total, e: applied(r.step, total, e), elements)
    return reduce(lambda total, e: applied(r.step, total, e), elements, r.init)


def fixed(read: Read, at: dict[Dim, int]) -> Read:
    """What is read, at numbers for some of its dimensions."""
    for d, i in at.items():
        while d in read.dims:
            k = read.dims.index(d)
            view = at_depth(k, read.view, lambda x, i=i: p.At(i, x))  # type: ignore[misc]
            read = Read(view, (*read.dims[:k], *read.dims[k + 1 :]))
    return read


def _at(names: Names, element: Expr, at: dict[Dim, int]) -> Expr:
    """An element at these indices; of arrays that were put together, that of the part which has it.

    where [true, false][0] a b  ->  a
    """
    found = names.with_reads(element, lambda read: fixed(read, at))
    return chosen(replaced(found, _known))


def _known(e: Expr) -> Expr | None:
    """The number that stands at a place of an array of no input."""
    t = type_of(e) if isinstance(e, p.At) else None
    if not isinstance(t, Scalar) or not is_closed(e) or any(isinstance(x, p.Input) for x in subterms(e)):
        return None
    return p.Literal(np.asarray(evaluate(e, {})).item(), t)


def chosen(body: Expr) -> Expr:
    """`body` without choices that are known: where true x y -> x."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            match e:
                case p.Apply("where", (condition, yes, no)):
                    known = go(condition)
                    if isinstance(known, p.Literal):
                        memo[e] = go(yes if known.value else no)
                    else:
                        memo[e] = p.Apply("where", (known, go(yes), go(no)))
                case _:
                    memo[e] = rebuild(e, go)
        return memo[e]

    return go(body)
