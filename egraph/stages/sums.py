"""Sums of sums over as many elements, as one sum.

    sum_2 A[0,2] * B[1,2] - 3 * sum_4 C[0,4] * D[1,4]   ->   sum_2 (A[0,2] * B[1,2] - 3 * (C[0,2] * D[1,2]))

A convolution that is written as a product for each place in its window has one number to carry for each result, not as
many as the window has places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from egglift.egraph.stages.matrix_products import unit_of
from egglift.egraph.stages.stage import Names, Reduction, Stage, substituted
from egglift.ir import patterns as p
from egglift.ir.operators import recognise
from egglift.ir.patterns import Expr
from egglift.ir.traverse import children, subterms

#: parts of the elements that are put together
LARGE = 400


def is_sum(r: Reduction) -> bool:
    """Does a reduction add up from 0, in any order?"""
    return r.op is not None and r.init == r.op.neutral and recognise(r.op.body) == "add"


def summed(stage: Stage) -> Stage:
    """The stage with one reduction for those that are only added to each other: over equal lengths, for equal indices.

    The order of additions changes, so programs must be free to be reassociated.  What matrix units add up stays apart.
    """
    unit = unit_of(stage)
    if stage.is_apart or len(stage.reductions) < 2 or (unit is not None and unit.name != "tf32"):
        return stage
    for e in _sums(stage.body):
        for several in _alike(stage, e):
            one = stage.names.reduced(_as_one(stage.names, several))
            rest = _without(e, {x for x, _ in several})
            return summed(replace(stage, body=substituted(stage.body, {e: one if rest is None else _add(rest, one)})))
    return stage


def _sums(body: Expr) -> Iterator[Expr]:
    """The largest parts of a body that add up or subtract."""
    stack, seen = [body], set[Expr]()
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if _sides(e):
            yield e
            stack.extend(c for x, _ in _terms(e) for c in children(x))
        else:
            stack.extend(children(e))


def _sides(e: Expr) -> tuple[tuple[Expr, bool], ...]:
    """What is added in an expression, and whether it is subtracted; nothing where nothing is added."""
    match e:
        case p.Apply("add", (a, b)):
            return (a, False), (b, False)
        case p.Apply("sub", (a, b)):
            return (a, False), (b, True)
        case p.Apply("neg", (a,)):
            return ((a, True),)
    return ()


def _terms(e: Expr, negative: bool = False) -> Iterator[tuple[Expr, bool]]:
    """All that is added in a sum of sums, and whether it is subtracted: a - (b - c) -> a, b subtracted, c."""
    if not (sides := _sides(e)):
        yield e, negative
    for x, less in sides:
        yield from _terms(x, negative != less)


def _alike(stage: Stage, e: Expr) -> Iterator[list[tuple[Expr, bool]]]:
    """Reductions among the terms of a sum, used nowhere else, that can be one: two at least, one of them added."""
    names, found = stage.names, defaultdict[object, list[tuple[Expr, bool]]](list)
    for x, negative in _terms(e):
        r = names.reductions.get(x.name) if isinstance(x, p.Input) else None
        if r is not None and is_sum(r) and _uses(stage.body, x) == 1:
            found[tuple(d.extent for d in r.dims), names.free(x), r.type].append((x, negative))
    for several in found.values():
        several.sort(key=lambda term: term[1])
        parts = sum(1 for x, _ in several for _ in subterms(names.reductions[_name(x)].element))
        if len(several) > 1 and not several[0][1] and parts <= LARGE:
            yield several


def _uses(body: Expr, x: Expr) -> int:
    return (body is x) + sum(c is x for e in subterms(body) for c in children(e))


def _as_one(names: Names, several: list[tuple[Expr, bool]]) -> Reduction:
    (x, _), *others = several
    first = names.reductions[_name(x)]
    element = first.element
    for other, negative in others:
        r = names.reductions[_name(other)]
        own = names.at(r.element, dict(zip(r.dims, first.dims, strict=True)))
        element = p.Apply("sub", (element, own)) if negative else _add(element, own)
    return replace(first, element=element)


def _without(e: Expr, terms: set[Expr]) -> Expr | None:
    """A sum without some of its terms; None where nothing is left.

    a - (b + c) without b -> a - c
    """
    if e in terms:
        return None
    match e:
        case p.Apply("add" | "sub" as op, (a, b)):
            one, other = _without(a, terms), _without(b, terms)
            if one is not None and other is not None:
                return e if one is a and other is b else p.Apply(op, (one, other))
            left = one if one is not None else other
            return p.Apply("neg", (left,)) if left is not None and one is None and op == "sub" else left
        case p.Apply("neg", (a,)):
            left = _without(a, terms)
            return left if left is None or left is a else p.Apply("neg", (left,))
    return e


def _add(a: Expr, b: Expr) -> Expr:
    return p.Apply("add", (a, b))


def _name(x: Expr) -> str:
    assert isinstance(x, p.Input)
    return x.name
