"""Random members of saturated graphs mean what the program means."""

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

import egglift as el
from egglift.egraph.explanation.prove import prove
from egglift.egraph.rules.book import book
from egglift.egraph.rules.phases import Limits
from egglift.egraph.saturation.saturate import saturate
from egglift.egraph.soundness.check_laws import drawn
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.notation import as_expr
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.traverse import instantiate
from egglift.ir.types import BOOL, I32, U8
from tests.deep import every
from tests.egraph.programs import PROGRAMS
from tests.programs import programs, values_for


def leaves_of(value: Any) -> list[Any]:
    """Every array of a nested result, left to right."""
    if isinstance(value, tuple):
        return [x for part in value for x in leaves_of(part)]
    return [np.asarray(value).tolist()]


def members(e: Expr, count: int, seed: int, without: tuple[str, ...] = (), depth: int = 14) -> list[Expr]:
    """Random members of the program's class, with random numbers for tile symbols; `without` groups of laws."""
    disabled = [law.name for law in book().laws if law.group in without]
    rng, graph = Random(seed), saturate(e, limits=Limits(4000, 20), disabled=disabled).graph
    found = []
    for _ in range(count):
        env = {name: rng.randint(1, 5) for name in graph.symbols}
        found.append(instantiate(drawn(graph, rng, depth), env))
    return found


@pytest.mark.parametrize(("name", "n"), every(2, PROGRAMS, (33, 61)))
def test_members_compute_what_the_program_computes(name: str, n: int) -> None:
    e = PROGRAMS[name](n)
    inputs = values_for(e)
    expected = leaves_of(evaluate(e, inputs))
    different = set()
    for member in members(e, 25, n):
        type_of(member)
        different.add(member)
        assert leaves_of(evaluate(member, inputs)) == expected
    assert len(different) > 5


@pytest.mark.parametrize("name", PROGRAMS)
def test_members_are_proved_equal_by_the_laws_from_right_to_left(name: str) -> None:
    e = PROGRAMS[name](40)
    # what tiling.egg and stencil.egg make is derived forwards (test_derive.py): their laws are not undone
    assert all(prove(e, member) for member in members(e, 3, 7, ("tiling", "stencil"), depth=9))


ANY = programs(scalars=(I32, U8, BOOL), functions=("add", "mul", "sub", "maximum", "where", "lt"))


@settings(max_examples=15, deadline=None)
@given(ANY)
def test_members_of_any_program_mean_the_same(e: Expr) -> None:
    check_members(e)


@pytest.mark.deep
@settings(max_examples=200, deadline=None)
@given(ANY)
def test_members_of_many_programs_mean_the_same(e: Expr) -> None:
    check_members(e)


def check_members(e: Expr) -> None:
    inputs = values_for(e)
    expected = leaves_of(evaluate(e, inputs))
    found = members(e, 6, 3)
    assume(any(member is not e for member in found))
    for member in found:
        used = {name: inputs[name] for name in inputs_of(member)}  # a law may drop what is not needed
        assert leaves_of(evaluate(member, used)) == expected


def test_a_law_that_drops_something_does_not_leak_arguments() -> None:
    """`a * 0 = 0` puts `a * 0`, over the argument of some body, into the class of 0, which is used everywhere."""
    law = ';;; zero\n;; a * 0 = 0\n(rule ((= e (Op2 "mul" a b)) (= b (Lit "0" t))) ((union e b)))'
    xs, pairs = el.array("x", el.i32, 4), el.zip(el.array("y", el.i64, 4), el.array("x", el.i32, 4))
    e = as_expr(el.tuple(xs.map(lambda v: v * 0 + 1), pairs.map(lambda q: q[1] * 0 + q[1])))
    saturated = saturate(e, rules=[law], check=True)
    inputs, rng = values_for(e), Random(1)
    expected = leaves_of(evaluate(e, inputs))
    for _ in range(50):
        member = drawn(saturated.graph, rng, 14)
        type_of(member)
        used = {name: inputs[name] for name in inputs_of(member)}
        assert leaves_of(evaluate(member, used)) == expected
