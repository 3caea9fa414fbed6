"""Many programs: searched in worker processes or on a cluster, measured in this process, resumable.

A search needs no device: workers are given the profile of the one that measures, which is this machine's.  Measuring
stays here, one program after the other, as two kernels at a time on one device would be timed together.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from egglift.candidate import Candidate
from egglift.codegen.imperative import Limits
from egglift.codegen.runtime import Device, open_device
from egglift.costmodel.profile import Profile, load_profile
from egglift.costmodel.records import append_line
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError, RecordError
from egglift.ir.text import dumps, loads
from egglift.optimize import SAMPLE, measured, searched, unused
from egglift.programs import load_program
from egglift.report import duration, result_json
from egglift.workers import workers


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
    cluster: str | None = None,
    progress: TextIO = sys.stderr,
) -> Summary:
    """Optimises every program of `files` and appends a line of JSON for each to `out`.

    Programs that `out` already has for this device and driver are skipped, so that an interrupted batch goes
    on where it stopped.  A program that fails gets a line with its "error".  jobs: worker processes (default:
    one for each core).  cluster: whose workers search, as for `workers`.  progress: where the bar goes, if that is a
    terminal.
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
    for job, found in _searched(todo, opened, jobs, cluster):
        line = _finish(job, found, opened, measure, budget)
        failed += "error" in line
        _append(out, line)
        bar.step(job.name)
    bar.close()
    return Summary(len(files) - skipped - failed, failed, skipped, time.perf_counter() - start)


def _finished(out: Path, device: Device) -> set[str]:
    """Texts of the programs that `out` has a result of; RecordError where `out` is another kind of file."""
    if not out.exists():
        return set()
    done: set[str] = set()
    lines = out.read_text(errors="replace").splitlines()
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
    todo: Sequence[Job], device: Device, jobs: int | None, cluster: str | None
) -> Iterator[tuple[Job, list[Candidate] | str]]:
    """Each job with its candidates, or with what went wrong, in order; the search runs ahead."""
    if todo:
        with workers(cluster, min(jobs or os.cpu_count() or 1, len(todo))) as pool:
            texts = [job.text for job in todo]
            yield from zip(todo, ahead(pool, texts, load_profile(device), device.limits), strict=True)


def ahead(
    pool: Executor, texts: Sequence[str], profile: Profile, limits: Limits
) -> Iterator[list[Candidate] | str]:
    """The candidates of every program's text, or what went wrong, in order; all are handed to `pool` at once."""
    futures = [pool.submit(search, text, profile, limits) for text in texts]
    try:
        yield from map(_result, futures)
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


def search(text: str, profile: Profile, limits: Limits) -> list[Candidate]:
    """The candidates for a program's text, the least estimate first.  Runs in a worker, which needs no device."""
    program = loads(text)
    type_of(program)
    laws = {"reassociate": True, "rules": (), "disabled": unused(profile)}
    return sorted(searched(program, profile, limits, laws), key=lambda c: c.estimate)


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
    tried = [c for c in found if c.status != "model"] or found[:SAMPLE]
    return {"name": job.name, **result_json(job.text, device, best, tried, None)}


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
