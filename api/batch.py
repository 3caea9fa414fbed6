"""Many programs: searched in worker processes or on a cluster, measured in a process of their own, resumable.

A search needs no device: workers are given the profile of the one that measures, which is this machine's.  Measuring
stays here, one program after the other, as two kernels at a time on one device would be timed together.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from egglift.candidate import Candidate, best_first
from egglift.codegen.device.device import Device, open_device
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.measurement.bench import Subject
from egglift.costmodel.measurement.journal import Journal
from egglift.costmodel.measurement.measuring import SAMPLE, Measuring
from egglift.costmodel.measurement.worker_pool import worker_for
from egglift.costmodel.profiles.profile import Profile, load_profile
from egglift.costmodel.records.cache_folder import cache_folder
from egglift.costmodel.records.jsonl import append_line
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError, ProgramError, RecordError
from egglift.ir.inner_program import inner
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import lengths_of
from egglift.ir.text import dumps
from egglift.memory import journal, remember
from egglift.optimize import remembered
from egglift.options import Laws, Options, useful
from egglift.processes.executors import workers
from egglift.programs import load_program
from egglift.report import duration, result_json
from egglift.search import searched
from egglift.timing import measured


@dataclass(frozen=True)
class Job:
    """One program of a batch: the argument that named it, and its text."""

    name: str
    text: str


@dataclass(frozen=True)
class Task:
    """What all programs of a batch share.  options: those of `optimize`, by which results are remembered."""

    device: Device
    out: Path
    options: Options

    def journal(self, subject: Subject) -> Journal | None:
        """Where measurements are kept: with the records, or beside the results where the cache is off."""
        beside = None if cache_folder() else self.out.with_name(f"{self.out.name}.measurements")
        return journal(subject, self.device, self.options.measuring.budget, beside)


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
    measurements: int = SAMPLE,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: TextIO = sys.stderr,
) -> Summary:
    """Optimises every program of `files` and appends a line of JSON for each to `out`.

    Programs that `out` already has for this device and driver are skipped, and candidates that were measured are not
    measured again, so that an interrupted batch goes on where it stopped; several may write to one `out` at once.
    A program that fails gets a line with its "error".  jobs: worker processes (default: one for each core).
    cluster: whose workers search, as for `workers`.  progress: where the bar goes, if that is a terminal.
    """
    start = time.perf_counter()
    options = Options(Laws(), measure, Measuring(measurements, budget))
    opened = open_device(device)
    have = _finished(out, opened)
    bar = _Bar(progress, len(files))
    todo, failed = [], 0
    for name in files:
        try:
            job = Job(name, dumps(inner(_of_numbers(load_program(name)))))
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
    task = Task(opened, out, replace(options, laws=useful(options.laws, load_profile(opened))))
    if todo and options.is_measured:
        worker_for(opened)  # it starts while the first programs are searched
    for job, found in _searched(todo, task, jobs, cluster):
        line = _finish(job, found, task)
        failed += "error" in line
        _append(out, line)
        bar.step(job.name)
    bar.close()
    return Summary(len(files) - skipped - failed, failed, skipped, time.perf_counter() - start)


def _of_numbers(program: Expr) -> Expr:
    """A program whose lengths are numbers; ProgramError for others, which are not searched by laws."""
    if lengths := lengths_of(program):
        names = ", ".join(n.name for n in lengths)
        raise ProgramError(f"its lengths {names} are known when it is called: a batch takes numbers; use el.optimize")
    return program


def _finished(out: Path, device: Device) -> set[str]:
    """Texts of the programs that `out` has a result of; RecordError where `out` is another kind of file.

    A line that is no result is what an interrupted batch leaves: it is skipped with a warning.
    """
    if not out.is_file():  # nothing yet, or a device, which never ends
        return set()
    done, results, bad = set[str](), 0, list[str]()
    try:
        text = out.read_text(errors="replace")
    except OSError as error:
        raise RecordError(f"cannot read {out}: {error.strerror}") from error
    for i, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line)
            if "error" not in row and (row["device"], row["driver"]) == (device.name, device.driver):
                done.add(row["program"])
            results += 1
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            bad.append(f"{out}:{i} is no result of a batch ({error})")
    for problem in bad:
        if not results and text.endswith("\n"):
            raise RecordError(f"{problem}; choose another --out")
        warnings.warn(f"{problem}; it is skipped", RuntimeWarning, stacklevel=3)
    return done


def _append(out: Path, line: dict[str, Any]) -> None:
    try:
        append_line(out, json.dumps(line))
    except OSError as error:
        raise RecordError(f"cannot write {out}: {error.strerror}") from error


def _searched(
    todo: Sequence[Job], task: Task, jobs: int | None, cluster: str | None
) -> Iterator[tuple[Job, list[Candidate] | str]]:
    """Each job with its candidates, or with what went wrong; those whose record is known first, then the others in
    order, searched by workers: ahead of their measuring where that takes no cores from it.
    """
    known = {job: remembered(loads(job.text), task.device, task.options) for job in todo}
    yield from ((job, found) for job, found in known.items() if found)
    new = [job for job in todo if not known[job]]
    count = max(1, min(jobs or os.cpu_count() or 1, len(new)))
    beside = task.device.kind == "gpu" or cluster is not None
    profile, limits = load_profile(task.device), task.device.limits
    while new:
        with workers(cluster, count) as pool, suppress(BrokenProcessPool):  # one has died: the rest get another pool
            while new:
                some = new if beside else new[:count]
                results = ahead(pool, [job.text for job in some], profile, limits)
                yield from zip(some, results if beside else list(results), strict=True)
                new = new[len(some) :]


def ahead(
    pool: Executor, texts: Sequence[str], profile: Profile, limits: DeviceLimits
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


def search(text: str, profile: Profile, limits: DeviceLimits) -> list[Candidate]:
    """The candidates for a program's text, the least estimate first.  Runs in a worker, which needs no device."""
    program = loads(text)
    type_of(program)
    return best_first(searched(program, profile, limits, useful(Laws(), profile)))


def _finish(job: Job, found: list[Candidate] | str, task: Task) -> dict[str, Any]:
    """Measures a job's candidates, unless their record was found, and keeps the record: its line of the results."""
    if isinstance(found, str):
        return {"name": job.name, "error": found}
    program = loads(job.text)
    try:
        if task.options.is_measured and all(c.status == "model" for c in found):
            subject = Subject(job.text)
            found = measured(found, subject, task.device, task.options.measuring, task.journal(subject))
    except EggliftError as error:
        return {"name": job.name, "error": str(error)}
    best = found[0]
    if best.seconds == float("inf"):
        return {"name": job.name, "error": f"no candidate runs: {best.status}: {best.reason}"}
    remember(program, task.device, task.options, found)
    tried = [c for c in found if c.status != "model"] or found[:SAMPLE]
    return {"name": job.name, **result_json(job.text, task.device, best, tried, None)}


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
