"""Time steps: the step of an iteration is searched like any program, and repeated by launches."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.named_states import states_in
from egglift.ir.types import F32, Array
from egglift.kernel import Kernel
from egglift.steps import time_steps

pytestmark = pytest.mark.short


def smoothed(grid: el.Value) -> el.Value:
    return el.stencil(lambda w: 0.25 * (w[0, 1] + w[1, 0] + w[1, 2] + w[2, 1]), (3, 3), 1, 1, 1, "clamp", grid)


def heated(n: int) -> el.Value:
    return el.array("x", el.f32, (37, 41)).iterate(n, smoothed)


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return el.optimize(heated(5), device="pocl", cache=False)


def test_only_an_iteration_of_arrays_has_steps() -> None:
    assert time_steps(as_program(heated(3))) is not None
    assert time_steps(as_program(smoothed(el.array("x", el.f32, (5, 7))))) is None


def test_a_step_repeated_is_the_iteration_again() -> None:
    program = as_program(heated(3))
    steps = time_steps(program)
    assert steps is not None and not isinstance(steps.program, p.Iterate)
    assert steps.again(steps.program) == program


def test_the_state_has_a_name_that_no_input_has() -> None:
    steps = time_steps(as_program(el.array("state", el.f32, (5, 7)).iterate(2, smoothed)))
    assert steps is not None and steps.state.name != "state"


def test_a_step_that_captures_the_state_has_a_name_for_it() -> None:
    steps = time_steps(as_program(heated(3)))
    assert steps is not None
    step = p.Map(p.At(0, steps.state), p.Input("y", Array(37, Array(41, F32))))
    again = steps.again(step)
    assert isinstance(again, p.Iterate) and states_in(again.body) == {"step_state_0_0": 0}
    assert steps.of(again) == step


def test_the_chosen_step_is_parallel_and_launched_repeatedly(kernel: Kernel) -> None:
    assert any(c.structure != "naive" and c.status == "ok" for c in kernel.candidates)
    assert len(kernel.plan.steps) == 5 * len({k for k, _ in kernel.plan.steps})


def test_all_steps_together_are_right(kernel: Kernel) -> None:
    x = np.random.default_rng(0).random((37, 41), np.float32)
    np.testing.assert_allclose(kernel(x=x), el.interpret(heated(5), x=x), rtol=1e-5)


def test_the_explanation_is_of_one_step() -> None:
    program = el.array("x", el.f32, 1000).iterate(5, lambda v: v * 0.5 + 1)
    kernel = el.optimize(program, "pocl", measure="none", cache=False)
    step = next(c for c in kernel.candidates if c.form is not None or c.account is not None)
    assert "each of 5 steps" in Kernel(kernel.program, step, kernel.device, [step]).explain().lower()
