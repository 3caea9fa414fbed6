"""Batches that are interrupted or run beside each other: nothing measured is lost, and nothing is measured again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from egglift.batch import run_batch, search
from egglift.candidate import Candidate
from egglift.costmodel.records.records import Records
from egglift.ir.patterns import Apply, Arg, Input, Map
from egglift.ir.text import dumps
from egglift.ir.types import F32, Array
from egglift.optimize import optimize

OPS = ("neg", "abs", "exp")


def program(folder: Path, op: str) -> str:
    path = folder / f"{op}.egglift"
    path.write_text(dumps(Map(Apply(op, (Arg(F32),)), Input("x", Array(4096, F32)))))
    return str(path)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Small programs; records and measurements go to `cache`, and the processes of a batch inherit that."""
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path / "cache"))
    return [program(tmp_path, op) for op in OPS]


def batch(files: list[str], out: Path) -> subprocess.Popen[str]:
    options = ["--device", "pocl", "--jobs", "1", "--measurements", "2", "--out", str(out)]
    command = [sys.executable, "-m", "egglift", "batch", *files, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def until(condition: Any, process: subprocess.Popen[str]) -> None:
    """Waits for `condition`; the process must not end before it holds."""
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def children(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    tasks = Path(f"/proc/{process}/task")
    found = [int(c) for t in tasks.iterdir() for c in (t / "children").read_text().split()]
    return [*found, *(c for f in found for c in children(f))]


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_an_interrupted_batch_measures_nothing_twice(files: list[str], tmp_path: Path) -> None:
    out, kept = tmp_path / "out.jsonl", tmp_path / "cache" / "measurements.jsonl"
    before = ""
    for done, how in enumerate((signal.SIGKILL, signal.SIGINT)):
        process = batch(files, out)
        # it is in the middle of a program: more is measured than what the results so far took
        until(lambda done=done: len(rows(out)) >= done and len(rows(kept)) > len(timings(out)), process)
        started = children(process.pid)
        process.send_signal(how)
        _, said = process.communicate(timeout=600)
        assert process.returncode == (130 if how == signal.SIGINT else -how)
        assert "Traceback" not in said
        gone(started)
        assert kept.read_text().startswith(before)
        before = kept.read_text()
        assert len(rows(out)) < len(files)
    last = batch(files, out)
    assert (last.wait(600), last.communicate()[1]) == (0, "")
    assert kept.read_text().startswith(before)
    assert set(Counter(line["key"] for line in rows(kept)).values()) == {1}  # a key is a candidate and an effort
    assert [row["name"] for row in rows(out)] == files
    assert all(row["chosen"]["measured"] > 0 for row in rows(out))


def timings(out: Path) -> list[Any]:
    """What the programs that are done took: three rounds for each of their two candidates."""
    return [c for row in rows(out) for c in 3 * row["candidates"] if c["measured"]]


def gone(processes: list[int]) -> None:
    end = time.monotonic() + 600
    while any(map(alive, processes)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not [p for p in processes if alive(p)]


def test_two_batches_at_once_lose_nothing_that_they_found(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    files = files[:2]
    batches = [batch(files, out), batch(files[::-1], out)]
    assert [b.wait(600) for b in batches] == [0, 0], [b.communicate() for b in batches]
    assert Counter(row["name"] for row in rows(out)).keys() == set(files)
    assert {r.program for r in Records(tmp_path / "cache" / "records.jsonl")} == {Path(f).read_text() for f in files}
    assert all(line["status"] == "ok" for line in rows(tmp_path / "cache" / "measurements.jsonl"))


@pytest.mark.usefixtures("searched_here")
def test_a_batch_and_optimize_know_what_the_other_found(files: list[str], tmp_path: Path) -> None:
    run_batch(files[:1], "pocl", tmp_path / "one", jobs=1, measurements=2)
    (row,) = rows(tmp_path / "one")
    neg = Map(Apply("neg", (Arg(F32),)), Input("x", Array(4096, F32)))
    assert optimize(neg, "pocl", measurements=2).chosen.measured == row["chosen"]["measured"]
    run_batch(files[:1], "pocl", tmp_path / "two", jobs=1, measurements=2)
    assert rows(tmp_path / "two")[0]["chosen"] == row["chosen"]


@pytest.mark.usefixtures("searched_here")
def test_without_a_cache_measurements_lie_beside_the_results(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", "off")
    run_batch(files[:1], "pocl", tmp_path / "out", jobs=1, measurements=1)
    assert rows(tmp_path / "out.measurements")


@pytest.mark.usefixtures("searched_here")
def test_a_torn_line_is_skipped_with_a_warning_anywhere(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_batch(files[:1], "pocl", out, measure="none", jobs=1)
    whole = out.read_text()
    out.write_text(whole + whole[:50])
    for skipped in (1, 2):  # the second time it stands between two results
        with pytest.warns(RuntimeWarning, match=f"{out}:2 is no result of a batch .* it is skipped"):
            summary = run_batch(files[:2], "pocl", out, measure="none", jobs=1)
        assert (summary.skipped, summary.failed) == (skipped, 0)


def dies_at_abs(text: str, device: str | None, count: int) -> list[Candidate]:
    """The search of a batch, in a process that does not survive one of the programs."""
    if "abs" in text:
        os._exit(3)
    return search(text, device, count)


def test_a_process_that_dies_takes_no_later_program_with_it(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("egglift.batch.search", dies_at_abs)
    summary = run_batch(files, "pocl", tmp_path / "out", measure="none", jobs=1)
    assert (summary.done, summary.failed) == (2, 1)
    assert [row.get("error", "") for row in rows(tmp_path / "out")] == [
        "",
        "a worker process died while it searched for candidates (out of memory?)",
        "",
    ]
