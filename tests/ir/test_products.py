"""`@`, argmin and argmax, and rows repeated in element-wise arithmetic: what they become, and NumPy's results."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.types import F32, I64, Scalar, array_of

A, B = el.array("A", el.f32, (4, 6)), el.array("B", el.f32, (6, 8))
V = el.array("v", el.f32, 6)
RNG = np.random.default_rng(7)


def inner(x: Any, y: Any) -> Any:
    return el.reduce(el.add, 0.0, el.map(lambda a, b: a * b, x, y))


def test_a_matrix_product_is_inner_products_of_rows_and_columns() -> None:
    written = A.map(lambda row: B.T.map(lambda column: inner(row, column)))
    assert (A @ B).expr is written.expr
    assert el.matmul(A, B).expr is written.expr


def test_a_product_with_a_vector_takes_it_as_a_column_or_a_row() -> None:
    assert (A @ V).expr is A.map(lambda row: inner(row, V)).expr
    assert (V @ B).expr is B.T.map(lambda column: inner(V, column)).expr
    assert (V @ V).expr is inner(V, V).expr


def test_a_stack_is_multiplied_matrix_by_matrix() -> None:
    X, Y = el.array("X", el.f32, (3, 4, 6)), el.array("Y", el.f32, (3, 6, 8))
    assert (X @ Y).expr is el.map(lambda x, y: x @ y, X, Y).expr
    assert (X @ B).expr is X.map(lambda x: x @ B).expr
    assert (A @ Y).expr is Y.map(lambda y: A @ y).expr


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((3, 4), (4,)),
        ((4,), (4, 5)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((3,), (5, 3, 4)),
        ((5, 2, 3), (3,)),
        ((6, 5, 2, 3), (5, 3, 4)),
        ((5, 2, 3), (6, 5, 3, 4)),
    ],
)
def test_products_of_every_shape_are_numpys(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = RNG.random(left), RNG.random(right)
    program = el.array("X", el.f64, left) @ el.array("Y", el.f64, right)
    np.testing.assert_allclose(el.interpret(program, X=x, Y=y), x @ y)


def test_numpy_arrays_multiply_from_both_sides() -> None:
    data = RNG.random((6, 4), np.float32)
    assert (data @ A).expr is (el.literal(data) @ A).expr
    assert (A @ data).expr is (A @ el.literal(data)).expr


def test_products_promote_like_numpys() -> None:
    ints = el.array("I", el.i32, (6, 8))
    assert (A @ ints).type == array_of(el.f64, (4, 8))
    assert (ints.T @ ints).type == array_of(el.i32, (8, 8))


@pytest.mark.parametrize("scalar", [el.f32, el.f64, el.i8, el.u16, el.i64], ids=str)
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_the_place_of_the_extreme_element_is_numpys_first(name: str, scalar: Scalar) -> None:
    program = getattr(el, name)(el.array("x", scalar, 50))
    assert program.type == I64
    for _ in range(5):
        x = RNG.integers(0, 9, 50).astype(scalar.dtype)
        assert el.interpret(program, x=x) == getattr(np, name)(x)


@pytest.mark.parametrize(("name", "numpys"), [("argmin", np.nanargmin), ("argmax", np.nanargmax)])
def test_nan_is_never_the_extreme_and_the_place_always_exists(name: str, numpys: Any) -> None:
    program = getattr(el, name)(el.array("x", el.f32, 3))
    for x in itertools.product((2, 3, np.nan), repeat=3):
        place = el.interpret(program, x=np.array(x, np.float32))
        assert place == (0 if np.isnan(x).all() else numpys(x)), x


@pytest.mark.parametrize(("name", "value"), [("argmin", np.inf), ("argmax", -np.inf)])
def test_an_element_as_far_as_the_neutral_one_still_has_a_place(name: str, value: float) -> None:
    program = getattr(el, name)(el.array("x", el.f32, 3))
    assert el.interpret(program, x=np.full(3, value, np.float32)) == 0


def test_the_place_in_each_row_may_be_asked_for_in_a_map() -> None:
    a = RNG.random((4, 6), np.float32)
    np.testing.assert_array_equal(el.interpret(A.map(el.argmin), A=a), a.argmin(axis=1))


def test_a_vector_is_repeated_for_every_row() -> None:
    assert (A + V).expr is A.map(lambda row: row + V).expr
    assert (V - A).expr is A.map(lambda row: V - row).expr
    assert el.where(V > 0, A, 0).type == A.type


@pytest.mark.parametrize("part", [(6,), (4, 6), (2, 4, 6)])
def test_repeated_parts_give_numpys_results(part: tuple[int, ...]) -> None:
    whole, some = RNG.random((2, 4, 6)), RNG.random(part)
    program = el.array("x", el.f64, (2, 4, 6)) * el.array("y", el.f64, part) - el.array("y", el.f64, part)
    np.testing.assert_allclose(el.interpret(program, x=whole, y=some), whole * some - some)


@pytest.mark.parametrize(
    ("write", "error", "message"),
    [
        (lambda: A @ A, ShapeError, r"\(A\).*rows of 6 and columns of 4; transpose"),
        (lambda: A @ 3, TypeMismatch, r"@ of 3, which is i64.*use \*"),
        (lambda: el.array("x", el.f32, (2, 3, 4)) @ el.array("y", el.f32, (5, 4, 3)), ShapeError, "stacks"),
        (lambda: el.argmin(el.zip(V, V)), TypeMismatch, r"argmin compares numbers; \(zip .* map its elements"),
        (lambda: el.argmax(V > 0), TypeMismatch, "argmax compares numbers"),
        (lambda: el.argmin(el.array("x", el.f32, 0)), ShapeError, "argmin of x: an empty array"),
        (lambda: A + el.array("w", el.f32, 4), ShapeError, r"\(A\) and .*\(w\): shapes must agree"),
    ],
)
def test_mistakes_are_named_with_a_remedy(write: Callable[[], Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        write()


def test_an_inner_product_is_a_reduction_of_products() -> None:
    product = (V @ V).expr
    assert isinstance(product, p.Reduce)
    assert product.init is p.Literal(0.0, F32)
