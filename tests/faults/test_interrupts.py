"""Interrupts: one line, status 130, files that can still be read, and the next run works."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import egglift as el
from egglift.costmodel.records.records import Records
from egglift.ir.deep import deep
from egglift.ir.errors import ProgramError

A, B = el.array("A", el.f32, (48, 40)), el.array("B", el.f32, (40, 56))
#: seconds after the start: spread over the stages of a run
DELAYS = (0.0, 1.5)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "product.egglift"
    path.write_text(el.dumps(A @ B))
    return path


#: says "ready" where the command line begins to answer interrupts
READY = """
import sys
from egglift import cli

whole = cli.delivered

def delivered():
    print("ready", flush=True)
    return whole()

cli.delivered = delivered
sys.exit(cli.main())
"""


def started(program: Path, cache: Path) -> subprocess.Popen[str]:
    """`egglift optimize`, from where it can be interrupted."""
    command = [sys.executable, "-c", READY, "optimize", str(program), "--device", "pocl", "--measurements", "2"]
    environment = os.environ | {"EGGLIFT_CACHE": str(cache)}
    run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    return run


def test_an_interrupt_ends_in_one_line_and_spoils_nothing(program: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    ends = set()
    for delay in DELAYS:
        run = started(program, cache)
        time.sleep(delay)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=600)
        ends.add(run.returncode)
        if run.returncode == 130:
            assert err == "egglift: interrupted\n"
        else:
            assert (run.returncode, err) == (0, ""), (delay, err)
        for line in (cache / "records.jsonl").read_text().splitlines() if (cache / "records.jsonl").exists() else ():
            json.loads(line)
        assert not [*cache.glob("seal?*")], "half-written files are left"
    assert 130 in ends
    last = started(program, cache)
    out, err = last.communicate(timeout=600)
    assert (last.returncode, err) == (0, "")
    assert "Check: agrees with NumPy" in out
    assert len(list(Records(cache / "records.jsonl"))) == 1


@pytest.fixture
def limit() -> Iterator[int]:
    before = sys.getrecursionlimit()
    yield before
    assert sys.getrecursionlimit() == before


def sink(depth: int) -> int:
    return 1 + sink(depth - 1) if depth else 0


def test_work_on_its_own_stack_is_deep_and_leaves_the_limit(limit: int) -> None:
    assert deep(lambda: sink(50 * limit)) == 50 * limit
    with pytest.raises(ProgramError, match="nests too deeply"):
        deep(lambda: sink(10**9))
    with pytest.raises(ZeroDivisionError):
        deep(lambda: 1 // 0)


def test_two_threads_may_be_deep_at_once(limit: int) -> None:
    first, second, found = threading.Event(), threading.Event(), []

    def long() -> int:
        first.set()
        second.wait(600)
        return sink(20 * limit)

    thread = threading.Thread(target=lambda: found.append(deep(long)))
    thread.start()
    first.wait(600)
    assert deep(lambda: sink(20 * limit)) == 20 * limit  # ends while the other one is at work
    second.set()
    thread.join()
    assert found == [20 * limit]


def test_an_interrupt_ends_the_work_on_a_stack_of_its_own() -> None:
    stopped = threading.Event()

    def forever() -> None:
        try:
            while True:
                time.sleep(0.01)
        finally:
            stopped.set()

    main = threading.main_thread().ident or 0
    threading.Timer(0.2, signal.pthread_kill, [main, signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        deep(forever)
    assert stopped.wait(600)
