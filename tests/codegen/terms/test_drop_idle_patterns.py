"""What does nothing at a program's lengths is gone before code is generated."""

from __future__ import annotations

import pytest

from egglift.codegen.terms.drop_idle_patterns import drop_idle_patterns
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, Array
from tests.codegen.low import fmap, lit, total, vector

x, M = vector("x", 12), vector("M", 5, 12)
empty = p.Drop(12, x)
row = p.Arg(Array(12, F32))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (p.PadUp(4, x), x),
        (p.PadUp(4, x, lit(0.0)), x),
        (p.Take(12, x), x),
        (p.Drop(0, x), x),
        (p.Concat(x, empty), x),
        (p.Concat(p.Drop(12, x), x), x),
        (fmap(lambda r: r, M), M),
        (fmap(lambda r: p.Take(12, r), M), M),
        (fmap(lambda r: p.PadUp(6, r), p.Take(5, M)), M),
        (total(p.Drop(12, x)), lit(0)),
        (fmap(lambda r: fmap(total, p.Split(6, p.PadUp(6, r))), M), fmap(lambda r: fmap(total, p.Split(6, r)), M)),
    ],
    ids=lambda e: str(e)[:60],
)
def test_what_does_nothing_is_left_out(before: Expr, after: Expr) -> None:
    assert drop_idle_patterns(before) == after


@pytest.mark.parametrize(
    "term",
    [
        p.PadUp(5, x),
        p.Take(11, x),
        p.Drop(1, x),
        p.Concat(x, x),
        total(x),
        fmap(lambda r: p.Drop(1, r), M),
        fmap(lambda e: e, x, "global"),
    ],
    ids=lambda e: str(e)[:60],
)
def test_what_does_something_stays(term: Expr) -> None:
    assert drop_idle_patterns(term) is term
