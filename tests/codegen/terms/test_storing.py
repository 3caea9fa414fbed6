"""Programs as they stand: their kernels grow with their steps, and compute what the interpreter does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.terms.storing import stored, stored_unless_executed
from egglift.costmodel.measurement.expected_results import sample_inputs
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr, Level
from egglift.ir.types import F32
from tests.harness import compute
from tests.towers import halves, prefix_sums, pyramid, row_sums, smoothed, squares

GROWING: dict[str, Callable[[int], Expr]] = {
    "prefix sums": prefix_sums,
    "a pyramid": pyramid,
    "a stencil": smoothed,
    "rows": row_sums,
    "halves": halves,
}


@pytest.mark.parametrize("name", GROWING)
def test_code_grows_with_the_steps_not_with_the_paths(name: str) -> None:
    short, long = (len(compile_term(GROWING[name](steps)).source) for steps in (8, 16))
    assert long < 3 * short


def test_each_step_of_prefix_sums_has_one_kernel() -> None:
    assert len(compile_term(prefix_sums(20)).kernels) == 20


def test_what_is_read_at_one_place_stays_in_one_kernel() -> None:
    assert len(compile_term(squares(30)).kernels) == 1


def test_a_few_steps_are_left_as_they_are() -> None:
    for program in (prefix_sums(3), smoothed(3), pyramid(3), row_sums(3)):
        assert stored(program) is program


def test_steps_inside_of_an_iteration_by_launches_are_stored() -> None:
    def step(v: el.Value) -> el.Value:
        for k in range(6):
            v = 0.5 * (v + v.pad(1 << k, 0, ("constant", 0.0)).take(3000))
        return v

    program = as_program(el.array("x", el.f32, 3000).iterate(2, step))
    plan = compile_term(program)
    assert len(plan.kernels) == 6 and len(plan.steps) == 12
    x = np.random.default_rng(0).random(3000, np.float32)
    np.testing.assert_allclose(compute(program, x=x), el.interpret(program, x=x), rtol=1e-5)


@pytest.mark.parametrize("name", GROWING)
def test_what_is_stored_is_right(name: str) -> None:
    program = GROWING[name](7)
    inputs = sample_inputs(program)
    np.testing.assert_allclose(compute(program, **inputs), el.interpret(program, **inputs).ravel(), rtol=1e-4)


def test_what_has_executors_says_itself_what_is_stored() -> None:
    """A tile reads its operand at many places: this is no reason to write the operand."""
    program = prefix_sums(20)
    executed = p.Map(p.Apply("neg", (p.Arg(F32),)), program, Level("global", 0))
    assert stored_unless_executed(executed) is executed
    assert stored_unless_executed(program) is not program
