"""A wrong stage, and a wrong schedule of a right one, are found by what checks random programs."""

from __future__ import annotations

import pytest

from egglift.ir.parser import loads
from tests.fuzz.case import Case
from tests.fuzz.stages import staged

SUMS = "(map (fn [i32]5 (reduce add:i32 0:i32 arg)) (input A [[i32]5]3))"
LARGEST = "(map (fn [i32]5 (reduce maximum:i32 0:i32 arg)) (input A [[i32]5]3))"


def sums() -> Case:
    return Case(loads(SUMS), "exact", 1)


def test_right_stages_and_schedules_pass() -> None:
    case = sums()
    assert staged(case) is None
    assert case.counts["stages"] == 1 and case.counts["equal stages"] >= 3


def test_a_wrong_stage_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.egraph.staged.as_pattern", lambda stage: loads(LARGEST))
    failure = staged(sums())
    assert failure is not None and failure.stage == "stages"


def test_a_wrong_schedule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.stages.sized", lambda structure, rng: loads(LARGEST))
    failure = staged(sums())
    assert failure is not None and failure.stage == "schedules"
