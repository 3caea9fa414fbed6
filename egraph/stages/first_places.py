"""The first place of the largest element, of elements that come in order: one comparison decides.

    reduce argmax <-inf, last> [<where(x != x, -inf, x), i> for i < n]
    = <v, where(p = last, 0, p)>
      of  <v, p> = fold (\\<<v, p>, <x, i>>. if x > v then <x, i> else <v, p>) <-inf, last> [<x, i> for i < n]

A later element that is equal comes too late; NaN, and -inf itself, never beat the worst value, and where nothing does,
the first place is 0.  Whoever goes through elements of one dimension does so in order: digits of a dimension are never
exchanged with each other (ways.py).  Parts are combined by the operator.

source: egglift
"""

from __future__ import annotations

from dataclasses import replace

from egglift.egraph.stages.stage import Names, Read, Reduction, substituted
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.reduction import larger, smaller
from egglift.ir.types import Scalar, Tuple

#: each operator and the comparison by which a new element beats the old one
BEATS = ((larger, "gt"), (smaller, "lt"))


def first_places_in_order(names: Names, body: Expr) -> Expr:
    """`body` with every such reduction as one that takes its elements in order."""
    new: dict[Expr, Expr] = {}
    for x, what in names.of(body):
        if isinstance(what, Reduction) and (ordered := _in_order(names, what)) is not None:
            new[x] = ordered
    return substituted(body, new)


def _in_order(names: Names, r: Reduction) -> Expr | None:
    beats = _beats(r)
    if beats is None:
        return None
    match r.element, r.init:
        case p.Tup((value, place)), p.Tup((p.Literal() as worst, p.Literal() as last)) if _counts(names, place, r):
            x = _guarded(value, worst)
            if x is None:
                return None
            chosen = names.reduced(replace(r, step=_step(type_of(r.init), beats), element=p.Tup((x, place))))
            at = p.Get(1, chosen)
            first = p.Apply("where", (p.Apply("eq", (at, last)), p.Literal(0, last.type), at))
            return p.Tup((p.Get(0, chosen), first))
    return None


def _beats(r: Reduction) -> str | None:
    """The comparison of a reduction with one of the operators, from its neutral element on, over one dimension."""
    t = type_of(r.init)
    if r.op is None or r.init != r.op.neutral or len(r.dims) != 1 or not isinstance(t, Tuple):
        return None
    return next((name for op, name in BEATS if op.name == r.op.name and op.of(t).body == r.op.body), None)


def _counts(names: Names, place: Expr, r: Reduction) -> bool:
    """Is a component of the element its place?"""
    read = names.reads.get(place.name) if isinstance(place, p.Input) else None
    return isinstance(read, Read) and isinstance(read.view, p.Iota) and read.dims == r.dims


def _guarded(value: Expr, worst: p.Literal) -> Expr | None:
    """What is compared where NaN counts as the worst value; None for a float that may be NaN."""
    match value:
        case p.Apply("where", (p.Apply("ne", (a, b)), instead, x)) if a == b == x and instead == worst:
            return x
    t = type_of(value)
    return value if isinstance(t, Scalar) and not t.is_float else None


def _step(t: object, beats: str) -> Expr:
    assert isinstance(t, Tuple)
    arg = p.Arg(Tuple((t, t)))
    (v, at), (x, i) = ((p.Get(0, p.Get(k, arg)), p.Get(1, p.Get(k, arg))) for k in range(2))
    better = p.Apply(beats, (x, v))
    return p.Tup((p.Apply("where", (better, x, v)), p.Apply("where", (better, i, at))))
