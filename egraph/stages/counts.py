"""Counts in parts: each part has counts of its own, which are added.

    counts[1] = count for 0 of x[0]   ->   parts[0, 2] = count for 1 < c of x[0 * c + 1];  [ sum_1 parts[1, 0] ]

source: egglift; an element is in one part, and integers are added in any order
"""

from __future__ import annotations

from dataclasses import replace

from egglift.egraph.stages.stage import Read, Reduction, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.check import type_of
from egglift.ir.operators import named
from egglift.ir.patterns import Expr
from egglift.ir.types import BOOL, I64, Scalar, Tuple, Type


def counted_in_parts(stage: Stage, length: int) -> tuple[Stage, Stage]:
    """The stage of the parts, of so many elements each, and the stage that adds them.

    The last part is filled up with what is nowhere.
    """
    names, counts, (*outer, last) = stage.names, stage.counts, stage.dims
    assert counts is not None
    n = number(last)
    which, inside, bins = names.dim(-(-n // length)), names.dim(length), names.dim(counts.length)

    def cut(x: Expr) -> Expr:
        return p.Split(length, p.PadUp(length, x))

    body = names.with_reads(stage.body, lambda r: r.along(last, cut, (which, inside)))
    if n % length:
        there = p.PadUp(length, p.Fill(n, p.Literal(True, BOOL)), p.Literal(False, BOOL))
        body = _where(names.read(Read(p.Split(length, there), (which, inside))), body)
    parts = replace(stage, name=f"{stage.name}.counts", dims=(which, *outer, inside), body=body)
    depth = len(outer) + 2

    def total(t: Type, part: Expr) -> Expr:
        if isinstance(t, Tuple):
            own = (at_depth(depth, part, lambda e, i=i: p.Get(i, e)) for i in range(len(t.items)))  # type: ignore[misc]
            return p.Tup(tuple(map(total, t.items, own)))
        assert isinstance(t, Scalar)
        add = named("add", t)
        assert add.neutral is not None
        element = names.read(Read(part, (which, *outer, bins)))
        return names.reduced(Reduction(add.body, add.neutral, (which,), element, add))

    body = total(counts.type, p.Input(parts.name, parts.type))
    return parts, Stage(stage.name, (*outer, bins), body, names)


def _where(there: Expr, body: Expr) -> Expr:
    """What is counted, or -1, which is nowhere; of sums, the same of what they are by."""
    if isinstance(body, p.Tup):
        place, *added = body.items
        return p.Tup((_where(there, place), *added))
    t = type_of(body)
    assert isinstance(t, Scalar)
    wide = body if t.is_signed else p.Cast(I64, body)
    return p.Apply("where", (there, wide, p.Literal(-1, t if t.is_signed else I64)))
