"""What an earlier call found is used where it fits, and comes back whole and in its order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.candidate import Candidate, best_first
from egglift.codegen.device.device import open_device
from egglift.codegen.device.execute import Timing
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.measurement import bench
from egglift.costmodel.measurement.bench import Local, Measurement
from egglift.ir.deadline import TooLate
from egglift.ir.patterns import Arg
from egglift.ir.types import F32
from egglift.memory import candidate_data, candidate_from

pytestmark = pytest.mark.short

N = 3000
X = np.random.default_rng(5).integers(-8, 9, N).astype(np.float32)
#: of the user's own
LAW = """
;;; abs-abs
;; abs (abs x) = abs x
;; source: a test
(rewrite (Op1 "abs" (Op1 "abs" x)) (Op1 "abs" x))
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test starts without records."""
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    return tmp_path


def tiny(n: int = 8) -> Any:
    """A program that is searched in a moment."""
    return el.array("x", el.f32, n) * 2.0


def by_model(program: Any, **options: Any) -> el.Kernel:
    return el.optimize(program, "pocl", measure="none", **options)


# ---------------------------------------------------------------------------------------- what is kept


def test_a_recalled_candidate_launches_as_it_was_measured() -> None:
    device, launch = open_device(), Launch(128, 1 << 10, swizzle=8)
    kept = Candidate("x", Arg(F32), {}, launch, device.limits, 1.0, "memory", 1.0, "measured", "", None)
    assert candidate_from(candidate_data(kept), device).launch == launch


def test_a_measured_candidate_stands_before_better_estimates() -> None:
    def one(name: str, estimate: float, measured: float | None = None, status: str = "model") -> Candidate:
        return Candidate(name, Arg(F32), {}, Launch(), DeviceLimits(), estimate, "", measured, status)

    mixed = [
        one("wrong", 1.0, None, "wrong"),
        one("second guess", 3.0),
        one("slow", 1.0, 9.0, "ok"),
        one("skipped", 0.5, None, "skipped"),
        one("first guess", 2.0),
        one("fast", 4.0, 8.0, "ok"),
    ]
    order = ["fast", "slow", "first guess", "second guess", "skipped", "wrong"]
    assert [c.structure for c in best_first(mixed)] == order


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements without a clock: the first candidate is wrong; the others take minutes, later ones less."""
    asked: list[str] = []

    def run(self: Local, plan: Any, effort: float, floor: float = 0.0) -> Measurement:
        if plan.digest not in asked:
            asked.append(plan.digest)
        place = asked.index(plan.digest)
        seconds = 1000.0 - place
        return Measurement(plan, "ok" if place else "wrong", timing=Timing(seconds, (seconds,), ()) if place else None)

    monkeypatch.setattr(Local, "run", run)


def test_a_record_gives_the_same_list_in_the_same_order(scripted: None) -> None:
    x = el.array("x", el.f32, 3000)
    options: dict[str, Any] = {"isolate": False, "measurements": 2, "without": ["schedules"]}
    first, second = (el.optimize(el.reduce(el.add, 0.0, x * x), "pocl", **options) for _ in range(2))
    statuses = [c.status for c in first.candidates]
    assert statuses == sorted(statuses, key=["ok", "model", "wrong"].index) and len(set(statuses)) == 3
    assert first.chosen is first.candidates[0]
    assert [replace(c, derive=None) for c in second.candidates] == [replace(c, derive=None) for c in first.candidates]


# ---------------------------------------------------------------------------------------- when it is used


def test_a_second_call_uses_the_record(searches: list[Any]) -> None:
    x, y = el.array("x", el.f32, N), el.array("y", el.f32, N)
    dot = el.reduce(el.add, 0.0, x * y)
    first = el.optimize(dot, "pocl")
    assert len(searches) == 1
    second = el.optimize(dot, "pocl")
    assert len(searches) == 1
    assert second.term is first.term
    assert second.source == first.source
    assert second.chosen.measured == first.chosen.measured
    assert [plain(c) for c in second.candidates] == [plain(c) for c in first.candidates]
    assert second(X, X) == X @ X


