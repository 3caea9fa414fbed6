"""What operators claim, and that false claims are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir import claims
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import OperatorError, ProgramError, TypeMismatch
from egglift.ir.operators import OPERATORS, named, recognise
from egglift.ir.types import F32, SCALARS, Scalar, Type

X, N = el.array("x", el.f32, 8), el.array("n", el.i32, 8)
Binary = Callable[[Any, Any], Any]


@pytest.mark.parametrize(
    ("name", "t"), [(name, t) for name, law in OPERATORS.items() for t in SCALARS.values() if law.takes(t)]
)
def test_every_named_operator_keeps_its_claims(name: str, t: Scalar) -> None:
    op = named(name, t)
    assert op.associative and op.commutative and op.neutral is not None
    claims.check(op, t, type_of(op.body))
    assert recognise(op.body) == name


@pytest.mark.parametrize(
    ("f", "claim"),
    [
        (lambda a, b: a - b, "associative"),
        (lambda a, b: (a + b) / 2, "associative"),
        (lambda a, b: a + 2 * b, "associative"),
        (lambda a, b: a, "commutative"),
        (lambda a, b: el.where(a > 0, a, b), "commutative"),
        (lambda a, b: a * b, "left unchanged"),
    ],
)
def test_a_false_claim_is_refuted_by_a_counter_example(f: Binary, claim: str) -> None:
    op = el.operator(f, neutral=0.0)
    with pytest.raises(OperatorError, match=rf"is not {claim}.*with .*a = .*but"):
        el.reduce(op, 0.0, X)


def test_the_counter_example_is_one() -> None:
    with pytest.raises(OperatorError) as caught:
        el.reduce(el.operator(lambda a, b: a - b, commutative=False), 0, N)
    text = str(caught.value)
    a, b, c = (int(text.split(f"{name} = ")[1].split(",")[0]) for name in "abc")
    assert (a - b) - c != a - (b - c)


@pytest.mark.parametrize(
    ("f", "options"),
    [
        (lambda a, b: el.where(a == 0, b, a), {"commutative": False, "neutral": 0}),
        (lambda a, b: a + b + a * b, {"neutral": 0}),
        (lambda a, b: el.maximum(a, b), {}),
        (lambda a, b: b, {"commutative": False}),
        (lambda a, b: a * b, {"neutral": lambda t: 1}),
    ],
)
def test_true_claims_pass(f: Binary, options: dict[str, Any]) -> None:
    e = el.reduce(el.operator(f, **options), 1, N).expr
    assert isinstance(e, p.Reduce) and e.op.associative
    assert e.op.commutative == options.get("commutative", True)


def test_rounding_of_floats_is_no_counter_example() -> None:
    el.reduce(el.operator(lambda a, b: a + b, neutral=0.0), 0.0, X)
    el.reduce(el.operator(lambda a, b: el.log(el.exp(a) + el.exp(b))), 0.0, X)
    halves = el.array("h", el.f16, 8)
    el.reduce(el.operator(lambda a, b: a + b, neutral=0.0), 0.0, halves)


def test_operators_on_tuples_and_arrays_are_checked() -> None:
    q = el.zip(X, N)
    both = el.operator(lambda a, b: (a[0] + b[0], el.maximum(a[1], b[1])))
    assert el.reduce(both, (0.0, 0), q).shape == ()
    with pytest.raises(OperatorError, match="associative"):
        el.reduce(el.operator(lambda a, b: (a[0] - b[0], a[1])), (0.0, 0), q)
    M = el.array("M", el.i32, (5, 2, 2))

    def product(a: el.Value, b: el.Value) -> el.Value:
        return a.map(lambda r: b.T.map(lambda c: el.reduce(el.add, 0, r * c)))

    identity = el.literal(np.eye(2, dtype=np.int32))
    e = el.reduce(el.operator(product, commutative=False, neutral=identity), identity, M)
    m = np.random.default_rng(0).integers(-3, 3, (5, 2, 2)).astype(np.int32)
    assert np.array_equal(el.interpret(e, M=m), np.linalg.multi_dot(list(m)))
    with pytest.raises(OperatorError, match="commutative"):
        el.reduce(el.operator(product), identity, M)


def test_claims_can_be_taken_on_trust() -> None:
    op = el.operator(lambda a, b: a - b, check=False)
    assert isinstance(el.reduce(op, 0.0, X).expr, p.Reduce)


def test_an_operator_that_is_not_associative_is_for_fold() -> None:
    with pytest.raises(OperatorError, match="use fold"):
        el.reduce(el.operator(lambda a, b: a - b, associative=False), 0.0, X)


def test_an_operator_gives_the_type_that_it_takes() -> None:
    with pytest.raises(TypeMismatch, match="combines two f32 into bool"):
        el.reduce(el.operator(lambda a, b: a < b), 0.0, X)


def test_without_a_neutral_element_an_initial_value_is_needed() -> None:
    op = el.operator(lambda a, b: el.maximum(a, b))
    with pytest.raises(OperatorError, match="give an initial value"):
        X.reduce(op)


def test_a_neutral_element_is_closed() -> None:
    with pytest.raises(ProgramError, match=r"neutral element.*depends on v"):
        X.map(lambda v: X.reduce(el.operator(lambda a, b: a + b, neutral=v), 0.0))


def test_operators_are_functions_too() -> None:
    assert el.add(X, 1).expr is (X + 1).expr
    op = el.operator(lambda a, b: a + b)
    assert op(X, 1).expr is (X + 1).expr


def test_equal_operators_are_one() -> None:
    def of(t: Type) -> p.Operator:
        return el.operator(lambda a, b: a + b, neutral=0.0, name="plus").of(t)

    assert of(F32) == of(F32)
    first, second = (el.reduce(el.operator(lambda a, b: a * b, name="times"), 1.0, X) for _ in range(2))
    assert first.expr is second.expr


def test_samples_have_ties_so_that_a_careless_argmax_is_found() -> None:
    q = el.zip(X, el.iota(8))
    careless = el.operator(lambda a, b: el.where(a[0] >= b[0], a, b))
    with pytest.raises(OperatorError, match="is not commutative"):
        el.reduce(careless, (-np.inf, 0), q)
    ordered = el.operator(lambda a, b: el.where(a[0] >= b[0], a, b), commutative=False)
    assert not el.reduce(ordered, (-np.inf, 0), q).expr.op.commutative  # type: ignore[union-attr]
