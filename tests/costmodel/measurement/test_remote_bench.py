"""Measuring in a process of its own: what hangs or crashes there is recorded, and harms nobody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from egglift.codegen.device.device import Address, Device, address, open_at, open_device
from egglift.costmodel.measurement.bench import Measurement, Subject
from egglift.costmodel.measurement.measure import measure, opened, race
from egglift.costmodel.measurement.measuring import Measuring
from egglift.costmodel.measurement.remote_bench import Remote, bare
from egglift.costmodel.measurement.successive_halving import Entrant
from egglift.costmodel.measurement.worker_pool import Worker, begun, builders, worker_for
from egglift.costmodel.measurement.worker_process import GRACE, Build, Measure
from egglift.ir.deadline import TooLate, until
from egglift.ir.errors import NoWorker
from egglift.ir.patterns import Apply, Arg, Input, Map
from egglift.ir.text import dumps
from egglift.ir.types import F32, Array
from egglift.processes import child
from egglift.processes.child import Child, Crashed, Hung
from tests.costmodel.measurement.test_measure import APART, GOOD, HERE, SUBJECT, candidate

HANGS = candidate("volatile int on = 1; while (on) ; y[0] = 1;")
#: a different address beyond any mapping for each work-item; what is read back keeps the store
CRASHES = candidate("volatile global float *p = (global float *)((get_global_id(0) + 1ul) << 40); *p = 1; y[0] = *p;")


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("pocl")


def worker(device: Device) -> Worker:
    found = worker_for(device)
    assert found is not None
    return found


def pid(worker: Worker) -> int:
    assert worker._child._process is not None
    return worker._child._process.pid


def alive(number: int) -> bool:
    """Does it run, other than as the zombie of a parent that is no more?"""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_candidate_is_measured_there_as_it_is_here(device: Device) -> None:
    wrong = candidate("int i = get_global_id(0); y[i] = x[i];")
    here = measure([GOOD, wrong], SUBJECT, device, HERE)
    there = measure([GOOD, wrong], SUBJECT, device, APART)
    assert [(m.plan, m.status, m.reason) for m in there] == [(m.plan, m.status, m.reason) for m in here]
    assert there[0].seconds is not None
    assert there[0].executable is None  # it is of no use outside its process


def test_others_are_measured_after_one_hangs_or_crashes(device: Device) -> None:
    reported: list[str] = []

    def seen(_: int, m: Measurement) -> None:
        reported.append(m.status)

    found = measure([GOOD, HANGS, CRASHES, GOOD], SUBJECT, device, Measuring(deadline=0.5), report=seen)
    assert reported == ["ok", "hung", "crashed", "ok"] == [m.status for m in found]
    assert "no answer within 500 ms; its process was ended" in found[1].reason
    assert "the measuring process died of SIGSEGV" in found[2].reason
    for m in found[1:3]:
        assert m.seconds is None
        assert Path(m.reason.rpartition(" are in ")[2]).read_text().startswith(m.plan.source)


def test_one_process_serves_all_calls_until_it_is_lost(device: Device) -> None:
    measure([GOOD], SUBJECT, device, APART)
    first = pid(worker(device))
    measure([GOOD], SUBJECT, device, APART)
    assert pid(worker(device)) == first
    measure([CRASHES], SUBJECT, device, APART)
    assert not alive(first)
    assert [m.status for m in measure([GOOD], SUBJECT, device, APART)] == ["ok"]
    assert pid(worker(device)) != first


def test_what_a_program_takes_is_given_back_when_it_is_measured(device: Device) -> None:
    length = 1 << 22
    large = Map(Apply("neg", (Arg(F32),)), Input("x", Array(length, F32)))

    def held() -> int:
        """Bytes of the measuring process."""
        return 4096 * int(Path(f"/proc/{pid(worker(device))}/statm").read_text().split()[1])

    measure([GOOD], SUBJECT, device, APART)
    before = held()
    with opened(device, Subject(dumps(large)), APART):
        assert held() > before + 4 * length
    assert held() < before + 2 * length


def test_a_process_that_is_killed_while_it_waits_is_replaced(device: Device) -> None:
    bench = Remote(worker(device), SUBJECT)
    first = pid(worker(device))
    os.kill(first, signal.SIGKILL)
    while not worker(device)._child.dead:  # a process with threads may be a zombie before that
        time.sleep(0.01)
    assert bench.run(GOOD, 0.01).status == "ok"  # it was no candidate's fault
    assert pid(worker(device)) != first


def test_an_interrupt_ends_the_process_in_the_middle(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Remote(worker(device), SUBJECT)
    first = pid(worker(device))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "_answer", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bench.run(GOOD, 0.01)
    assert not alive(first)
    assert bench.run(GOOD, 0.01).status == "ok"  # and no late answer to an earlier order


def test_a_device_that_another_process_does_not_find_is_named(device: Device) -> None:
    place = address(device)
    assert place is not None
    assert open_at(place).info == device.info
    for wrong in (replace(place, place=99), replace(place, name="Another"), replace(place, driver="0")):
        with pytest.raises(NoWorker, match="is not what another process finds in its place"):
            Remote(Worker(wrong), SUBJECT)


def test_a_process_that_cannot_be_started_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Worker(Address(0, "CPU", "", "cpu"))
    with monkeypatch.context() as patch, pytest.raises(NoWorker, match="CPU cannot be used .*/nowhere/python"):
        patch.setattr(sys, "executable", "/nowhere/python")
        Remote(nowhere, SUBJECT)
    monkeypatch.setattr(child, "PROGRAM", "import sys; sys.exit(7) # {pipe}")
    with pytest.raises(NoWorker, match="CPU cannot be used by another process: .* ended with status 7"):
        Remote(nowhere, SUBJECT)


def test_without_processes_it_measures_here_with_a_warning(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    worker(device).end()
    monkeypatch.setattr(child, "PROGRAM", "import sys; sys.exit(7) # {pipe}")
    with pytest.warns(RuntimeWarning, match="ended with status 7; candidates are measured in this process"):
        (found,) = measure([GOOD], SUBJECT, device, APART)
    assert found.status == "ok"
    assert found.executable is not None


def test_a_process_without_a_caller_ends_what_hangs(device: Device) -> None:
    found = worker(device)
    Remote(found, SUBJECT)
    with found.lock, pytest.raises(Crashed, match="died of SIGALRM"):
        found.ask(Measure(bare(HANGS), 0.01, 0.0, deadline=0.5 - GRACE), 120)


# ---------------------------------------------------------------------------------------- building side by side


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Worker, str]]:
    """Which process was asked to build which plan, of three that there may be."""
    found: list[tuple[Worker, str]] = []
    whole = Worker.ask

    def ask(self: Worker, order: Any, seconds: float | None) -> Any:
        if isinstance(order, Build):
            found.append((self, order.plan.digest))
        return whole(self, order, seconds)

    monkeypatch.setattr(Worker, "ask", ask)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    return found


def test_candidates_are_built_in_several_processes_each_once(device: Device, asked: list[tuple[Worker, str]]) -> None:
    plans = [candidate(f"int i = get_global_id(0); y[i] = x[i] * x[i]; /* {i} */") for i in range(4)]
    broken = candidate("y[0] = undeclared;")
    found = measure([*plans, broken, CRASHES], SUBJECT, device, APART)
    assert [m.status for m in found] == ["ok"] * 4 + ["build", "crashed"]
    assert sorted(digest for _, digest in asked) == sorted(p.digest for p in (*plans, broken, CRASHES))
    assert {w for w, _ in asked} <= {worker(device), *builders(worker(device), 2)}


def test_one_candidate_alone_is_built_where_it_is_measured(device: Device, asked: list[tuple[Worker, str]]) -> None:
    measure([GOOD], SUBJECT, device, APART)
    assert not asked


def test_what_is_built_does_not_wait_for_what_is_not(device: Device) -> None:
    """The first, the best by the model, would be built for minutes."""
    plans, measuring = [HANGS, GOOD, candidate("y[get_global_id(0)] = 0;")], Measuring(budget=1.0, deadline=600.0)
    with opened(device, SUBJECT, measuring) as bench:
        found = race(plans, [Entrant(1.0 + i, "") for i in range(3)], bench, device, measuring)
    assert found[0].status == "skipped"
    assert found[1].status == "ok"


def test_an_interrupt_of_building_ends_all_processes(device: Device, asked: list[tuple[Worker, str]]) -> None:
    def interrupt() -> None:
        while len(asked) < 2:
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    bench = Remote(worker(device), SUBJECT, deadline=600.0)  # nobody waits for that
    presser = threading.Thread(target=interrupt)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        bench.prepare([HANGS, candidate("volatile int on = 2; while (on) ; y[0] = 1;")], float("inf"))
    presser.join()
    assert bench.run(GOOD, 0.01).status == "ok"


def test_an_interrupt_ends_processes_that_only_now_begin(
    device: Device, asked: list[tuple[Worker, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two has no process yet when all are ended: it must not build on after that."""
    ended, hung = threading.Event(), list[Hung]()
    begin, end, ask = Worker.start, Worker.kill, Worker.ask

    def start(self: Worker) -> None:
        if self is late and not self._child.started:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            ended.wait()
        begin(self)

    def kill(self: Worker) -> None:
        end(self)
        ended.set()

    def noted(self: Worker, order: Any, seconds: float | None) -> Any:
        try:
            return ask(self, order, seconds)
        except Hung as error:
            hung.append(error)
            raise

    bench = Remote(worker(device), SUBJECT, deadline=5.0)
    (late,) = builders(worker(device), 1)
    late.end()
    for name, f in (("start", start), ("kill", kill), ("ask", noted)):
        monkeypatch.setattr(Worker, name, f)
    with pytest.raises(KeyboardInterrupt):
        bench.prepare([HANGS, candidate("volatile int on = 3; while (on) ; y[0] = 1;")], float("inf"))
    assert not hung


