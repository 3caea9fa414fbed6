"""What was brought into one pass over a row, as passes again: where the row is kept, they are cheaper.

    <m, s> = reduce online [<x, 1>]               ->   m = max_k x;  s = sum_k exp(x - m)
    <n, <m, s>> = reduce moments [<1, <x, 0>>]    ->   m = (sum_k x) / n;  s = sum_k (x - m)^2

These are the laws of egraph/stages/one_pass.py, read backwards; there are their sources.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.operators import named
from egglift.ir.patterns import Expr
from egglift.ir.types import Scalar


def in_passes(stage: Stage) -> list[Stage]:
    """A stage that reduces rows, after those that it is given the results of: none if it is one pass anyhow."""
    firsts, given = list[Stage](), set(stage.given)
    new: dict[Expr, Expr] = {}
    for x, r in stage.names.of(stage.body):
        if not isinstance(r, Reduction) or r.op is None or r.op.name not in ("online", "moments"):
            continue
        element = _element(r)
        if element is None:
            continue
        first = Stage(
            f"{stage.name}.first{len(firsts)}", stage.dims, _first(stage.names, r, element), stage.names, stage.given
        )
        result = stage.names.read(Read(p.Input(first.name, first.type), stage.dims))
        new[x] = _second(stage.names, r, element, result)
        firsts.append(first)
        given.add(cast(p.Input, result))
    return [*firsts, replace(stage, body=substituted(stage.body, new), given=frozenset(given))]


def _element(r: Reduction) -> Expr | None:
    """x of <x, 1>, or of <1, <x, 0>>."""
    assert r.op is not None
    match r.op.name, r.element:
        case "online", p.Tup((x, p.Literal(1.0))):
            return x
        case "moments", p.Tup((p.Literal(1.0), p.Tup((x, p.Literal(0.0))))):
            return x
    return None


def _reduced(names: Names, op: str, dims: tuple[Dim, ...], element: Expr) -> Expr:
    t = type_of(element)
    assert isinstance(t, Scalar)
    found = named(op, t)
    assert found.neutral is not None
    return names.reduced(Reduction(found.body, found.neutral, dims, element, found))


def _first(names: Names, r: Reduction, x: Expr) -> Expr:
    """The largest, or the mean."""
    assert r.op is not None
    if r.op.name == "online":
        return _reduced(names, "maximum", r.dims, x)
    return p.Apply("div", (_reduced(names, "add", r.dims, x), _count(r, x)))


def _second(names: Names, r: Reduction, x: Expr, first: Expr) -> Expr:
    """What the one pass yields, where the largest or the mean is known."""
    assert r.op is not None
    below = p.Apply("sub", (x, first))
    if r.op.name == "online":
        return p.Tup((first, _reduced(names, "add", r.dims, p.Apply("exp", (below,)))))
    return p.Tup((_count(r, x), p.Tup((first, _reduced(names, "add", r.dims, p.Apply("mul", (below, below)))))))


def _count(r: Reduction, x: Expr) -> Expr:
    """How many elements there are."""
    t, n = type_of(x), 1
    assert isinstance(t, Scalar)
    for d in r.dims:
        n *= number(d)
    return p.Literal(float(n), t)
