"""Reductions that need each other's results, in one pass, and those that must not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.one_pass import online
from egglift.egraph.stages.partition import stages_of
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.traverse import subterms
from egglift.ir.types import F32
from tests.egraph.staged import result, texts, whole
from tests.egraph.stages.programs import add_up, arr

A = arr("A", 5, 7)


def variance(r: Any, n: float = 7.0) -> Any:
    mean = add_up(r) / n
    return add_up(r.map(lambda v: (v - mean) * (v - mean)))


def spread(r: Any) -> Any:
    largest = el.reduce(el.maximum, float("-inf"), r)
    return add_up(r.map(lambda v: el.exp(v - largest)))


@pytest.mark.parametrize("f", [variance, spread])
def test_one_pass_computes_what_two_do(f: Callable[[Any], Any]) -> None:
    (text,) = texts(A.map(f))
    assert "moments" in text or "online" in text
    assert len(texts(A.map(f), reassociate=False)) == 2


@pytest.mark.parametrize("t", (el.f16, el.bf16), ids=str)
def test_powers_of_halves_are_added_up_in_one_pass(t: Any) -> None:
    x = arr("x", 5, 7, t=t)
    powers = el.exp(x - x.max(axis=1, keepdims=True))
    first, *_ = texts(powers / powers.sum(axis=1, keepdims=True))
    assert "online for" in first and "(cast f32 x[" in first, "the largest is kept in f32"
    rng = np.random.default_rng(0)
    inputs = {"x": (8 * rng.standard_normal((5, 7))).astype(t.dtype)}
    program = as_program(powers / powers.sum(axis=1, keepdims=True))
    wide = inputs["x"].astype(np.float64)
    expected = np.exp(wide - wide.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    (found,) = result(whole(stages_of(program)), inputs)
    assert np.abs(np.asarray(found).astype(np.float64) - expected).max() < 2 * float(np.finfo(np.float16).eps) * 8


@pytest.mark.parametrize(
    "f", [lambda r: variance(r, 6.0), lambda r: add_up(r.map(lambda v: el.exp(v - add_up(r) / 7)))]
)
def test_other_reductions_stay_in_two_passes(f: Callable[[Any], Any]) -> None:
    assert len(texts(A.map(f))) == 2


def apart(v: Any, n: float = 7.0) -> Any:
    mean = add_up(v) / n
    return v.map(lambda e: e - mean)


def covariance(u: Any, v: Any) -> Any:
    return add_up(el.map(lambda a, b: a * b, apart(u), apart(v)))


def slope(u: Any, v: Any) -> Any:
    return covariance(u, v) / (variance(u) + 1.0)


def cosine(u: Any, v: Any) -> Any:
    return covariance(u, v) * el.rsqrt(variance(u) * variance(v) + 1.0) + add_up(u) - add_up(v)


def turned(u: Any, v: Any) -> Any:
    mean = add_up(u) / 7.0
    return add_up(el.map(lambda a, b: (mean - a) * b, u, apart(v)))


@pytest.mark.parametrize("f", [covariance, slope, cosine, turned])
def test_products_of_distances_take_one_pass(f: Callable[[Any, Any], Any]) -> None:
    program = as_program(el.map(f, A, arr("B", 5, 7)))
    (text,) = texts(program)
    assert "moments of 2" in text and len(texts(program, reassociate=False)) > 1
    values = {n: np.random.default_rng(3).standard_normal((5, 7)).astype("f4") + 9 for n in "AB"}
    (expected,), (found,) = (result(e, values) for e in (program, whole(stages_of(program))))
    np.testing.assert_allclose(found, expected, 1e-4, 1e-4)


def test_numbers_in_no_product_have_moments_of_their_own() -> None:
    program = as_program(el.map(lambda u, v: variance(u) + variance(v), A, arr("B", 5, 7)))
    (text,) = texts(program)
    assert text.count("moments") == 2 and "moments of 2" not in text


def test_covariances_of_all_pairs_of_columns_stay_a_product() -> None:
    centred = A - A.mean(axis=0)
    assert not any("moments" in text for text in texts(centred.T @ centred))


@pytest.mark.parametrize("n", [6.0, 8.0])
def test_distances_from_no_mean_stay_in_two_passes(n: float) -> None:
    program = el.map(lambda u, v: add_up(el.map(lambda a, b: a * b, apart(u, n), apart(v))), A, arr("B", 5, 7))
    assert not any("moments" in text for text in texts(program))


def test_infinities_in_one_pass_are_as_in_two() -> None:
    program = as_program(A.map(spread))
    values = np.zeros((5, 7), np.float32)
    values[0, 3], values[1, :], values[2, 2], values[3, 0] = np.inf, -np.inf, -np.inf, 80.0
    with np.errstate(all="ignore"):
        (expected,), (found,) = (result(e, {"A": values}) for e in (program, whole(stages_of(program))))
    assert np.allclose(found[2:], expected[2:])


def test_two_sums_below_their_largest_take_one_exponential() -> None:
    body = online(F32).body
    assert sum(isinstance(t, p.Apply) and t.op == "exp" for t in subterms(body)) == 1


def test_what_is_read_by_columns_takes_one_pass_too() -> None:
    X = arr("X", 40, 7)
    for program in (X.var(axis=0), el.log(el.exp(X - X.max(axis=0)).sum(axis=0)) + X.max(axis=0)):
        (stage,) = texts(program)
        assert ("moments" in stage) != ("online" in stage) and "maximum for" not in stage
