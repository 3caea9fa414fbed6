"""Bracket abstraction: which closed form a capturing lambda becomes, exactly."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import ProgramError
from egglift.ir.operators import named
from egglift.ir.trace import free
from egglift.ir.traverse import bodies, subterms
from egglift.ir.types import F32, Array, Tuple

A, B = el.array("A", el.f32, (4, 6)), el.array("B", el.f32, (6, 8))
X, Y = el.array("x", el.f32, 6), el.array("y", el.f32, 6)
ROW = Array(6, F32)
PAIR = p.Arg(Tuple((F32, F32)))
FIRST, SECOND = p.Get(0, PAIR), p.Get(1, PAIR)
ZERO = p.Literal(0.0, F32)


def total(x: p.Expr) -> p.Expr:
    return p.Reduce(named("add", F32), ZERO, x)


def test_a_matrix_product_has_the_form_that_the_laws_expect() -> None:
    product = A.map(
        lambda row: B.T.map(lambda col: el.reduce(el.add, 0.0, el.zip(row, col).map(lambda p: p[0] * p[1])))
    )
    both = p.Arg(Tuple((ROW, ROW)))
    dot = total(p.Map(p.Apply("mul", (FIRST, SECOND)), p.Zip((p.Get(0, both), p.Get(1, both)))))
    assert product.expr is p.Map(p.Map(dot, p.Distl(p.Arg(ROW), p.Transpose(B.expr))), A.expr)


def test_a_captured_computation_is_passed_in_as_a_value() -> None:
    def softmax(row: el.Value) -> el.Value:
        m = el.reduce(el.maximum, -np.inf, row)
        return row.map(lambda e: el.exp(e - m))

    arg = p.Arg(ROW)
    largest = p.Reduce(named("maximum", F32), p.Literal(float("-inf"), F32), arg)
    body = p.Map(p.Apply("exp", (p.Apply("sub", (SECOND, FIRST)),)), p.Distl(largest, arg))
    assert A.map(softmax).expr is p.Map(body, A.expr)


def test_what_is_invariant_in_a_loop_is_computed_outside() -> None:
    e = A.map(lambda row: X.map(lambda v: v * el.reduce(el.add, 0.0, row)))
    body = p.Map(p.Apply("mul", (SECOND, FIRST)), p.Distl(total(p.Arg(ROW)), X.expr))
    assert e.expr is p.Map(body, A.expr)


def test_closed_parts_stay_where_they_are() -> None:
    m = el.reduce(el.add, 0.0, Y)
    s = el.scalar("s", el.f32)
    e = X.map(lambda v: (v - m) * s)
    assert e.expr is p.Map(p.Apply("mul", (p.Apply("sub", (p.Arg(F32), total(Y.expr))), s.expr)), X.expr)
    assert X.map(lambda v: m).expr is p.Map(total(Y.expr), X.expr)


def test_only_the_component_that_is_used_is_captured() -> None:
    outer = el.zip(A, X[:4])
    e = outer.map(lambda q: Y.map(lambda v: v * q[1]))
    arg = p.Arg(Tuple((ROW, F32)))
    assert e.expr is p.Map(p.Map(p.Apply("mul", (SECOND, FIRST)), p.Distl(p.Get(1, arg), Y.expr)), outer.expr)


def test_all_components_of_a_tuple_are_captured_as_the_tuple() -> None:
    points = el.zip(X, Y)
    e = points.map(lambda q: points.map(lambda r: q[0] * r[0] + q[1] * r[1]))
    pair = Tuple((F32, F32))
    both = p.Arg(Tuple((pair, pair)))
    q0, q1, r0, r1 = (p.Get(i, p.Get(j, both)) for j in (0, 1) for i in (0, 1))
    body = p.Apply("add", (p.Apply("mul", (q0, r0)), p.Apply("mul", (q1, r1))))
    assert e.expr is p.Map(p.Map(body, p.Distl(p.Arg(pair), points.expr)), points.expr)


def test_a_component_of_a_captured_tuple_is_not_captured_twice() -> None:
    points = el.zip(X, Y)
    e = points.map(lambda q: X.map(lambda v: (q, q[0] * v)))
    pair = Tuple((F32, F32))
    arg = p.Arg(Tuple((pair, F32)))
    body = p.Tup((p.Get(0, arg), p.Apply("mul", (p.Get(0, p.Get(0, arg)), p.Get(1, arg)))))
    assert e.expr is p.Map(p.Map(body, p.Distl(p.Arg(pair), X.expr)), points.expr)


def test_several_captures_are_passed_in_as_a_tuple() -> None:
    e = A.map(lambda row: X.map(lambda v: v * row[0] + el.reduce(el.add, 0.0, row)))
    row = p.Arg(ROW)
    arg = p.Arg(Tuple((Tuple((F32, F32)), F32)))
    body = p.Apply(
        "add",
        (
            p.Apply("mul", (p.Get(1, arg), p.Get(0, p.Get(0, arg)))),
            p.Get(1, p.Get(0, arg)),
        ),
    )
    captured = p.Tup((p.At(0, row), total(row)))
    assert e.expr is p.Map(p.Map(body, p.Distl(captured, X.expr)), A.expr)


def test_captures_travel_through_three_levels() -> None:
    e = A.map(lambda row: X.map(lambda v: Y.map(lambda w: w * v + row[1])))
    rng = np.random.default_rng(0)
    a, x, y = (rng.normal(size=s).astype(np.float32) for s in ((4, 6), 6, 6))
    want = y[None, None, :] * x[None, :, None] + a[:, 1][:, None, None]
    assert np.allclose(el.interpret(e, A=a, x=x, y=y), want)
    assert closed(e.expr)


def test_an_inner_body_without_its_argument_repeats_the_capture() -> None:
    e = A.map(lambda row: X.map(lambda v: row[2]))
    row = p.Arg(ROW)
    assert e.expr is p.Map(p.Map(FIRST, p.Distl(p.At(2, row), X.expr)), A.expr)


def test_folds_receive_captures_through_the_array() -> None:
    e = A.map(lambda row: el.fold(lambda acc, v: acc * row[0] + v, 0.0, X))
    arg = p.Arg(Tuple((F32, Tuple((F32, F32)))))
    item = p.Get(1, arg)
    body = p.Apply("add", (p.Apply("mul", (p.Get(0, arg), p.Get(0, item))), p.Get(1, item)))
    row = p.Arg(ROW)
    assert e.expr is p.Map(p.Fold(body, ZERO, p.Distl(p.At(0, row), X.expr)), A.expr)


def test_iterations_receive_captures_through_the_state() -> None:
    e = X.map(lambda v: el.iterate(3, lambda u: u * v, v + 1))
    step = p.Tup((FIRST, p.Apply("mul", (SECOND, FIRST))))
    start = p.Tup((p.Arg(F32), p.Apply("add", (p.Arg(F32), p.Literal(1.0, F32)))))
    assert e.expr is p.Map(p.Get(1, p.Iterate(3, step, start)), X.expr)


def test_an_operator_may_not_capture() -> None:
    with pytest.raises(ProgramError, match=r"captures row.*use fold"):
        A.map(lambda row: el.reduce(el.operator(lambda a, b: a + b + row[0]), 0.0, row))


def test_scalars_spread_over_matrices_are_captured_at_each_level() -> None:
    e = X.map(lambda s: A * s)
    a, x = np.ones((4, 6), np.float32), np.arange(6, dtype=np.float32)
    assert np.allclose(el.interpret(e, A=a, x=x), a * x[:, None, None])
    assert closed(e.expr)


def test_deep_expressions_do_not_overflow_the_stack() -> None:
    def chain(v: el.Value) -> el.Value:
        for _ in range(5000):
            v = v * v + 1
        return v

    e = X.map(lambda v: Y.map(lambda w: chain(v + w)))
    assert closed(e.expr) and type_of(e.expr) == Array(6, Array(6, F32))


def closed(e: p.Expr) -> bool:
    """No placeholder is left, and every body reads an argument of one type."""
    return not any(free(t) for t in subterms(e)) and all(
        len({a.type for a in _own_args(b)}) <= 1 for t in subterms(e) for b in bodies(t)
    )


def _own_args(body: p.Expr) -> set[p.Arg]:
    from egglift.ir.traverse import children

    stack, seen, found = [body], set(), set()
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        if isinstance(t, p.Arg):
            found.add(t)
        stack.extend(children(t))
    return found
