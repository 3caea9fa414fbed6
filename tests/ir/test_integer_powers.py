"""Powers of integers by integers, and bits that are counted, are NumPy's: they wrap around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.types import I32
from tests.harness import compute

INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


def given(dtype: str) -> dict[str, Any]:
    """Bases with both signs, and exponents beyond what the type holds."""
    bases = np.array([2, 3, -1 if dtype[0] == "i" else 5, 1, 0, 7, 11, 13, 17, 2])
    return {"b": bases.astype(dtype), "k": np.array([0, 1, 2, 3, 5, 7, 15, 31, 63, 100], dtype)}


def inputs(dtype: str) -> tuple[el.Value, el.Value]:
    return el.array("b", el.as_type(np.dtype(dtype)), 10), el.array("k", el.as_type(np.dtype(dtype)), 10)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("f", [lambda b, k: b**k, lambda b, k: 2**k + b, lambda b, k: 3**k + b, lambda b, k: b**20 + k])
def test_powers_of_integers_are_numpys(f: Callable[[Any, Any], Any], dtype: str) -> None:
    arrays = given(dtype)
    program, want = f(*inputs(dtype)), f(*arrays.values())
    assert program.dtype == want.dtype
    np.testing.assert_array_equal(el.interpret(program, **arrays), want)
    np.testing.assert_array_equal(compute(el.as_expr(program), **arrays), want)


def test_powers_of_two_are_shifts_and_of_minus_one_are_signs() -> None:
    k = el.scalar("k", el.i32)
    assert (2**k).expr is (1 << k).expr
    assert (np.int32(2) ** k).expr is (1 << k).expr
    assert [int(el.interpret((-1) ** k, k=i)) for i in (0, 1, 2, 7)] == [1, -1, 1, -1]
    assert (k**17).expr is p.Apply("pow", (k.expr, p.Literal(17, I32)))


def test_a_negative_power_known_later_is_the_reciprocal_cut_off() -> None:
    arrays = {"b": np.array([1, -1, -1, 2, 0, -7], "i4"), "k": np.array([-3, -3, -2, -1, -1, -5], "i4")}
    power = el.array("b", el.i32, 6) ** el.array("k", el.i32, 6)
    for got in (el.interpret(power, **arrays), compute(power.expr, **arrays)):
        assert got.tolist() == [1, -1, 1, 0, 0, 0]


def test_bools_to_powers_of_bools_are_small_integers() -> None:
    b = np.array([True, False])
    x = el.array("b", el.bool_, 2)
    assert (x**x).dtype == (b**b).dtype and (2**x).dtype == (2**b).dtype
    assert el.interpret(2**x, b=b).tolist() == [2, 1]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_counted_bits_are_those_of_absolute_values(dtype: str) -> None:
    ends = np.iinfo(dtype)
    b = np.array([0, 1, ends.max, ends.min, 85, ends.min + 3], dtype)
    x = el.array("b", el.as_type(b.dtype), 6)
    want = [bin(abs(int(i))).count("1") for i in b]
    assert np.bitwise_count(x).expr is el.bitwise_count(x).expr
    for got in (el.interpret(el.bitwise_count(x), b=b), compute(el.bitwise_count(x).expr, b=b)):
        assert got.dtype == np.uint8 and got.tolist() == want


def test_values_tell_numpys_type_and_how_many_bytes() -> None:
    x = el.array("x", el.f32, (3, 4))
    assert (x.dtype, x.ndim, x.size, x.itemsize, x.nbytes, len(x)) == (np.dtype("f4"), 2, 12, 4, 48, 3)
    assert (np.ndim(x), np.size(x), np.size(x, 1), np.shape(x)) == (2, 12, 4, (3, 4))
    pairs = el.zip(x[0], x[1])
    assert not hasattr(pairs, "dtype")
    assert el.zip(x[0], x[0].cast(el.f64)).nbytes == 48
    with pytest.raises(AttributeError, match="parts of a tuple have types of their own"):
        pairs.dtype  # noqa: B018
