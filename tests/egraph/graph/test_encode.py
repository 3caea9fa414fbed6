"""Programs into the e-graph and back."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings

import egglift as el
from egglift.egraph.graph.encode import binary, binary_type
from egglift.egraph.graph.membership import find
from egglift.egraph.rules.phases import Phase
from egglift.egraph.saturation.saturate import saturate
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.notation import as_expr
from egglift.ir.patterns import Expr
from egglift.ir.sizes import SizeOp, Sym
from egglift.ir.traverse import subterms
from egglift.ir.types import F32, F64, I64, U64, Array, Scalar, Tuple
from tests.programs import programs, values_for

NOTHING = (Phase("nothing", (), 1),)


def round_trip(e: Expr) -> Expr:
    """Into an e-graph with no laws, and the smallest program out of it."""
    graph = saturate(e, laws=(), phases=NOTHING).graph
    return graph.term(graph.root)


@settings(max_examples=60, deadline=None)
@given(programs(levels=True))
def test_a_program_comes_back_as_it_went_in(e: Expr) -> None:
    assume(not any(isinstance(t, p.Get) and isinstance(t.x, p.Tup) for t in subterms(e)))  # simplified at once
    graph = saturate(e, laws=(), phases=NOTHING).graph
    assert find(graph, binary(e)) == graph.root
    assert type_of(graph.term(graph.root)) == binary_type(type_of(e)) == graph.types[graph.root]


@settings(max_examples=60, deadline=None)
@given(programs())
def test_binary_tuples_keep_the_meaning(e: Expr) -> None:
    values = values_for(e)
    assert leaves_of(evaluate(binary(e), values)) == leaves_of(evaluate(e, values))


def leaves_of(value: object) -> list[bytes]:
    """The bits of every array of a nested result, left to right."""
    if isinstance(value, tuple):
        return [x for part in value for x in leaves_of(part)]
    return [np.asarray(value).tobytes()]


@pytest.mark.parametrize(
    ("value", "type"),
    [
        ((1 << 64) - 1, U64),
        (-(1 << 63), I64),
        (-0.0, F32),
        (0.1, F64),
        (math.inf, F32),
        (-math.inf, F64),
        (5e-324, F64),
        (True, Scalar("bool")),
        (False, Scalar("bool")),
    ],
)
def test_literals_keep_every_bit(value: bool | int | float, type: Scalar) -> None:
    assert round_trip(p.Literal(value, type)) is p.Literal(value, type)


def test_a_literal_that_is_not_a_number_stays_one() -> None:
    back = round_trip(p.Literal(math.nan, F32))
    assert isinstance(back, p.Literal) and math.isnan(back.value)


def test_names_may_contain_quotes_and_backslashes() -> None:
    e = p.Input('a "b" \\ c\nd', F32)
    assert round_trip(e) is e


def test_wide_tuples_become_pairs() -> None:
    x = p.Input("x", F32)
    t = p.Tup((x, p.Apply("neg", (x,)), p.Apply("abs", (x,))))
    assert binary_type(type_of(t)) == Tuple((F32, Tuple((F32, F32))))
    assert binary(p.Get(0, t)) is p.Get(0, binary(t))
    assert binary(p.Get(2, t)) is p.Get(1, p.Get(1, binary(t)))


def test_shared_programs_are_encoded_once() -> None:
    x: Expr = p.Arg(F32)
    for _ in range(200):
        x = p.Apply("add", (x, x))
    found = saturate(p.Map(x, p.Input("x", Array(40, F32))), laws=(), phases=NOTHING)
    assert found.graph.size < 210
    assert found.graph.term(found.graph.root).body is x  # type: ignore[union-attr]


def test_a_program_with_symbols_keeps_them() -> None:
    n = SizeOp("*", SizeOp("/", 40, Sym("a")), Sym("a"))
    e = p.Take(n, p.Input("x", Array(40, F32)))
    assert round_trip(e) is e


def test_operators_come_back_with_their_claims() -> None:
    e = as_expr(el.reduce(el.maximum, 1.5, el.array("x", el.f32, 40)))
    assert round_trip(e) is e
