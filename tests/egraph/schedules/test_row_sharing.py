"""What rows need, in as many passes and as few computations as is cheapest where a row is in registers."""

from __future__ import annotations

from typing import Any

import pytest

import egglift as el
from egglift.egraph.schedules.one_reading import OneReading, one_readings
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.lifting import as_program
from tests.egraph.stages.programs import arr, softmax

A, x, t = arr("A", 37, 50), arr("x", 50), arr("t", 37)


def reading(program: Any) -> OneReading:
    (found,) = one_readings(stages_of(as_program(program)))
    return found


def bodies(found: OneReading) -> list[str]:
    return [text_of(s).partition(" = ")[2] for s in (*found.starts, found.last)]


def test_the_largest_and_the_sum_below_it_are_two_passes() -> None:
    largest, power, total, *_ = bodies(reading(el.sum(A.map(softmax), axis=0)))
    assert largest == "(maximum for 1 < 50 of A[0,1])"
    assert power.startswith("(exp (sub A[0,1] ")
    assert "add for 1 < 50 of" in total and "exp" not in total


def test_a_costly_function_of_an_element_is_computed_once() -> None:
    assert sum(body.count("(exp ") for body in bodies(reading(el.sum(A.map(softmax), axis=0)))) == 1


def test_a_mean_and_distances_to_it_are_two_passes() -> None:
    scaled = A / (A.var(axis=1, keepdims=True) + 1)
    assert not any("moments" in body for body in bodies(reading(el.sum(scaled, axis=0))))


def test_a_function_of_a_rows_results_is_computed_once_a_row() -> None:
    first, once, last = bodies(reading(A.T @ (el.exp(A @ x) - t)))
    assert first.startswith("(exp (add for 1 < 50 of") and once.startswith("(sub ") and "exp" not in once + last


@pytest.mark.parametrize("program", (A.T @ (A @ x), A.T @ (2 * (A @ x) * t)))
def test_what_is_not_costly_is_in_place(program: Any) -> None:
    assert not any(".element" in s.name for s in reading(program).starts)
