"""Measuring: what is chosen from, and why a candidate is not."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.codegen.device.device import Device, open_device
from egglift.codegen.kernel.imperative import Buffer, Plan, PlannedKernel
from egglift.costmodel.measurement.bench import Measurement, Subject
from egglift.costmodel.measurement.expected_results import expect
from egglift.costmodel.measurement.measure import measure
from egglift.costmodel.measurement.measuring import Measuring
from egglift.ir.patterns import Apply, Arg, Input, Map
from egglift.ir.text import dumps
from egglift.ir.types import F32, Array

N = 3000
PROGRAM = Map(Apply("mul", (Arg(F32), Arg(F32))), Input("x", Array(N, F32)))
SUBJECT = Subject(dumps(PROGRAM))
HERE, APART = Measuring(isolate=False), Measuring()


def candidate(statement: str, n: int = N, group: int = 10) -> Plan:
    x, y = Buffer("x", "global", F32, N), Buffer("y", "global", F32, N)
    source = f"kernel void k(global const float *x, global float *y) {{ {statement} }}\n"
    kernel = PlannedKernel("k", source, (x, y), (n,), (group,), ())
    return Plan((kernel,), {"x": (x,)}, (), (y,), ((0, (x, y)),))


GOOD = candidate("int i = get_global_id(0); y[i] = x[i] * x[i];")


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("pocl")


def test_a_right_candidate_is_timed(device: Device) -> None:
    (result,) = measure([GOOD], SUBJECT, device, HERE)
    assert result.status == "ok"
    assert result.reason == ""
    assert result.seconds is not None
    assert result.executable is not None


@pytest.mark.parametrize(
    ("plan", "status", "reason"),
    [
        (candidate("y[0] = undeclared;"), "build", "does not compile"),
        (
            candidate("int i = get_global_id(0); y[i] = x[i] * x[i] + 1;"),
            "wrong",
            "3000 of 3000 elements differ",
        ),
        (
            candidate("int i = get_global_id(0); if (i) y[i] = x[i] * x[i];"),
            "wrong",
            "1 of 3000 .*: nan instead",
        ),
        (candidate("y[0] = 1;", 3000, 7), "launch", "cannot launch k with"),
    ],
)
def test_a_broken_candidate_is_recorded_with_its_reason(device: Device, plan: Plan, status: str, reason: str) -> None:
    import re

    broken, good = measure([plan, GOOD], SUBJECT, device, HERE)
    assert broken.status == status
    assert re.search(reason, broken.reason)
    assert broken.seconds is None
    assert good.status == "ok"  # one failure does not spoil the others


def test_implausible_times_are_not_chosen(device: Device) -> None:
    (result,) = measure([GOOD], SUBJECT, device, HERE, floor_seconds=1.0)
    assert result.status == "implausible"
    assert result.seconds is None


def test_even_without_budget_the_first_is_measured(device: Device) -> None:
    first, *rest = measure([GOOD] * 4, SUBJECT, device, Measuring(budget=0.0, isolate=False))
    assert first.status == "ok"
    assert [m.status for m in rest] == ["skipped"] * 3


def test_each_measurement_is_reported_as_it_comes(device: Device) -> None:
    seen: list[tuple[int, Measurement]] = []
    results = measure([GOOD, GOOD], SUBJECT, device, HERE, report=lambda i, m: seen.append((i, m)))
    assert seen == list(enumerate(results))


def test_the_expected_result_may_be_given(device: Device) -> None:
    expected = expect(PROGRAM, seed=5)
    wrong = type(expected)(PROGRAM, expected.inputs, (np.zeros(N),), expected.scalars)
    (result,) = measure([GOOD], SUBJECT, device, HERE, expected=expected)
    assert result.status == "ok"
    # agreement with the program's own types would hide a wrong wide result; it is computed from the program
    assert wrong.narrow[0].any()