#: no `if __name__ == "__main__"`: a process that ran this file again would never end
SCRIPT = """
import os, sys
import egglift as el
from egglift.costmodel.measurement.worker_pool import worker_for
x = el.array("x", el.f32, 100)
kernel = el.optimize(x.map(lambda v: v * v), "pocl", measurements=2, cache=False, deadline=3600.0)
assert kernel.chosen.status == "ok"
print(worker_for(kernel.device)._child._process.pid, flush=True)
if sys.argv[1:]:
    sys.stdin.read()
"""


@pytest.mark.parametrize("killed", [False, True])
def test_a_script_leaves_no_process_behind(killed: bool, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    arguments = [sys.executable, str(tmp_path / "script.py"), *(["wait"] if killed else [])]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as script:
        assert script.stdout is not None
        measuring = int(script.stdout.readline())
        if killed:
            script.kill()
    end = time.monotonic() + 600
    while alive(measuring) and time.monotonic() < end:
        time.sleep(0.02)
    assert not alive(measuring)


def test_what_the_time_does_not_reach_is_no_candidates_fault(device: Device) -> None:
    with opened(device, SUBJECT, APART) as bench:
        with pytest.raises(TooLate), until(0.0):
            bench.run(HANGS, 0.01)
        assert bench.run(GOOD, 0.01).status == "ok"


def test_a_subject_that_was_begun_is_sent_once(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []
    of_child = Child.send

    def send(child: Child, order: object) -> None:
        sent.append(order)
        of_child(child, order)

    monkeypatch.setattr(Child, "send", send)
    new = replace(SUBJECT, seed=5)
    with begun(device, new):
        assert new in sent
        assert [m.status for m in measure([GOOD], new, device, APART)] == ["ok"]
    assert sent.count(new) == 1


def test_what_a_pipe_does_not_hold_is_sent_when_it_is_waited_for(device: Device) -> None:
    first = worker(device)
    first.begin(replace(SUBJECT, program=SUBJECT.program + " " * (1 << 20)))
    assert first._begun is None


def test_another_subject_may_follow_one_that_was_begun(device: Device) -> None:
    worker(device).begin(replace(SUBJECT, seed=6))
    assert [m.status for m in measure([GOOD], replace(SUBJECT, seed=7), device, APART)] == ["ok"]


def test_what_nobody_asked_for_in_the_end_is_given_up(device: Device) -> None:
    with pytest.raises(ValueError, match="the search failed"), begun(device, replace(SUBJECT, seed=8)):
        first = pid(worker(device))
        raise ValueError("the search failed")
    assert not alive(first)
    assert [m.status for m in measure([GOOD], SUBJECT, device, APART)] == ["ok"]
