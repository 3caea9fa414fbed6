"""Convolutions, gradients, areas, polynomials and tables by NumPy's names, and elements chosen by conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import egglift as el
from egglift.ir.signature import inputs_of

RNG = np.random.default_rng(6)
X, W, M = RNG.random(12, np.float32), RNG.random(5, np.float32), RNG.random((4, 5), np.float32)
K = RNG.integers(-4, 5, 12, dtype=np.int32)
EDGES = np.array([0.2, 0.5, 0.9], np.float32)
INPUTS: dict[str, Any] = {"x": X, "w": W, "m": M, "k": K}

CALLS: dict[str, Callable[..., Any]] = {
    "convolve": lambda x, w, m, k: np.convolve(x, w),
    "convolve, the shorter one first": lambda x, w, m, k: np.convolve(w, x, "same"),
    "convolve with numbers": lambda x, w, m, k: np.convolve(x, [1.0, 2.0], "valid"),
    "convolve integers": lambda x, w, m, k: np.convolve(k, k[:3], "same"),
    "gradient": lambda x, w, m, k: np.gradient(x),
    "gradient of spacing": lambda x, w, m, k: np.gradient(x, 0.5),
    "gradient of integers": lambda x, w, m, k: np.gradient(k, 2),
    "gradient of rows": lambda x, w, m, k: np.gradient(m, 0.25, axis=-1),
    "one of two gradients": lambda x, w, m, k: np.gradient(m, 2.0, 0.5)[1],
    "trapezoid": lambda x, w, m, k: np.trapezoid(x, dx=0.5),
    "trapezoid of columns": lambda x, w, m, k: np.trapezoid(m, axis=0),
    "trapezoid at places": lambda x, w, m, k: np.trapezoid(m, w),
    "trapezoid of integers": lambda x, w, m, k: np.trapezoid(k),
    "polyval": lambda x, w, m, k: np.polyval(w, x),
    "polyval of numbers": lambda x, w, m, k: np.polyval([1.0, -2.0, 3.0], m),
    "polyval of integers": lambda x, w, m, k: np.polyval(np.array([1, 2], "i4"), k),
    "interp": lambda x, w, m, k: np.interp(3 * m - 1, np.linspace(0, 1, 5), w),
    "digitize": lambda x, w, m, k: np.digitize(x, EDGES),
    "digitize of integers": lambda x, w, m, k: np.digitize(k, np.array([-2, 0, 3]), right=True),
    "digitize, edges fall": lambda x, w, m, k: np.digitize(x, EDGES[::-1]),
    "select": lambda x, w, m, k: np.select([x < 0.3, x < 0.6], [x, 2 * x], -1.0),
    "select without a default": lambda x, w, m, k: np.select([k < 0], [k]),
    "isin": lambda x, w, m, k: np.isin(k, [1, -3, 4]),
    "isin, inverted": lambda x, w, m, k: np.isin(k, k[:2], invert=True),
    "append": lambda x, w, m, k: np.append(x, w),
    "append of numbers": lambda x, w, m, k: np.append(x, [1.0, 2.0]),
    "append of rows": lambda x, w, m, k: np.append(m, m[:1], axis=0),
    "concatenate, two types": lambda x, w, m, k: np.concatenate([x, k]),
    "hstack, two types": lambda x, w, m, k: np.hstack([k, x, np.arange(2)]),
    "array_equal": lambda x, w, m, k: np.array_equal(x, x),
    "array_equal of two": lambda x, w, m, k: np.array_equal(x, k),
    "array_equal of other shapes": lambda x, w, m, k: np.array_equal(x, w),
    "fftshift": lambda x, w, m, k: np.fft.fftshift(m),
    "ifftshift of an axis": lambda x, w, m, k: np.fft.ifftshift(m, axes=1),
    "atleast_1d": lambda x, w, m, k: np.atleast_1d(x),
    "atleast_2d": lambda x, w, m, k: np.atleast_2d(x),
}


@pytest.mark.parametrize("f", CALLS.values(), ids=CALLS.keys())
def test_values_and_types_are_numpys(f: Callable[..., Any]) -> None:
    inputs = {name: el.array(name, a.dtype, a.shape) for name, a in INPUTS.items()}
    built, wanted = f(**inputs), np.asarray(f(**INPUTS))
    assert isinstance(built, el.Value)
    used = {name: INPUTS[name] for name in inputs_of(built.expr)}
    found = np.asarray(el.interpret(built, **used))
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@given(st.integers(1, 6), st.integers(1, 6), st.sampled_from(["full", "same", "valid"]), st.booleans())
def test_correlations_of_all_lengths_are_numpys(n: int, m: int, mode: Any, is_complex: bool) -> None:
    a, v = (RNG.random(k, np.float32) for k in (n, m))
    if is_complex:
        a, v = (b * np.complex64(1 - 2j) + np.complex64(1j) for b in (a, v))
    x, w = el.array("a", a.dtype, n), el.array("v", v.dtype, m)
    for f in (np.correlate, np.convolve):
        found = np.asarray(el.interpret(f(x, w, mode), a=a, v=v))
        np.testing.assert_allclose(found, f(a, v, mode), rtol=1e-5, atol=1e-6)


x = el.array("x", el.f32, 12)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: np.convolve(x, x, "around"), "mode 'around' of a convolution: there are full, same, valid"),
        (lambda: np.convolve(x.split(3), x), "convolve of .*: it takes two vectors"),
        (lambda: np.gradient(x[:1]), "it takes two elements or more"),
        (lambda: np.gradient(x, 1.0, 2.0), "gradient along 1 axes takes one number"),
        (lambda: np.gradient(x, edge_order=2), "it has no edge_order="),
        (lambda: np.gradient(x, axis=1), "it has no axis 1"),
        (lambda: np.interp(x, x, x[1:]), "two vectors of one length"),
        (lambda: np.polyval(x.split(3), x), "polyval takes a vector"),
        (lambda: np.select([x > 0], [x, x]), "select of 1 conditions and 2 choices"),
    ],
)
def test_what_does_not_fit_is_told(call: Callable[[], Any], why: str) -> None:
    with pytest.raises((el.ShapeError, el.TypeMismatch), match=why):
        call()
