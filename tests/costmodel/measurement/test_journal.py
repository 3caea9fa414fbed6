"""Measurements on disk: what is known is not measured again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from egglift.codegen.device.device import Device, open_device
from egglift.codegen.device.execute import Timing
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.measurement.bench import Local, Measurement, Subject
from egglift.costmodel.measurement.journal import PASSING, Journal
from egglift.costmodel.measurement.measure import race
from egglift.costmodel.measurement.measuring import Measuring
from egglift.costmodel.measurement.successive_halving import Entrant
from egglift.ir.text import dumps
from tests.costmodel.measurement.test_measure import GOOD, PROGRAM, candidate

SUBJECT = Subject(dumps(PROGRAM))
OTHERS = [candidate(f"int i = get_global_id(0); y[i] = x[i] * x[i]; /* {i} */") for i in range(5)]


def journal(path: Path, **changed: Any) -> Journal:
    return Journal(path, **({"subject": SUBJECT, "device": "d", "driver": "1", "rules": "v"} | changed))


def timed(plan: Plan = GOOD, effort: float = 0.1) -> Measurement:
    return Measurement(plan, "ok", "", Timing(2.0, (1.0, 2.0, 3.0), (("k", 2.0),)), None, 0.5, effort)


def test_a_measurement_comes_back(tmp_path: Path) -> None:
    journal(tmp_path / "m").keep(timed(), 60)
    found = journal(tmp_path / "m").recall(GOOD, 0.1, 60)
    assert found is not None
    assert (found.plan, found.status, found.seconds, found.effort) == (GOOD, "ok", 2.0, 0.1)
    assert found.timing is not None
    assert found.timing.kernels == (("k", 2.0),)
    assert journal(tmp_path / "m").recall(OTHERS[0], 0.1, 60) is None


def test_equal_candidates_are_one_whatever_made_them(tmp_path: Path) -> None:
    statement = "int i = get_global_id(0); y[i] = x[i] * x[i];"
    again = candidate(statement)
    assert again != GOOD
    journal(tmp_path / "m").keep(timed(), 60)
    assert journal(tmp_path / "m").recall(again, 0.1, 60) is not None
    for other in (candidate(statement, group=20), candidate(statement, n=1500), candidate(statement + " ")):
        assert journal(tmp_path / "m").recall(other, 0.1, 60) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"subject": Subject(dumps(PROGRAM), seed=1)},
        {"subject": Subject(dumps(PROGRAM), options=("-x",))},
        {"subject": Subject(dumps(PROGRAM), rounded=True)},
        {"subject": Subject("another")},
        {"device": "e"},
        {"driver": "2"},
        {"rules": "w"},
        {"budget": 1.0},
    ],
)
def test_what_was_measured_for_something_else_is_no_answer(tmp_path: Path, changed: dict[str, Any]) -> None:
    journal(tmp_path / "m").keep(timed(), 60)
    assert journal(tmp_path / "m", **changed).recall(GOOD, 0.1, 60) is None


def test_every_effort_has_a_time_of_its_own(tmp_path: Path) -> None:
    kept = journal(tmp_path / "m")
    kept.keep(timed(effort=0.03), 60)
    assert kept.recall(GOOD, 0.03, 60) is not None
    assert kept.recall(GOOD, 0.1, 60) is None
    kept.keep(timed(effort=0.1), 60)
    assert [m.effort for e in (0.03, 0.1) if (m := kept.recall(GOOD, e, 60))] == [0.03, 0.1]


def test_what_hung_is_tried_again_with_a_later_deadline_only(tmp_path: Path) -> None:
    kept = journal(tmp_path / "m")
    kept.keep(Measurement(GOOD, "hung", "no answer"), 10)
    assert kept.recall(GOOD, 0.1, 10) is not None
    assert kept.recall(GOOD, 0.1, 20) is None
    kept.keep(Measurement(OTHERS[0], "crashed", "of SIGSEGV"), 10)
    found = kept.recall(OTHERS[0], 0.1, 20)
    assert found is not None
    assert (found.status, found.reason) == ("crashed", "of SIGSEGV")


@pytest.mark.parametrize("status", PASSING)
def test_what_may_come_out_otherwise_next_time_is_not_kept(tmp_path: Path, status: str) -> None:
    journal(tmp_path / "m").keep(Measurement(GOOD, status), 60)
    assert journal(tmp_path / "m").recall(GOOD, 0.1, 60) is None


def test_a_line_that_is_no_measurement_is_skipped_with_a_warning(tmp_path: Path) -> None:
    journal(tmp_path / "n").keep(timed(), 60)
    whole = (tmp_path / "n").read_text()
    (tmp_path / "m").write_text(whole + '{"schema": 0}\n' + '{"schema": 1}\n' + whole[: len(whole) // 2])
    with pytest.warns(RuntimeWarning, match="a measurement; it is skipped|no measurement .* it is skipped"):
        assert journal(tmp_path / "m").recall(GOOD, 0.1, 60) is not None


CHANGED: dict[str, dict[str, Any]] = {
    "a better time": {"seconds": 1e-9},
    "a time that is a text": {"seconds": "fast"},
    "a time that is code": {"seconds": "__import__('os').abort()"},
    "another status": {"status": "wrong"},
    "a status of nonsense": {"status": "evil"},
    "kernels of nonsense": {"kernels": [["k", "x"]]},
    "a later deadline": {"deadline": 1e9},
    "another device": {"device": "e"},
    "another time of day": {"when": ""},
    "a seal of nonsense": {"seal": "0" * 64},
    "a seal that is not ASCII": {"seal": "\u00e9\ud800"},
    "no seal": {"seal": ""},
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_changed_line_is_measured_again_and_that_is_said(tmp_path: Path, what: str) -> None:
    path = tmp_path / "m"
    journal(tmp_path / "m").keep(timed(), 60)
    path.write_text(json.dumps(json.loads(path.read_text()) | CHANGED[what]) + "\n")
    with pytest.warns(RuntimeWarning, match="did not write as they are; they are made again") as said:
        kept = journal(path)
        assert [kept.recall(GOOD, 0.1, 60) for _ in range(3)] == [None] * 3
    assert len(said) == 1
    kept.keep(timed(), 60)
    assert (found := kept.recall(GOOD, 0.1, 60)) and found.seconds == 2.0


@pytest.mark.parametrize("raw", [{"key": ["a"]}, {"seal": 5}, {"seal": None}, {"kernels": 5}, {"evil": 1}])
def test_a_line_of_unknown_words_is_skipped_with_a_warning(tmp_path: Path, raw: dict[str, Any]) -> None:
    path = tmp_path / "m"
    journal(path).keep(timed(), 60)
    good = path.read_text()
    (tmp_path / "n").write_text(json.dumps(json.loads(good) | raw) + "\n" + good)
    with pytest.warns(RuntimeWarning, match="no measurement .* it is skipped"):
        assert journal(tmp_path / "n").recall(GOOD, 0.1, 60) is not None


def test_a_journal_without_seals_is_made_again_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "m"
    for plan in (GOOD, OTHERS[0]):
        journal(path).keep(timed(plan), 60)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in line.items() if k != "seal"}) + "\n" for line in lines))
    with pytest.warns(RuntimeWarning, match="they are made again"):
        assert journal(path).recall(GOOD, 0.1, 60) is None
    journal(path).keep(timed(), 60)
    assert journal(path).recall(GOOD, 0.1, 60) is not None
    assert len(path.read_text().splitlines()) == 3


def test_another_users_measurements_are_made_again(tmp_path: Path) -> None:
    journal(tmp_path / "a" / "m").keep(timed(), 60)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "m").write_text((tmp_path / "a" / "m").read_text())
    with pytest.warns(RuntimeWarning, match="they are made again"):
        assert journal(tmp_path / "b" / "m").recall(GOOD, 0.1, 60) is None


# ---------------------------------------------------------------------------------------- races that are interrupted


class Interrupted(Local):
    """A bench at which Ctrl-C is pressed after some measurements."""

    left = 2

    def run(self, plan: Plan, effort: float, floor: float = 0.0) -> Measurement:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return super().run(plan, effort, floor)


class Counting(Local):
    """A bench that counts what it measures."""

    def __init__(self, device: Device) -> None:
        super().__init__(device, SUBJECT)
        self.asked: Counter[tuple[str, float]] = Counter()

    def run(self, plan: Plan, effort: float, floor: float = 0.0) -> Measurement:
        self.asked[plan.digest, effort] += 1
        return super().run(plan, effort, floor)


def test_an_interrupt_makes_nothing_measured_again(tmp_path: Path) -> None:
    device, path = open_device("pocl"), tmp_path / "m"
    plans = [candidate("y[0] = undeclared;"), *OTHERS]
    entrants, six = [Entrant(1.0, "")] * len(plans), Measuring(6)
    with pytest.raises(KeyboardInterrupt):
        race(plans, entrants, Interrupted(device, SUBJECT), device, six, journal(path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["status"] for line in lines] == ["build", "ok"]
    bench = Counting(device)
    found = race(plans, entrants, bench, device, six, journal(path))
    assert sorted({m.status for m in found.values()}) == ["build", "ok"]
    assert not {(plans[0].digest, 0.03), (plans[1].digest, 0.03)} & set(bench.asked)
    assert set(bench.asked.values()) == {1}
    idle = Counting(device)
    again = race(plans, entrants, idle, device, six, journal(path))
    assert not idle.asked
    assert {i: m.seconds for i, m in again.items()} == {i: m.seconds for i, m in found.items()}
