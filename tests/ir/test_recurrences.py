"""Recurrences of first order are what a loop computes; scans with own functions begin with the first element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el

pytestmark = pytest.mark.short

RNG = np.random.default_rng(0)


def loop(a: Any, b: np.ndarray, init: float = 0, reverse: bool = False) -> np.ndarray:
    """`y[i] = a[i] * y[i - 1] + b[i]`."""
    if reverse:
        return loop(np.broadcast_to(a, b.shape)[::-1], b[::-1], init)[::-1]
    found = list[Any]()
    for factor, term in zip(np.broadcast_to(a, b.shape), b, strict=True):
        found.append(factor * (found[-1] if found else init) + term)
    return np.array(found, b.dtype)


def given(n: int) -> dict[str, np.ndarray]:
    return {"a": RNG.uniform(-1, 1, n).astype("f4"), "b": RNG.standard_normal(n).astype("f4")}


def inputs(n: int) -> tuple[el.Value, el.Value]:
    return el.array("a", el.f32, n), el.array("b", el.f32, n)


def after(s: el.Value, t: el.Value) -> Any:
    return s[0] * t[0], t[0] * s[1] + t[1]


def greater(s: el.Value, t: el.Value) -> el.Value:
    """Which nothing says to be associative, and has no neutral element."""
    return el.where(t > s, t, s)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
def test_a_recurrence_is_what_a_loop_computes(n: int, reverse: bool) -> None:
    arrays, (a, b) = given(n), inputs(n)
    by_arrays = el.linear_recurrence(a, b, 3, reverse=reverse)
    got = el.interpret(by_arrays, **arrays)
    assert got.dtype == np.float32 and np.allclose(got, loop(arrays["a"], arrays["b"], 3, reverse), atol=1e-5)
    by_number = el.interpret(el.linear_recurrence(0.5, b, reverse=reverse), b=arrays["b"])
    assert by_number.dtype == np.float32 and np.allclose(by_number, loop(0.5, arrays["b"], 0, reverse), atol=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_a_scan_of_pairs_is_that_recurrence_too(n: int, reverse: bool) -> None:
    arrays, pair = given(n), inputs(n)
    _, y = el.associative_scan(after, pair, reverse=reverse)
    assert np.allclose(el.interpret(y, **arrays), loop(arrays["a"], arrays["b"], 0, reverse), atol=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
def test_scans_without_neutral_elements_begin_with_the_first(reverse: bool) -> None:
    a = given(9)["a"]
    x = el.array("a", el.f32, 9)
    turned = a[::-1] if reverse else a
    want = np.maximum.accumulate(turned)[:: -1 if reverse else 1]
    for f in (greater, el.maximum, lambda s, t: el.maximum(s, t)):
        assert np.array_equal(el.interpret(el.associative_scan(f, x, reverse=reverse), a=a), want)
    assert el.associative_scan(greater, el.array("e", el.f32, 0)).shape == (0,)


def test_what_a_scan_begins_with_is_no_number() -> None:
    """Nothing is multiplied with the first element: of an infinite one a product with 0 would be NaN."""
    a, b = np.float32([np.inf, 0.5, 0.5]), np.float32([1, 2, 3])
    program = el.associative_scan(
        lambda s, t: (s[0] * t[0], t[0] * s[1] + t[1]), (el.array("a", el.f32, 3), el.array("b", el.f32, 3))
    )
    assert np.array_equal(el.interpret(program, a=a, b=b)[1], np.float32([1, 2.5, 4.25]))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_recurrences_go_along_any_axis(axis: int) -> None:
    m = RNG.standard_normal((5, 7)).astype("f4")
    M = el.array("m", el.f32, (5, 7))
    want = np.apply_along_axis(lambda v: loop(0.5, v), axis, m)
    _, y = el.associative_scan(after, (M * 0 + 0.5, M), axis=axis)
    for program in (el.linear_recurrence(0.5, M, axis=axis), y):
        assert np.allclose(el.interpret(program, m=m), want, atol=1e-5)
    greatest = el.associative_scan(greater, M, axis=axis)
    assert np.array_equal(el.interpret(greatest, m=m), np.maximum.accumulate(m, axis))


def test_recurrences_have_the_types_that_arithmetic_has() -> None:
    integers = el.linear_recurrence(3, el.array("k", el.i32, 6), 1)
    assert el.interpret(integers, k=np.arange(6, dtype="i4")).tolist() == [3, 10, 32, 99, 301, 908]
    z = el.linear_recurrence(0.5j, el.array("z", el.c64, 6))
    assert np.allclose(el.interpret(z, z=np.ones(6, "c8")), loop(0.5j, np.ones(6, "c8")))
    assert el.linear_recurrence(0.5, el.array("h", el.f16, 6)).dtype == np.float16
    assert el.linear_recurrence(el.array("d", el.f64, 6), el.array("x", el.f32, 6)).dtype == np.float64


@pytest.mark.parametrize("n", [1, 1000, 70001])
def test_kernels_of_recurrences_compute_them(n: int) -> None:
    arrays, (a, b) = given(n), inputs(n)
    kernel = el.optimize(el.linear_recurrence(a, b), "pocl", measurements=1)
    assert np.allclose(kernel(**arrays), loop(arrays["a"], arrays["b"]), rtol=1e-4, atol=1e-4)


def test_recurrences_over_lengths_known_later_are_computed() -> None:
    x = el.array("x", el.f32, el.size("n"))
    kernel = el.optimize(el.linear_recurrence(0.9, x), "pocl", measure="none")
    assert np.allclose(kernel(np.ones(321, "f4")), loop(0.9, np.ones(321, "f4")), atol=1e-4)


X, M = el.array("x", el.f32, 9), el.array("m", el.f32, (5, 7))


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda: el.linear_recurrence(0.5, 3.0), "takes an array b and a number init"),
        (lambda: el.linear_recurrence(0.5, M, M[0]), "add a \\* init to the first"),
        (lambda: el.linear_recurrence(X, M), "shapes must agree"),
        (lambda: el.associative_scan(el.add, (X, M)), "two or more of one shape, not x: .*, m:"),
        (lambda: el.associative_scan(lambda s, t: s[0], (X, X)), "it makes f32 of two"),
        (lambda: el.associative_scan(lambda s, t: s > t, X), "it makes bool of two f32"),
        (lambda: el.associative_scan(el.add, el.scalar("s", el.f32)), "a scan goes along an axis"),
        (lambda: el.associative_scan(3, X), "is not an operator"),
    ],
)
def test_what_does_not_fit_a_recurrence_is_refused(write: Any, message: str) -> None:
    with pytest.raises(el.EggliftError, match=message):
        write()
