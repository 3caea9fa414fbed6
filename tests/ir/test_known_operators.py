"""Functions that are known to be associative: reductions and scans by NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir import claims
from egglift.ir.known_operators import KNOWN
from egglift.ir.types import BOOL, F16, F32, F64

pytestmark = pytest.mark.short

RNG = np.random.default_rng(4)
X = RNG.normal(size=(3, 4)).astype(np.float32) * 4
Y = RNG.integers(-5, 6, (3, 4), dtype=np.int32)
x, y = el.array("x", el.f32, (3, 4)), el.array("y", el.i32, (3, 4))
OF_FLOATS = (np.logaddexp, np.logaddexp2, np.hypot, np.fmax, np.fmin)
OF_INTEGERS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_xor, np.logical_and, np.hypot, np.fmax)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_what_is_known_of_them_holds(name: str) -> None:
    """On samples: associativity, commutativity, the neutral element."""
    for t in (BOOL,) if name == "logical_xor" else (F16, F32, F64):
        op = KNOWN[name].of(t)
        claims.check(op, t, t)
        assert op.associative and op.commutative and (op.neutral is not None) == (name != "hypot")


@pytest.mark.parametrize("f", OF_FLOATS, ids=lambda f: f.__name__)
def test_infinities_and_nan_keep_them_associative(f: np.ufunc) -> None:
    special = np.array([-np.inf, -1, 0, 2, np.inf, np.nan], np.float32)
    a, b, c = (v.reshape(-1) for v in np.meshgrid(special, special, special))
    p, q, r = (el.array(n, el.f32, a.size) for n in "pqr")
    left, right = (el.interpret(e, p=a, q=b, r=c) for e in (f(f(p, q), r), f(p, f(q, r))))
    np.testing.assert_allclose(left, right, rtol=1e-6)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(left, f(f(a, b), c), rtol=1e-6)


@pytest.mark.parametrize("axis", [0, -1, (0, 1), None])
@pytest.mark.parametrize("f", OF_FLOATS, ids=lambda f: f.__name__)
def test_reductions_are_numpys(f: np.ufunc, axis: Any) -> None:
    np.testing.assert_allclose(el.interpret(f.reduce(x, axis=axis), x=X), f.reduce(X, axis=axis), rtol=1e-5)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("f", OF_FLOATS, ids=lambda f: f.__name__)
def test_accumulations_are_numpys(f: np.ufunc, axis: int) -> None:
    found = el.interpret(f.accumulate(x, axis), x=X)
    np.testing.assert_allclose(found, f.accumulate(X, axis), rtol=1e-5)


@pytest.mark.parametrize("f", OF_INTEGERS, ids=lambda f: f.__name__)
def test_integers_are_combined_in_numpys_type(f: np.ufunc) -> None:
    for found, wanted in ((f.reduce(y), f.reduce(Y)), (f.accumulate(y, 1), f.accumulate(Y, 1))):
        value = np.asarray(el.interpret(found, y=Y))
        assert value.dtype == wanted.dtype
        np.testing.assert_allclose(value, wanted, rtol=1e-6)


def test_words_of_reductions_are_numpys() -> None:
    words: dict[str, Any] = {"axis": 1, "keepdims": True, "initial": 0.5}
    found = np.logaddexp.reduce(x, where=x > 0, **words)
    np.testing.assert_allclose(el.interpret(found, x=X), np.logaddexp.reduce(X, where=X > 0, **words), rtol=1e-5)
    with pytest.raises(el.TypeMismatch, match="numpy.logaddexp.reduce: it has no out="):
        np.logaddexp.reduce(x, out=3)


def test_halves_are_combined_in_f32() -> None:
    h, values = el.array("h", el.f16, 100), RNG.random(100).astype(np.float16)
    found = np.logaddexp.reduce(h)
    assert str(found.type) == "f16"
    exact = np.logaddexp.reduce(values.astype(np.float64))
    assert abs(float(el.interpret(found, h=values)) - exact) < 0.01


BY = {"el": el.logaddexp, "numpy": np.logaddexp, "a lambda": lambda a, b: el.logaddexp(a, b)}


@pytest.mark.parametrize("op", BY.values(), ids=BY.keys())
def test_reduce_and_scan_take_them(op: Any) -> None:
    row = X.reshape(-1)
    for first in (None, float("-inf"), 2.0):
        found = el.interpret(el.reduce(op, first, x.join()), x=X)
        wanted = np.logaddexp.reduce([*row] if first is None else [first, *row])
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(el.interpret(el.scan(op, None, x.join()), x=X), np.logaddexp.accumulate(row), rtol=1e-5)


@pytest.mark.parametrize("op", [el.hypot, el.logaddexp], ids=["hypot", "logaddexp"])
def test_kernels_reduce_by_them(op: Any) -> None:
    v, values = el.array("v", el.f32, 5000), RNG.normal(size=5000).astype(np.float32)
    program = el.reduce(op, 0.0, v), el.scan(op, 0.0, v)
    kernel = el.optimize(program, "pocl", measure="none", cache=False)
    for found, wanted in zip(kernel(values), (el.interpret(e, v=values) for e in program), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4)


@pytest.mark.parametrize(
    ("call", "error", "why"),
    [
        (lambda: np.subtract.reduce(x), el.TypeMismatch, "numpy.subtract.reduce is not taken in a program: it is not"),
        (lambda: np.gcd.reduce(y), el.TypeMismatch, "numpy.gcd.reduce .*: iterate Euclid's steps"),
        (lambda: np.add.at(x, 0, 1), el.TypeMismatch, "numpy.add.at is not taken in a program$"),
        (lambda: el.reduce(np.subtract, 0.0, x[0]), el.OperatorError, "numpy.sub is no reduction operator"),
        (lambda: el.reduce(el.hypot, None, x[0]), el.OperatorError, "hypot has no neutral element: give an initial"),
        (lambda: el.reduce(el.logaddexp, 0, y[0]), el.TypeMismatch, "it makes f64 of two i32; cast the elements"),
        (lambda: el.reduce(lambda a, b: a - b, 0.0, x[0]), el.OperatorError, "nothing says that it is associative"),
    ],
)
def test_others_are_refused_with_what_to_do(call: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        call()
