"""Work in a process of its own: it comes back, or is ended by force, with the last that it said."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from egglift.egraph.saturation import subprocess_run as module
from egglift.egraph.saturation.subprocess_run import Stopped, apart
from tests.egraph.saturation import working

ROOM = 1 << 30


def test_work_comes_back_from_a_process_that_serves_the_next() -> None:
    first, second = (apart(working.answers, 60, ROOM) for _ in range(2))
    assert first == second
    assert first != (os.getpid(), True)


def test_what_work_raises_is_raised_and_the_process_goes_on() -> None:
    before = apart(working.answers, 60, ROOM)
    with pytest.raises(KeyError, match="of its own"):
        apart(working.fails, 60, ROOM)
    assert apart(working.answers, 60, ROOM) == before


def test_work_that_is_deep_has_a_stack_of_its_own_there_too() -> None:
    assert apart(working.sinks, 60, ROOM) == 5000


@pytest.mark.parametrize(
    ("work", "seconds", "why", "told"),
    [
        (working.hangs, 60, "memory", "busy"),
        (working.tells_and_hangs, 60, "seconds", "second"),
        (working.grows, 60, "memory", "growing"),
        (working.crashes, 60, "crash", None),
    ],
)
def test_what_ends_it_is_said_with_its_last_word(work: object, seconds: float, why: str, told: str | None) -> None:
    room = 0 if work is working.hangs else ROOM
    with pytest.raises(Stopped) as caught:
        apart(work, seconds, room)  # type: ignore[arg-type]
    assert (caught.value.why, caught.value.told) == (why, told)
    assert apart(working.answers, 60, ROOM)


def test_two_threads_have_a_process_each() -> None:
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(apart(working.answers, 60, ROOM)), daemon=True) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert len(found) == 2


def test_an_interrupt_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_idle", [])  # the same process does both
    pid, _ = apart(working.answers, 60, ROOM)
    with pytest.raises(KeyboardInterrupt):
        apart(working.interrupts, 600, ROOM)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_without_processes_it_works_here_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_idle", [])
    for executable in ("", "/nowhere/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", executable)
        with pytest.warns(RuntimeWarning, match="no process can be started"):
            assert apart(working.answers, 60, ROOM) == (os.getpid(), True)
