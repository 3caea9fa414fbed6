"""Nothing cancels that does not for all numbers: x / x is not 1, x - x and 0 x are not 0, constants stay apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import egglift as el
from benchmarks.programs.catalogue import entry
from egglift.egraph.explanation.prove import prove
from egglift.egraph.graph.encode import binary, literal_text
from egglift.egraph.graph.membership import find
from egglift.egraph.rules.phases import Limits
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.errors import RuleError
from egglift.ir.lifting import as_program
from egglift.ir.notation import as_expr
from egglift.ir.patterns import Apply, Arg, Expr, Literal
from egglift.ir.types import F32, I32
from tests.harness import compute

SMALL = Limits(rows=4000, seconds=20)
SPECIAL = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-40, 3e38, 7], "f4")
Body = Callable[[el.Value], el.Value]

#: what algebra cancels and floating-point numbers do not
CANCELLED: dict[str, tuple[Body, float]] = {
    "x / x": (lambda v: v / v, 1.0),
    "x - x": (lambda v: v - v, 0.0),
    "0 x": (lambda v: v * 0.0, 0.0),
    "x + 1 - x": (lambda v: v + 1.0 - v, 1.0),
}
KEPT: dict[str, tuple[Body, Body]] = {
    "2 x / 2": (lambda v: v * 2.0 / 2.0, lambda v: v),
    "x + 0": (lambda v: v + 0.0, lambda v: v),  # of -0
    "1 / (1 / x)": (lambda v: 1.0 / (1.0 / v), lambda v: v),
    "sqrt (x x)": (lambda v: el.sqrt(v * v), lambda v: v),
    "x + 1e8 - 1e8": (lambda v: v + 1e8 - 1e8, lambda v: v),
}


def over(body: Body, t: el.Scalar = el.f32, n: int = len(SPECIAL)) -> Expr:
    return as_expr(el.array("x", t, n).map(body))


@pytest.mark.parametrize("name", CANCELLED)
def test_what_algebra_cancels_stays_as_it_is(name: str) -> None:
    body, constant = CANCELLED[name]
    constantly = over(lambda v: el.where(v == v, constant, constant))
    assert not prove(over(body), constantly, limits=SMALL)
    graph = saturate(over(body)).graph
    whole = find(graph, binary(over(body)))
    assert whole == graph.root and whole is not None, "the program itself is there"
    found = find(graph, Literal(constant, F32))
    computed = find(graph, body_of(over(body)))
    assert computed is not None and computed != found


@pytest.mark.parametrize("name", CANCELLED)
def test_kernels_give_nan_where_numpy_does(name: str) -> None:
    body, constant = CANCELLED[name]
    with np.errstate(all="ignore"):
        wanted = {
            "x / x": SPECIAL / SPECIAL,
            "x - x": SPECIAL - SPECIAL,
            "0 x": SPECIAL * np.float32(0),
            "x + 1 - x": SPECIAL + np.float32(1) - SPECIAL,
        }[name]
    assert np.isnan(wanted).any() and not np.array_equal(wanted, np.full_like(wanted, constant))
    assert np.array_equal(compute(over(body), x=SPECIAL), wanted, equal_nan=True)


@pytest.mark.parametrize("name", KEPT)
def test_what_holds_for_most_numbers_is_no_law(name: str) -> None:
    one, other = KEPT[name]
    assert not prove(over(one), over(other), limits=SMALL)


def test_cancelling_does_not_come_in_with_integers_either() -> None:
    """x / x of integers is 0 at 0; x - x is 0 for all, but no law says so, and none is needed."""
    assert not prove(over(lambda v: v // v, el.i32), over(lambda v: v * 0 + 1, el.i32), limits=SMALL)
    ints = np.array([0, 1, -1, 5], "i4")
    assert compute(over(lambda v: v // v, el.i32, 4), x=ints).tolist() == [0, 1, 1, 1]


def body_of(e: Expr) -> Expr:
    """The body of a map."""
    return e.body  # type: ignore[union-attr, return-value]


# ---------------------------------------------------------------------------------------- constants

NUMBERS = (0.0, -0.0, 1.0, 2.0, -1.0, 0.5, 1e-45, float("inf"), float("-inf"), float("nan"), 1.0000001)


def test_constants_stay_apart_and_there_is_one_class_for_each() -> None:
    def all_of(v: el.Value) -> el.Value:
        for c in NUMBERS:
            v = v * c + c
        return v

    graph = saturate(over(all_of)).graph
    found = [find(graph, Literal(c, F32)) for c in NUMBERS]
    assert None not in found and len(set(found)) == len(NUMBERS)


@pytest.mark.parametrize("name", ["softmax_rows", "black_scholes", "jacobi_2d-5", "gemm-nn"])
def test_no_class_of_a_saturated_program_holds_two_constants(name: str) -> None:
    e = entry(name)
    graph = saturate(as_program(e.program(*e.sizes[0])), limits=SMALL).graph
    for nodes in graph.classes.values():
        assert len({(literal_text(*n.data), n.data[1]) for n in nodes if n.op == "Lit"}) <= 1


# ---------------------------------------------------------------------------------------- these tests can fail

ONE = float.hex(1.0)
DIVIDE = f'(rewrite (Op2 "div" v v) (Lit "{ONE}" (Scalar "f32")))'
ZERO = f'(rewrite (Op2 "div" (Lit "{float.hex(0.0)}" t) v) (Lit "{float.hex(0.0)}" t))'


def test_with_a_law_that_cancels_the_program_would_collapse() -> None:
    e = over(lambda v: v / v)
    graph = saturate(e, rules=[DIVIDE]).graph
    assert find(graph, replace(e, body=Literal(1.0, F32))) == graph.root  # type: ignore[type-var]


def test_laws_that_equate_two_constants_are_found_and_named() -> None:
    """0 / 0 would be 1 by the one and 0 by the other; then all is equal to all, silently."""
    quotient = Apply("div", (Literal(0.0, F32), Literal(0.0, F32)))
    program = replace(over(lambda v: v + 1.0), body=Apply("add", (Arg(F32), quotient)))  # type: ignore[type-var]
    with pytest.raises(RuleError, match=r"constant clash.*does not hold for all numbers"):
        saturate(program, rules=[f";;; cancel\n{DIVIDE}", f";;; nothing\n{ZERO}"])
    saturate(program)


def test_integers_of_different_types_are_different_constants() -> None:
    graph = saturate(over(lambda v: (v + 1) * 2, el.i32)).graph
    one, two = find(graph, Literal(1, I32)), find(graph, Literal(2, I32))
    assert one is not None and two is not None and one != two