TRIPLES = el.array("x", (el.f32, el.i32, el.f32), 8)


@pytest.mark.parametrize(
    "program",
    [
        TRIPLES.map(lambda t: (t[2], (t[0], t[0] + 1), t[1])),
        TRIPLES.map(lambda t: t[0] + t[2]),
        el.zip(*el.tuple(el.cumsum(TRIPLES.map(lambda t: t[0])), *el.unzip(TRIPLES))),
        el.array("z", el.c64, 8) * 2j,
    ],
    ids=["triples", "of triples", "zipped", "complex"],
)
def test_records_of_all_types_are_used_again(searches: list[Any], program: Any) -> None:
    """Laws know pairs only: their candidates have (a, (b, c)) for (a, b, c)."""
    assert by_model(program).term is by_model(program).term
    assert len(searches) == 1


def test_what_was_left_unchecked_is_checked_and_not_searched(
    searches: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A budget ended; the next call goes on where it did."""

    def late(*_: object) -> None:
        raise TooLate

    with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="no candidate was checked"):
        patch.setattr(bench, "expect", late)
        first = el.optimize(tiny(), "pocl", budget=20.0, isolate=False)
    assert first.chosen.status == "model"
    for _ in range(2):
        assert el.optimize(tiny(), "pocl", budget=20.0, isolate=False).chosen.status == "ok"
    assert len(searches) == 1


def plain(c: Candidate) -> tuple[Any, ...]:
    return c.structure, c.term, c.parameters, c.launch, c.estimate, c.bound, c.measured, c.status, c.reason


@pytest.mark.parametrize(
    ("program", "options"),
    [
        (tiny(9), {}),
        (tiny(), {"measure": "sample", "budget": 0.0}),
        (tiny(), {"reassociate": False}),
        (tiny(), {"rules": [LAW]}),
        (tiny(), {"cache": False}),
    ],
    ids=["program", "measure", "reassociate", "rules", "cache"],
)
def test_a_changed_program_option_or_rule_is_found_again(
    searches: list[Any], program: Any, options: dict[str, Any]
) -> None:
    by_model(tiny())
    el.optimize(program, "pocl", **({"measure": "none"} | options))
    assert len(searches) == 2
    by_model(tiny())
    assert len(searches) == 2, "the first record is still there"


def test_what_a_small_budget_found_is_no_answer_to_a_larger_one(searches: list[Any]) -> None:
    for budget in (0.0, 0.5, 0.0, 0.5):
        el.optimize(tiny(), "pocl", budget=budget)
    assert len(searches) == 2
    for _ in range(2):
        by_model(tiny(), budget=1.0)
        by_model(tiny())
    assert len(searches) == 4, "a budget bounds the search too"


def test_nothing_is_kept_where_the_cache_is_off(cache: Path, searches: list[Any]) -> None:
    by_model(tiny(), cache=False)
    assert not list(cache.rglob("records*"))
    by_model(tiny())
    assert list(cache.rglob("records*"))
    assert len(searches) == 2


def test_records_are_forgotten_with_their_file_or_folder(
    cache: Path, searches: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_model(tiny())
    (file,) = cache.rglob("records*")
    file.unlink()
    by_model(tiny())
    assert len(searches) == 2
    monkeypatch.setenv("EGGLIFT_CACHE", str(cache / "other"))
    by_model(tiny())
    assert len(searches) == 3
    monkeypatch.setenv("EGGLIFT_CACHE", "off")
    for _ in range(2):
        by_model(tiny())
    assert len(searches) == 5
    monkeypatch.setenv("EGGLIFT_CACHE", str(cache))
    by_model(tiny())
    assert len(searches) == 5


def test_a_spoilt_record_is_found_again(cache: Path, searches: list[Any]) -> None:
    by_model(tiny())
    (file,) = cache.rglob("records*")
    file.write_text(file.read_text().replace('"structure"', '"form"').replace('\\"structure\\"', '\\"form\\"'))
    assert by_model(tiny())(X[:8]).tolist() == (2 * X[:8]).tolist()
    assert len(searches) == 2
