"""Long iterations are checked and timed by few of their steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import open_device
from egglift.costmodel.profiles.profile import presets
from egglift.few_steps import few_steps
from egglift.ir import patterns as p
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms

pytestmark = pytest.mark.short


def halved(x: Any) -> Any:
    """Each number with its neighbour, and half of both."""
    return 0.5 * (x + np.roll(x, 1))


def steps(count: int, n: int = 12) -> Any:
    return el.iterate(count, halved, el.array("x", el.f32, n))


def counts(program: Expr) -> list[object]:
    return [t.count for t in subterms(program) if isinstance(t, p.Iterate)]


@pytest.mark.parametrize(("count", "few"), [(1000, 10), (1001, 9), (24, 10)])
def test_a_long_iteration_takes_few_steps(count: int, few: int) -> None:
    short = few_steps(as_program(steps(count)))
    assert short is not None and counts(short.program) == [few] and short.few == {count: few}
    x = np.arange(12, dtype=np.float32)
    expected = x
    for _ in range(few):
        expected = halved(expected)
    np.testing.assert_allclose(evaluate(short.program, {"x": x}), expected, rtol=1e-5)


@pytest.mark.parametrize("count", [1, 8, 23])
def test_a_short_iteration_takes_all_steps(count: int) -> None:
    assert few_steps(as_program(steps(count))) is None


def test_iterations_in_bodies_take_all_steps() -> None:
    rows = el.array("A", el.f32, (3, 5)).map(lambda row: el.iterate(100, halved, row))
    assert few_steps(as_program(rows)) is None


def test_two_iterations_keep_numbers_of_their_own() -> None:
    program = as_program(el.iterate(50, halved, el.iterate(100, halved, el.array("x", el.f32, 12))))
    short = few_steps(program)
    assert short is not None and short.few == {50: 10, 100: 12}
    assert {*counts(short.program)} == {10, 12}
    ambiguous = el.iterate(50, halved, el.iterate(50, lambda x: x + 1, el.array("x", el.f32, 12)))
    assert few_steps(as_program(ambiguous)) is None


def test_all_steps_are_taken_of_what_was_measured_by_few() -> None:
    device = open_device("pocl")
    kernel = el.optimize(steps(300, 4096), device, cache=False, measurements=3)
    assert kernel.chosen.status == "ok" and 300 in counts(kernel.chosen.term)
    x = np.random.default_rng(0).random(4096, dtype=np.float32)
    expected = x.astype(np.float64)
    for _ in range(300):
        expected = halved(expected)
    np.testing.assert_allclose(kernel(x), expected, rtol=1e-3)


def test_seconds_of_few_steps_are_those_of_all() -> None:
    profile = presets()["pocl_cpu"]
    program = as_program(steps(500, 1 << 12))
    kernel = el.optimize(program, "pocl", measure="none", cache=False)
    short = few_steps(program)
    assert short is not None
    own = short.of(kernel.chosen)
    assert own is not None and counts(own.term) == [10]
    found = short.measured(kernel.chosen, replace(own, measured=2.0, status="ok"), profile)
    assert found.term == kernel.chosen.term and found.status == "ok"
    assert found.measured is not None and found.measured > 20
    wrong = short.measured(kernel.chosen, replace(own, status="wrong", reason="other numbers"), profile)
    assert (wrong.measured, wrong.status, wrong.reason) == (None, "wrong", "other numbers")


def test_the_interpreter_takes_few_steps_of_very_many() -> None:
    """All would be 10^10 operations: the test would not end."""
    kernel = el.optimize(steps(20_000, 1 << 19), "pocl", cache=False, measurements=2)
    assert kernel.chosen.status == "ok" and 20_000 in counts(kernel.chosen.term)
