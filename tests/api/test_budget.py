"""What ends `optimize` before all is measured: its budget, and Ctrl-C."""

from __future__ import annotations

from typing import Any

import pytest

import egglift as el
from egglift.costmodel.measurement import bench
from egglift.costmodel.measurement.worker_pool import Worker
from egglift.ir.deadline import TooLate
from egglift.processes.child import Crashed
from tests.api.test_optimize import X, Y, dot


@pytest.fixture
def no_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The expected result is never there in time."""

    def late(*_: object) -> None:
        raise TooLate

    monkeypatch.setattr(bench, "expect", late)


@pytest.mark.usefixtures("no_interpreter")
def test_what_was_not_checked_in_time_is_said_to_be_unchecked() -> None:
    with pytest.warns(RuntimeWarning, match="no candidate was checked, as there was no time"):
        kernel = el.optimize(dot(), "pocl", budget=0.0, isolate=False)
    assert kernel.chosen.status == "model"
    assert kernel(X, Y) == pytest.approx(X @ Y)


def test_an_expected_result_beyond_memory_is_gone_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def crashed(*_: object) -> None:
        raise Crashed("the measuring process died of SIGKILL")

    monkeypatch.setattr(Worker, "ask", crashed)
    with pytest.warns(RuntimeWarning) as told:
        kernel = el.optimize(dot(), "pocl", cache=False)
    assert any("while it computed the expected result (out of memory?)" in str(w.message) for w in told)
    assert kernel.chosen.status == "model"
    assert kernel(X, Y) == pytest.approx(X @ Y)


def test_a_budget_is_left_for_measuring_by_the_search() -> None:
    kernel = el.optimize(dot(), "pocl", budget=20.0)
    assert kernel.chosen.status == "ok"


def test_an_interrupt_may_give_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bench.Local.run
    asked: list[str] = []

    def interrupted(self: bench.Local, plan: Any, *args: Any) -> bench.Measurement:
        asked.append(plan.digest)
        if len(asked) > 2:
            raise KeyboardInterrupt
        return whole(self, plan, *args)

    monkeypatch.setattr(bench.Local, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        el.optimize(dot(), "pocl", isolate=False, cache=False)
    asked.clear()
    kernel = el.optimize(dot(), "pocl", isolate=False, cache=False, on_interrupt="best")
    assert [c.status for c in kernel.candidates].count("ok") == 2
    assert kernel.chosen.status == "ok"


def test_an_interrupted_search_gives_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("egglift.search.explored", interrupted)
    kernel = el.optimize(dot(), "pocl", cache=False, on_interrupt="best")
    assert kernel.chosen.status == "model"
    assert kernel(X, Y) == X @ Y
