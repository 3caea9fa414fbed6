"""Which type a scalar function gives: NumPy's rules, Python's numbers weak."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.ir import patterns as p
from egglift.ir.errors import TypeMismatch
from egglift.ir.types import BF16, BOOL, F16, F32, F64, I32, SCALARS, U8
from tests.fuzz.guarded import outputs_of

pytestmark = pytest.mark.short

NUMBERS = [s for s in SCALARS.values() if s != BOOL]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: a < b,
    lambda a, b: a == b,
    np.maximum,
    np.minimum,
]


@pytest.mark.parametrize("f", BINARY)
@pytest.mark.parametrize("a", NUMBERS)
@pytest.mark.parametrize("b", NUMBERS)
def test_two_numbers_give_what_numpy_gives(f: Callable[[Any, Any], Any], a: el.Scalar, b: el.Scalar) -> None:
    want = f(np.ones(1, a.dtype), np.ones(1, b.dtype)).dtype
    assert f(el.scalar("a", a), el.scalar("b", b)).type.dtype == want


OF_TWO = (
    *("add", "subtract", "multiply", "true_divide", "floor_divide", "remainder", "maximum", "minimum", "fmax", "fmin"),
    *("fmod", "power", "float_power", "arctan2", "hypot", "logaddexp", "logaddexp2", "copysign", "heaviside"),
    *("less", "equal", "bitwise_and", "logical_xor", "left_shift", "right_shift"),
)
KINDS = [s for s in SCALARS.values() if s != BF16 and not s.is_complex]
OPERANDS = st.one_of(
    st.tuples(st.sampled_from(KINDS), st.booleans()), st.sampled_from([True, 1, 2, -1, 1.0, 2.5, np.pi, 100])
)


def wanted(f: np.ufunc, *given: Any) -> Any:
    """The type that NumPy gives; None where it refuses."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(f(*given)).dtype
    except (TypeError, ValueError, OverflowError):
        return None


@given(st.sampled_from(OF_TWO), st.sampled_from(KINDS), OPERANDS, st.booleans(), st.booleans())
def test_every_mixture_has_numpys_type(name: str, s: el.Scalar, other: Any, turned: bool, mapped: bool) -> None:
    """An array beside one of another type, a scalar of NumPy's, or a number of Python's; plain, and within `map`."""
    f, given, x = getattr(np, name), np.ones(3, s.dtype), el.array("x", s, 3)
    number = not isinstance(other, tuple)
    there = other if number else other[0].dtype.type(1) if other[1] else np.ones(3, other[0].dtype)
    beside = el.array("y", other[0], 3) if isinstance(there, np.ndarray) else there
    want = wanted(f, *((there, given) if turned else (given, there)))
    assume(want is not None)
    try:
        if mapped:
            built = el.iota(2).map(lambda i: f(beside, x) if turned else f(x, beside))[0]
        else:
            built = f(beside, x) if turned else f(x, beside)
    except TypeMismatch:
        assume(False)
    assert built.type.element.dtype == want


COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("t", [el.i8, el.i32, el.i64])
def test_signed_integers_and_u64_are_compared_exactly(t: el.Scalar) -> None:
    """As in NumPy 2: no number is rounded to f64 (2^53 + 1 is more than 2^53, -1 is less than 2^64 - 1)."""
    large = [2**53, 2**53 + 1, 2**63 - 1] if t == el.i64 else []
    signed = np.array([-1, 0, 1, np.iinfo(t.dtype).min, np.iinfo(t.dtype).max, *large], t.dtype)
    unsigned = np.array([0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    i, j = (v.reshape(-1) for v in np.meshgrid(signed, unsigned, indexing="ij"))
    a, b = el.array("a", t, len(i)), el.array("b", el.u64, len(i))
    want = [[f(int(v), int(w)) for v, w in pairs] for f in COMPARISONS for pairs in (zip(i, j), zip(j, i))]
    programs = [f(*pair) for f in COMPARISONS for pair in ((a, b), (b, a))]
    assert [el.interpret(e, a=i, b=j).tolist() for e in programs] == want
    jobs = [(compile_term(e.expr), {"a": [i], "b": [j]}) for e in programs]
    assert [found.tolist() for (found,) in outputs_of(jobs)] == want
    chosen = el.optimize(programs[0], "pocl", measure="none", cache=False)
    assert chosen(a=i, b=j).tolist() == want[0]


@pytest.mark.parametrize("f", [lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b])
@pytest.mark.parametrize("a", [s for s in SCALARS.values() if not s.is_float])
def test_bits_of_integers_and_bools_give_what_numpy_gives(f: Callable[[Any, Any], Any], a: el.Scalar) -> None:
    x, y = np.array([0, 1, 1, 0], a.dtype), np.array([0, 0, 1, 1], a.dtype)
    want = f(x, y)
    got = el.interpret(f(el.array("x", a, 4), el.array("y", a, 4)), x=x, y=y)
    assert got.dtype == want.dtype and got.tolist() == want.tolist()


@pytest.mark.parametrize("t", NUMBERS)
@pytest.mark.parametrize("number", [1, 1.0, True])
def test_python_numbers_are_weak(t: el.Scalar, number: float) -> None:
    like = F16 if t == BF16 else t  # to NumPy, bfloat16 is no float that a number of Python's own adapts to
    for f in (lambda a: a + number, lambda a: number * a, lambda a: a / number, lambda a: number < a):
        want = f(np.ones(2, like.dtype)).dtype
        assert f(el.scalar("a", t)).type.dtype == (t.dtype if want == like.dtype else want)


@pytest.mark.parametrize("f", [np.exp, np.sqrt, np.sin, np.log, np.floor, np.ceil, np.abs, np.negative, np.sign])
@pytest.mark.parametrize("t", NUMBERS)
def test_functions_of_one_number_give_what_numpy_gives(f: Callable[[Any], Any], t: el.Scalar) -> None:
    assert f(el.scalar("a", t)).type.dtype == f(np.ones(2, t.dtype)).dtype


def test_numpy_numbers_are_not_weak() -> None:
    x = el.scalar("x", el.f32)
    assert (x + np.float64(1)).type == F64
    assert (el.scalar("i", el.u8) + np.int32(1)).type == I32


def test_conversions_are_written_into_the_program() -> None:
    i, x = el.scalar("i", el.i32), el.scalar("x", el.f64)
    assert (i * x).expr is p.Apply("mul", (p.Cast(F64, i.expr), x.expr))
    assert (i / 2).expr is p.Apply("div", (p.Cast(F64, i.expr), p.Literal(2.0, F64)))
    assert (el.scalar("u", el.u8) + 3).expr is p.Apply("add", (p.Input("u", U8), p.Literal(3, U8)))


def test_a_number_that_its_type_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeMismatch, match="300 does not fit into u8"):
        el.scalar("u", el.u8) + 300
    with pytest.raises(TypeMismatch, match="-1 does not fit into u64"):
        el.scalar("u", el.u64) * -1
    with pytest.raises(TypeMismatch, match="too large for f32"):
        el.scalar("x", el.f32) + 1e300
    assert (el.scalar("x", el.f32) + np.inf).type == F32


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda b, x: -b, "neg does not take bools"),
        (lambda b, x: b - b, "sub does not take bools"),
        (lambda b, x: x & x, "bitwise_and takes integers and bools, not f32"),
        (lambda b, x: x << 1, "left_shift takes integers"),
        (lambda b, x: el.scalar("i", el.i32) ** -1, "to the power of -1"),
        (lambda b, x: el.array("i", el.i32, 2) ** np.array([2, -3]), "to the power of -3"),
        (lambda b, x: el.scalar("i", el.i8) ** 300, "300 does not fit into i8"),
        (lambda b, x: el.bitwise_count(x), "popcount takes integers and bools, not f32"),
        (lambda b, x: el.tuple(b, x) + 1, "not a scalar"),
        (lambda b, x: el.where(b, el.tuple(x, x), x), "both sides must be tuples"),
    ],
)
def test_what_has_no_meaning_is_refused(write: Callable[[Any, Any], Any], message: str) -> None:
    with pytest.raises(TypeMismatch, match=message):
        write(el.scalar("b", el.bool_), el.scalar("x", el.f32))


def test_logic_takes_numbers_by_whether_they_are_zero() -> None:
    x = np.array([0.0, 2.0, np.nan], np.float32)
    X = el.array("x", el.f32, 3)
    assert el.interpret(el.logical_not(X), x=x).tolist() == [True, False, False]
    assert el.interpret(el.logical_and(X, True), x=x).tolist() == np.logical_and(x, True).tolist()
    assert el.interpret(el.where(X, 1, 2), x=x).tolist() == [2, 1, 1]


def test_where_of_tuples_chooses_by_component_and_types_numbers() -> None:
    q = el.tuple(el.scalar("x", el.f32), el.scalar("i", el.i32))
    e = el.where(q[1] > 0, q, (0.0, -1))
    assert e.type == q.type
    assert el.interpret(e, x=np.float32(2), i=np.int32(-5)) == (0.0, -1)


@given(st.integers(-5, 16), st.sampled_from([F32, F64, I32, U8]))
def test_powers_mean_what_they_do_in_numpy(n: int, t: el.Scalar) -> None:
    if not (t.is_float or n >= 0):
        return
    x = np.array([1, 2, 3], t.dtype)
    got = el.interpret(el.array("x", t, 3) ** n, x=x)
    want = x**n if n >= 0 else 1 / x**-n
    assert got.dtype == t.dtype and np.allclose(got, want)


@pytest.mark.parametrize("f", [lambda a: a + 1, lambda a: a * 2.0, lambda a: a / 2, lambda a: a + True])
def test_bools_meet_numbers_as_in_numpy(f: Callable[[Any], Any]) -> None:
    b = np.array([False, True])
    got, want = el.interpret(f(el.array("b", el.bool_, 2)), b=b), f(b)
    assert got.dtype == want.dtype and got.tolist() == want.tolist()
