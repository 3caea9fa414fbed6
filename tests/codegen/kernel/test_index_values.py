"""Numbers that are made of indices are computed as indices are."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr, Level
from egglift.ir.types import F32, I8, I32, I64, Scalar
from tests.deep import every

pytestmark = pytest.mark.short


def of_places(n: int, body: Expr) -> Expr:
    """A map of places 0 .. n-1, which are i64."""
    return p.Map(body, p.Iota(n, I64), Level("global"))


PLACE = p.Arg(I64)


def number(value: int, t: Scalar = I64) -> Expr:
    return p.Literal(value, t)


def source(body: Expr, n: int = 1000) -> str:
    return compile_term(of_places(n, body), Launch(256)).source


def test_parities_take_no_more_bits_than_places() -> None:
    odd = p.Apply("eq", (p.Apply("mod", (PLACE, number(2))), number(1)))
    assert "(g0 % 2)" in source(odd) and "mod_i64" not in source(odd) and "1L" not in source(odd)


def test_a_place_becomes_a_float_from_i32() -> None:
    assert "(float)(long)" not in source(p.Cast(F32, PLACE))


def test_what_would_wrap_around_is_no_index() -> None:
    tripled = p.Apply("mul", (p.Cast(I8, PLACE), number(3, I8)))
    values = compile_term(of_places(100, tripled), Launch(64)).source
    assert "300" not in values and "out[g0] = (char)(3*g0)" not in values


@pytest.mark.parametrize(("n", "t"), every(2, (7, 300), (I8, I32, I64)), ids=str)
def test_functions_of_places_are_numpys(n: int, t: Scalar) -> None:
    x, i = np.arange(n).astype(t.dtype), el.iota(n).cast(t)
    with np.errstate(over="ignore"):
        for of in (
            lambda v: (v * 3 + 1) % 5,
            lambda v: (v - 20) // 3,
            lambda v: (v - 20) % 7,
            lambda v: -v % 4 == 1,
            lambda v: (2 * v < 5) | (v >= 6),
        ):
            kernel = el.optimize(of(i), "pocl", measure="none")
            np.testing.assert_array_equal(kernel(), of(x))
