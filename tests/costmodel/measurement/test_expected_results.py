"""Sample inputs and agreement of results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.measurement.expected_results import PERIOD, agree, expect, flatten, sample_inputs, unflatten
from egglift.ir import types as t
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Apply, Arg, Expr, Gather, Input, Map, Tup
from egglift.ir.types import Array, Scalar, Tuple


def program(*elements: t.Type, n: int = 1000) -> Tup:
    return Tup(tuple(Input(f"x{i}", Array(n, e)) for i, e in enumerate(elements)))


@pytest.mark.parametrize("scalar", t.SCALARS.values(), ids=str)
def test_samples_are_small_and_exact_in_every_type(scalar: Scalar) -> None:
    x = sample_inputs(program(scalar, scalar))["x0"]
    assert x.shape == (1000,)
    assert x.dtype == scalar.dtype
    if scalar == t.BOOL:
        assert set(np.unique(x)) == {False, True}
        return
    assert (x != 0).all()
    limit = 1 if scalar.is_float else 9
    assert float(abs(x.astype(np.float64)).max()) <= limit
    assert (x.astype(np.float64) < 0).any() == scalar.is_signed
    if scalar.is_float:
        eighths = x.astype(np.float64) * 8
        assert (eighths == np.round(eighths)).all()


def test_sums_of_products_of_samples_do_not_depend_on_the_order() -> None:
    inputs = sample_inputs(program(t.F32, t.F32, n=1 << 16))
    products = inputs["x0"] * inputs["x1"]
    assert np.cumsum(products, dtype=np.float32)[-1] == np.float32(np.sum(products, dtype=np.float64))
    assert np.cumsum(products[::-1], dtype=np.float32)[-1] == products.sum()


def test_a_sample_follows_from_its_seed() -> None:
    p = program(t.F32, t.I32)
    a, b, c = sample_inputs(p, 3), sample_inputs(p, 3), sample_inputs(p, 4)
    assert all((a[k] == b[k]).all() for k in a)
    assert all((a[k] != c[k]).any() for k in a)


def test_a_large_sample_repeats_with_a_prime_period() -> None:
    x = sample_inputs(program(t.F32, t.F32, n=PERIOD + 10))["x0"]
    assert (x[PERIOD:] == x[:10]).all()
    assert all(PERIOD % k for k in range(2, int(PERIOD**0.5) + 1))


def test_arrays_of_tuples_are_tuples_of_arrays_and_flatten_back() -> None:
    pair = Array(5, Tuple((t.F32, Tuple((t.I32, Array(2, t.U8))))))
    value = sample_inputs(Input("x", pair))["x"]
    a, (b, c) = value
    assert (a.shape, b.shape, c.shape) == ((5,), (5,), (5, 2))
    again = unflatten(pair, iter(flatten(value)))
    assert again[0] is a
    assert again[1][1] is c


def test_integers_agree_only_exactly() -> None:
    want = np.array([1, 2, 3], np.int32)
    assert agree(want, np.array([1, 2, 3], np.int32), t.I32) is None
    problem = agree(want, np.array([1, 2, 4], np.int32), t.I32)
    assert problem == "1 of 3 elements differ; the first [2]: 4 instead of 3"


@pytest.mark.parametrize(
    ("scalar", "small", "large"), [(t.F16, 1e-3, 0.01), (t.BF16, 1e-2, 0.1), (t.F32, 1e-5, 1e-2), (t.F64, 1e-13, 1e-8)]
)
def test_floats_agree_within_what_their_type_resolves(scalar: Scalar, small: float, large: float) -> None:
    want = np.array([1.0, 100.0])
    assert agree(want, (want * (1 + small)).astype(scalar.dtype), scalar) is None
    assert agree(want, (want * (1 + large)).astype(scalar.dtype), scalar) is not None


def test_factors_rounded_to_tf32_agree_where_that_is_allowed() -> None:
    program = as_program(el.array("A", el.f32, (16, 64)) @ el.array("B", el.f32, (64, 16)))
    for tf32 in (False, True):
        expected = expect(program, tf32=tf32)
        rounded = (expected.wide[0] * (1 + 2.0**-10)).astype(np.float32)
        assert (expected.disagreement([rounded]) is None) == tf32
        assert expected.disagreement([rounded * np.float32(1.01)])


def test_one_lost_element_of_an_exact_sum_is_noticed() -> None:
    want = np.array(np.float64(12.5))
    assert agree(want, np.array(np.float32(12.375)), t.F32) is not None


def test_nan_and_infinity_agree_with_themselves_only() -> None:
    want = np.array([np.nan, np.inf, -np.inf, 1e300])
    good = np.array([np.nan, np.inf, -np.inf, np.inf], np.float32)
    assert agree(want, good, t.F32) is None
    for i, bad in enumerate((0.0, np.nan, np.inf, 1.0)):
        broken = good.copy()
        broken[i] = bad
        assert agree(want, broken, t.F32) is not None
    assert agree(np.array([1.0]), np.array([np.nan], np.float32), t.F32) is not None


def test_a_result_of_another_length_is_named() -> None:
    assert agree(np.ones(3), np.ones(2, np.float32), t.F32) == "2 elements instead of 3"


def test_flat_results_are_compared_in_the_expected_shape() -> None:
    want = np.arange(6.0).reshape(2, 3)
    flat = np.arange(6, dtype=np.float32)
    assert agree(want, flat, t.F32) is None
    flat[4] = 9
    assert "[1, 1]" in str(agree(want, flat, t.F32))


def test_empty_results_agree() -> None:
    assert agree(np.empty(0), np.empty(0, np.float32), t.F32) is None


def test_inputs_are_positive_if_negative_ones_give_no_number() -> None:
    x = Input("x", Array(100, t.F32))
    both = expect(Map(Apply("mul", (Arg(t.F32), Arg(t.F32))), x))
    assert (both.inputs["x"] < 0).any()
    deep = Apply("log", (Arg(t.F32),))
    logs = expect(Map(Apply("log", (Apply("add", (deep, Apply("abs", (deep,)))),)), x))
    assert (logs.inputs["x"] < 0).any()  # not finite either way: the general sample stays
    roots = expect(Map(Apply("log", (Apply("sqrt", (Arg(t.F32),)),)), x))
    assert (roots.inputs["x"] > 0).all()


def test_the_expected_result_is_wide_and_both_widths_pass() -> None:
    x = Input("x", Array(50, t.F32))
    e = expect(Map(Apply("exp", (Arg(t.F32),)), x))
    assert e.wide[0].dtype == np.float64
    assert e.narrow[0].dtype == np.float32
    assert e.disagreement([np.exp(e.inputs["x"])]) is None
    assert e.disagreement([np.zeros(50, np.float32)]) is not None


def test_a_sum_in_sequence_may_lose_digits_but_not_elements() -> None:
    n = 1 << 20
    program = el.as_program(el.reduce(el.add, 0.0, el.array("x", el.f32, n).map(lambda v: el.exp(v))))
    e = expect(program)
    total = e.wide[0]
    assert e.only_rounded([np.asarray(total * (1 + 1e-3))])
    assert not e.only_rounded([np.asarray(total * 0.9)])


def quotient_by_what_cancels() -> Expr:
    """1 / (x^2 - y^2 + 1e-6), of equal x and y for the first half."""
    x, y = (el.array(n, el.f32, 64) for n in "xy")
    return el.as_program(el.map(lambda a, b: 1 / (a * a - b * b + 1e-6), x, y))


def test_digits_that_rounding_decides_about_are_not_compared() -> None:
    e = expect(quotient_by_what_cancels())
    x, y = e.inputs["x"], e.inputs["y"]
    near = np.abs(x) == np.abs(y)
    assert near.any() and not near.all()
    (wide,) = e.wide
    off = wide.astype(np.float32)
    off[near] *= np.float32(1.05)  # as another order of the same operations gives it
    assert agree(wide, off, t.F32) is not None
    assert e.disagreement([off]) is None


def test_wrong_results_differ_where_rounding_decides_nothing() -> None:
    e = expect(quotient_by_what_cancels())
    (wide,) = e.wide
    near = np.abs(e.inputs["x"]) == np.abs(e.inputs["y"])
    for wrong in (wide.astype(np.float32) * np.float32(1.05), np.where(near, wide, 0).astype(np.float32)):
        assert e.disagreement([wrong]) is not None


def test_whether_a_root_of_nothing_is_a_number_rounding_decides() -> None:
    x, y = el.array("x", el.f32, 200), el.array("y", el.f32, 200)
    same = np.linspace(0.1, 1, 200, dtype=np.float32)
    e = expect(as_program(el.sqrt(x - y)), given={"x": same, "y": same})
    (wide,) = e.wide
    for other in (np.nan, 1e-5):
        assert e.disagreement([np.full_like(wide, other, np.float32)]) is None


def test_a_root_of_what_is_below_zero_is_no_number() -> None:
    x = el.array("x", el.f32, 200)
    e = expect(as_program(el.sqrt(x + 0.99)))
    (wide,) = e.wide
    assert 0 < np.isnan(wide).sum() < 200
    assert e.disagreement([wide.astype(np.float32)]) is None
    for wrong in (np.nan_to_num(wide), np.full_like(wide, np.nan)):
        assert e.disagreement([wrong.astype(np.float32)]) is not None


def test_samples_are_coarse_unless_rounding_decides() -> None:
    P, S = el.array("P", el.f32, 40), el.array("S", el.f32, 50)
    distances = el.allpairs(lambda p, s: el.square(el.sin(p - s)) + el.square(el.cos(p + s)), P, S)

    def is_coarse(program: Any) -> bool:
        return all(np.array_equal(8 * x, np.rint(8 * x)) for x in sample_inputs(as_program(program)).values())

    assert is_coarse(distances.min(axis=1)) and is_coarse((P[:, None] - S[None]).argmin(axis=1))
    assert not is_coarse(distances.argmin(axis=1))
    assert all((np.abs(x) > 0).all() for x in sample_inputs(as_program(distances.argmin(axis=1))).values())


def test_places_of_the_least_agree_whatever_the_rounding() -> None:
    P, S = el.array("P", el.f32, 4096), el.array("S", el.f32, 64)
    distances = el.allpairs(lambda p, s: el.square(el.sin((p - s) / 2)) * el.cos(p) * el.cos(s), P, S)
    expected = expect(as_program(distances.argmin(axis=1)))
    np.testing.assert_array_equal(expected.wide[0], expected.narrow[0])


def test_integers_that_say_places_say_any_of_them() -> None:
    indices = sample_inputs(Gather(Input("i", Array(4000, t.I32)), Input("x", Array(1 << 20, t.F32))))["i"]
    inside = indices[np.abs(indices) > 9]
    assert (inside >= 0).all() and (inside < 1 << 20).all()
    assert np.unique(inside >> 16).size == 16
    assert 0 < (indices < 0).sum() < 400, "some lie outside: they are clamped"


def test_places_of_short_arrays_and_small_types_fit() -> None:
    few = sample_inputs(Gather(Input("i", Array(400, t.I32)), Input("x", Array(4, t.F32))))["i"]
    assert np.abs(few).max() == 9
    small = sample_inputs(Gather(Input("i", Array(400, t.U8)), Input("x", Array(1 << 20, t.F32))))["i"]
    assert small.dtype == np.uint8 and small.max() > 200
