"""Many programs: searched in worker processes, measured in this one, resumable."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from egglift.candidate import Candidate
from egglift.codegen.runtime import Device, open_device
from egglift.costmodel.records import append_line
from egglift.ir.errors import EggliftError, RecordError
from egglift.ir.text import dumps, loads
from egglift.optimize import SAMPLE, measured, optimize
from egglift.programs import load_program
from egglift.report import duration, result_json


@dataclass(frozen=True)
class Job:
    """One program of a batch: the argument that named it, and its text."""

    name: str
    text: str


@dataclass(frozen=True)
class Summary:
    """How a batch ended: numbers of programs."""

    done: int
    failed: int
    skipped: int
    seconds: float


def run_batch(
    files: Sequence[str],
    device: str | None,
    out: Path,
    *,
    measure: str = "sample",
    budget: float | None = None,
    jobs: int | None = None,
    progress: TextIO = sys.stderr,
) -> Summary:
    """Optimises every program of `files` and appends a line of JSON for each to `out`.

    Programs that `out` already has for this device and driver are skipped, so that an interrupted batch goes
    on where it stopped.  A program that fails gets a line with its "error".  jobs: worker processes (default:
    one for each core).  progress: where the bar goes, if that is a terminal.
    """
    start = time.perf_counter()
    opened = open_device(device)
    have = _finished(out, opened)
    bar = _Bar(progress, len(files))
    todo, failed = [], 0
    for name in files:
        try:
            job = Job(name, dumps(load_program(name)))
        except EggliftError as error:
            failed += 1
            _append(out, {"name": name, "error": str(error)})
            bar.step(name)
            continue
        if job.text in have:
            bar.step(name)
        else:
            todo.append(job)
    skipped = len(files) - len(todo) - failed
    for job, found in _searched(todo, device, jobs):
        line = _finish(job, found, opened, measure, budget)
        failed += "error" in line
        _append(out, line)
        bar.step(job.name)
    bar.close()
    return Summary(len(files) - skipped - failed, failed, skipped, time.perf_counter() - start)


def _finished(out: Path, device: Device) -> set[str]:
    """Texts of the programs that `out` has a result of; RecordError where `out` is another kind of file."""
    if not out.is_file():  # nothing yet, or a device, which never ends
        return set()
    done: set[str] = set()
    try:
        lines = out.read_text(errors="replace").splitlines()
    except OSError as error:
        raise RecordError(f"cannot read {out}: {error.strerror}") from error
    for i, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            if "error" not in row and (row["device"], row["driver"]) == (device.name, device.driver):
                done.add(row["program"])
        except (ValueError, KeyError, TypeError) as error:
            if i < len(lines):  # a torn last line is what an interrupted batch leaves
                raise RecordError(
                    f"{out}:{i} is no result of a batch ({error}); choose another --out"
                ) from None
    return done


def _append(out: Path, line: dict[str, Any]) -> None:
    try:
        append_line(out, json.dumps(line))
    except OSError as error:
        raise RecordError(f"cannot write {out}: {error.strerror}") from error


def _searched(
    todo: Sequence[Job], device: str | None, jobs: int | None
) -> Iterator[tuple[Job, list[Candidate] | str]]:
    """Each job with its candidates, or with what went wrong, in order; the search runs ahead in processes."""
    if not todo:
        return
    count = min(jobs or os.cpu_count() or 1, len(todo))
    context = multiprocessing.get_context("spawn")  # an OpenCL driver does not survive a fork
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        futures = [pool.submit(search, job.text, device) for job in todo]
        try:
            for job, future in zip(todo, futures, strict=True):
                yield job, _result(future)
        finally:
            for future in futures:
                future.cancel()


def _result(future: Future[list[Candidate]]) -> list[Candidate] | str:
    try:
        return future.result()
    except EggliftError as error:
        return str(error)
    except BrokenProcessPool:
        return "a worker process died while it searched for candidates (out of memory?)"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def search(text: str, device: str | None) -> list[Candidate]:
    """The candidates worth measuring for a program's text.  Runs in a worker process."""
    kernel = optimize(loads(text), device, measure="none", cache=False)
    kept = sorted(kernel.candidates, key=lambda c: c.estimate)[:SAMPLE]
    return [replace(c, derive=None) for c in kept]


def _finish(
    job: Job, found: list[Candidate] | str, device: Device, measure: str, budget: float | None
) -> dict[str, Any]:
    """Measures a job's candidates: its line of the results."""
    if isinstance(found, str):
        return {"name": job.name, "error": found}
    try:
        if measure == "sample":
            found = measured(found, loads(job.text), device, budget, reassociate=True)
    except EggliftError as error:
        return {"name": job.name, "error": str(error)}
    best = min(found, key=lambda c: (c.measured is None, c.seconds))
    if best.seconds == float("inf"):
        return {"name": job.name, "error": f"no candidate runs: {best.status}: {best.reason}"}
    return {"name": job.name, **result_json(job.text, device, best, found, None)}


class _Bar:
    """A progress bar, on a terminal only."""

    WIDTH = 30

    def __init__(self, out: TextIO, total: int) -> None:
        self.out, self.total, self.count = out, total, 0
        self.start, self.shown = time.perf_counter(), out.isatty()

    def step(self, name: str) -> None:
        """One more is done: `name`."""
        self.count += 1
        if self.shown:
            filled = self.WIDTH * self.count // max(1, self.total)
            spent = time.perf_counter() - self.start
            bar = "#" * filled + "." * (self.WIDTH - filled)
            line = f"\r[{bar}] {self.count}/{self.total}  {duration(spent)}  {name[-40:]}"
            self.out.write(f"{line}\x1b[K")
            self.out.flush()

    def close(self) -> None:
        """Leaves the bar's line."""
        if self.shown and self.count:
            self.out.write("\n")
            self.out.flush()
