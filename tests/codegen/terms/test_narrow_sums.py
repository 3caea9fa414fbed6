"""Sums of few small integers are in 32 bits."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.terms.narrow_sums import narrow_sums
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, I8, I16, I32, I64, U8, U16, U32, U64, Scalar
from tests.codegen.low import elem, fmap, lit, meaning, op, pair, vector
from tests.harness import run


def summed(x: Expr, wide: Scalar = I64, init: Expr | None = None) -> Expr:
    """The sum of an array in a wider type."""
    total, element = pair(wide, elem(x))
    return p.Fold(op("add", total, p.Cast(wide, element)), init or lit(0, wide), x)


@pytest.mark.parametrize(
    ("given", "wide", "narrow"),
    [
        (vector("x", 1000, t=I8), I64, I32),
        (vector("x", 1000, t=I16), I64, I32),
        (vector("x", 1000, t=U8), U64, U32),
        (fmap(lambda v: op("gt", v, lit(0.5)), vector("x", 1000)), I64, I32),
        (vector("x", (1 << 24) - 1, t=I8), I64, I32),
        (vector("x", (1 << 16) - 1, t=I16), I64, I32),
    ],
    ids=["bytes", "shorts", "unsigned bytes", "counts", "as many bytes as fit", "as many shorts as fit"],
)
def test_a_sum_that_fits_is_in_32_bits(given: Expr, wide: Scalar, narrow: Scalar) -> None:
    e = summed(given, wide, lit(7, wide))
    found = narrow_sums(e)
    assert isinstance(found, p.Apply) and type_of(found) == wide and found.args[0] == lit(7, wide)
    assert isinstance(found.args[1], p.Cast) and type_of(found.args[1].x) == narrow


@pytest.mark.parametrize(
    "e",
    [
        summed(vector("x", 1 << 24, t=I8)),
        summed(vector("x", 1 << 16, t=I16)),
        summed(vector("x", 1000, t=I32)),
        summed(vector("x", 1000, t=I8), U64),
        summed(vector("x", 1000, t=I8), F32),
        p.Fold(
            op("add", pair(I64, I8)[0], p.Cast(I64, p.Cast(I8, pair(I64, I8)[0]))), lit(0, I64), vector("x", 9, t=I8)
        ),
        p.Fold(op("mul", pair(I64, I8)[0], p.Cast(I64, pair(I64, I8)[1])), lit(1, I64), vector("x", 9, t=I8)),
    ],
    ids=[
        "too many bytes",
        "too many shorts",
        "wide already",
        "signed into unsigned",
        "floats",
        "not a sum",
        "a product",
    ],
)
def test_any_other_fold_stays(e: Expr) -> None:
    assert narrow_sums(e) == e


def test_sums_of_sums_are_narrow_as_long_as_they_fit() -> None:
    def of(rows: int) -> Expr:
        x = vector("x", rows, 256, t=U16)
        total, row = pair(U64, elem(x))
        inner = p.Fold(op("add", pair(U64, U16)[0], p.Cast(U64, pair(U64, U16)[1])), total, row)
        return p.Fold(inner, lit(0, U64), x)

    few, many = narrow_sums(of(100)), narrow_sums(of(300))
    assert isinstance(few, p.Apply) and isinstance(few.args[1], p.Cast) and type_of(few.args[1].x) == U32
    assert isinstance(many, p.Fold) and type_of(many) == U64


@pytest.mark.parametrize("t", [I8, U8, I16, U16])
def test_the_largest_and_the_least_numbers_add_up(t: Scalar) -> None:
    wide = I64 if t.is_signed else U64
    e = summed(vector("x", 3000, t=t), wide, lit(1 << 40, wide))
    for value in (np.iinfo(t.dtype).min, np.iinfo(t.dtype).max):
        x = np.full(3000, value, t.dtype)
        plan = compile_term(e)
        assert run(plan, {"x": x})[0].item() == meaning(e, x=x)[0].item() == (1 << 40) + 3000 * int(value)
        assert "int acc" in plan.source, plan.source
