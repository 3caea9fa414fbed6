"""Scans in the notation: NumPy's accumulations by their names, and what is written wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.errors import OperatorError, ShapeError, TypeMismatch
from egglift.ir.operators import named
from egglift.ir.types import F32, SCALARS, Scalar

X, A = el.array("x", el.f32, 8), el.array("A", el.f32, (4, 6))
ADD, ZERO = named("add", F32), p.Literal(0.0, F32)
NUMBERS = [t for t in SCALARS.values() if t.name != "bool"]
ACCUMULATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (el.cumsum, np.cumsum),
    "product": (el.cumprod, np.cumprod),
    "maximum": (el.cummax, lambda a, axis: np.maximum.accumulate(a, axis)),
    "minimum": (el.cummin, lambda a, axis: np.minimum.accumulate(a, axis)),
}


def some(t: Scalar, *shape: int) -> np.ndarray[Any, Any]:
    """Small numbers of a type."""
    numbers = np.random.default_rng(3).integers(0 if not t.is_signed else -3, 4, shape)
    return numbers.astype(t.dtype)


def test_a_scan_is_a_pattern_of_a_row() -> None:
    assert el.scan(el.add, 0, X).expr is X.cumsum().expr is p.Scan(ADD, ZERO, X.expr)
    rows = p.Map(p.Scan(ADD, ZERO, p.Arg(X.type)), el.array("R", el.f32, (3, 8)).expr)
    assert el.array("R", el.f32, (3, 8)).cumsum(axis=1).expr is rows


@pytest.mark.parametrize("name", ACCUMULATIONS)
@pytest.mark.parametrize("t", SCALARS.values(), ids=SCALARS.keys())
def test_accumulations_are_numpys_for_every_type(name: str, t: Scalar) -> None:
    ours, numpys = ACCUMULATIONS[name]
    a = some(t, 4, 6)
    for axis in (0, 1, -1):
        found, expected = el.interpret(ours(el.array("a", t, (4, 6)), axis), a=a), numpys(a, axis)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["sum", "product"])
def test_without_an_axis_all_elements_are_one_vector(name: str) -> None:
    ours, numpys = ACCUMULATIONS[name]
    a = some(F32, 4, 6)
    np.testing.assert_array_equal(el.interpret(ours(A), A=a), numpys(a))
    np.testing.assert_array_equal(el.interpret(ours(el.scalar("s", el.f32)), s=np.float32(3)), numpys(np.float32(3)))


def test_numpy_itself_builds_the_same_programs() -> None:
    assert np.cumsum(A, axis=0).expr is el.cumsum(A, 0).expr  # type: ignore[attr-defined]
    assert np.cumprod(A).expr is el.cumprod(A).expr  # type: ignore[attr-defined]
    assert np.add.accumulate(A).expr is el.cumsum(A, 0).expr  # type: ignore[attr-defined]
    assert np.maximum.accumulate(A, axis=1).expr is el.cummax(A, 1).expr  # type: ignore[attr-defined]
    with pytest.raises(TypeMismatch, match=r"numpy\.subtract\.accumulate is not taken"):
        np.subtract.accumulate(A)


def test_nan_stays_from_where_it_stands() -> None:
    a = np.array([1, np.nan, 3, 0], "f4")
    for ours, numpys in ACCUMULATIONS.values():
        found = el.interpret(ours(el.array("a", el.f32, 4)), a=a)
        np.testing.assert_array_equal(found, numpys(a, 0))


@given(st.integers(0, 12), st.booleans(), st.booleans(), st.integers(-3, 3))
def test_a_scan_may_leave_its_own_out_and_go_backwards(n: int, exclusive: bool, reverse: bool, seed: int) -> None:
    x, a = el.array("x", el.i64, n), np.arange(1, n + 1)
    turned = a[::-1] if reverse else a
    expected = seed + np.cumsum(turned) - (turned if exclusive else 0)
    found = el.interpret(el.scan(el.add, seed, x, exclusive=exclusive, reverse=reverse), x=a)
    np.testing.assert_array_equal(found, expected[::-1] if reverse else expected)


def test_the_order_of_an_operator_is_kept() -> None:
    first = el.operator(lambda a, b: a, commutative=False)
    last = el.operator(lambda a, b: b, commutative=False)
    a = np.arange(8, dtype="f4")
    assert (el.interpret(el.scan(first, 9, X), x=a) == 9).all()
    np.testing.assert_array_equal(el.interpret(el.scan(last, 9, X), x=a), a)
    np.testing.assert_array_equal(el.interpret(el.scan(last, 9, X, exclusive=True), x=a), [9, *a[:-1]])


def test_a_scan_captures_what_it_begins_with() -> None:
    starts = el.array("s", el.f32, 4)
    program = el.map(lambda row, s: el.scan(el.add, s, row), A, starts)
    a, s = some(F32, 4, 6), some(F32, 4)
    np.testing.assert_array_equal(el.interpret(program, A=a, s=s), s[:, None] + np.cumsum(a, 1))


@given(st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), max_size=12), st.integers(-2, 2))
def test_segments_begin_anew(pairs: list[tuple[bool, int]], init: int) -> None:
    flags, x = np.array([f for f, _ in pairs], bool), np.array([v for _, v in pairs], "i4")
    expected, total = [], init
    for flag, v in pairs:
        total = (init if flag else total) + v
        expected.append(total)
    n = len(pairs)
    program = el.segmented_scan(el.add, init, el.array("flags", el.bool_, n), el.array("x", el.i32, n))
    np.testing.assert_array_equal(el.interpret(program, flags=flags, x=x), np.array(expected, "i4"))


def test_segments_of_tuples_have_nested_pairs() -> None:
    sums = el.operator(lambda a, b: (a[0] + b[0], a[1] * b[1]), neutral=(0, 1))
    pairs = el.zip(el.array("a", el.i32, 4), el.array("b", el.i32, 4))
    program = el.segmented_scan(sums, None, el.literal([0, 1, 0, 1]), pairs)
    found = el.interpret(program, a=np.arange(4, dtype="i4"), b=np.arange(1, 5, dtype="i4"))
    np.testing.assert_array_equal(found[0], [0, 1, 3, 3])
    np.testing.assert_array_equal(found[1], [1, 2, 6, 4])


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: el.cumsum(A, axis=2), ShapeError, "it has no axis 2; there are 2, counted from 0"),
        (lambda: el.cumsum(el.zip(X, X)), TypeMismatch, "take a component of its tuples first"),
        (lambda: el.scan(el.add, 0, el.scalar("s", el.f32)), ShapeError, "a scan goes along an axis of an array"),
        (
            lambda: el.scan(el.logical_and, True, X),
            TypeMismatch,
            "operator logical_and does not take f32; compare them",
        ),
        (lambda: el.scan(lambda a, b: a - b, 0, X), OperatorError, "nothing says that it is associative"),
        (
            lambda: el.scan(el.operator(lambda a, b: a, commutative=False), None, X),
            OperatorError,
            "has no neutral element: give an initial",
        ),
        (
            lambda: el.scan(el.operator(lambda a, b: a < b, check=False), 0, X),
            TypeMismatch,
            "the result of operator lambda is bool, but the elements is f32",
        ),
        (lambda: el.scan(el.add, (0, 0), X), TypeMismatch, "the initial value is (i64, i64), but the elements is f32"),
        (lambda: el.segmented_scan(el.add, 0, X > 0, X.take(3)), ShapeError, "8 flags in"),
        (lambda: el.segmented_scan(el.add, 0, A, X), TypeMismatch, "the flags of segments are an array of bools"),
        (lambda: np.cumsum(A, out=A), TypeMismatch, "numpy.cumsum: it has no out=: values do not change"),
    ],
)
def test_what_is_written_wrongly_is_said_in_words(wrong: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        wrong()
