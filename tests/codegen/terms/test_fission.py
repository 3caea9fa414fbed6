"""Maps whose bodies share many arrays become maps in stages, each of which computes one array for all elements."""

from __future__ import annotations

import numpy as np

import egglift as el
from egglift.codegen.terms.fission import fissioned
from egglift.codegen.terms.sharing import Use
from egglift.costmodel.measurement.expected_results import sample_inputs
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.traverse import is_closed, subterms
from tests.towers import products, row_sums


def again(u: Use) -> bool:
    return u.times > 1


def closed_maps(program: Expr) -> int:
    return sum(isinstance(t, p.Map) and is_closed(t) for t in subterms(program))


def same(a: Expr, b: Expr) -> None:
    inputs = sample_inputs(a)
    np.testing.assert_array_equal(el.interpret(a, **inputs), el.interpret(b, **inputs))


def test_a_body_of_many_steps_becomes_a_map_for_each() -> None:
    program = row_sums(8, 5, 300)
    staged = fissioned(program, again)
    assert (closed_maps(program), closed_maps(staged)) == (1, 8)
    same(program, staged)


def test_a_body_of_few_steps_is_left_alone() -> None:
    program = row_sums(3, 5, 300)
    assert fissioned(program, again) is program


def test_stages_see_what_the_body_captures() -> None:
    def row(v: el.Value) -> el.Value:
        first = v
        for k in range(6):
            v = v + (v * el.scalar("s", el.f32)).pad(1 << k, 0, "clamp").take(100) * first[0]
        return v + el.array("b", el.f32, 100).reduce(el.add, 0.0)

    program = as_program(el.array("A", el.f32, (4, 100)).map(row))
    staged = fissioned(program, again)
    assert closed_maps(staged) > 4
    same(program, staged)


def test_bodies_inside_of_bodies_are_staged_too() -> None:
    blocks = el.array("A", el.f32, (3, 4, 200))

    def row(v: el.Value) -> el.Value:
        for k in range(7):
            v = v + v.pad(1 << k, 0, ("constant", 0.0)).take(200)
        return v

    program = as_program(blocks.map(lambda block: block.map(row)))
    staged = fissioned(program, again)
    assert (closed_maps(program), closed_maps(staged)) == (1, 7)
    same(program, staged)


def test_what_is_shared_outside_of_a_body_does_not_stage_it() -> None:
    program = products(5, 8)
    assert fissioned(program, again) is program
