"""Checks in processes of their own: a program that crashes the driver or never ends takes nothing else with it."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from egglift.ir.parser import loads
from egglift.ir.text import dumps

#: stages of failures that are not a wrong answer of ours, but no answer
DIED, LATE = "died", "late"


@dataclass(frozen=True)
class Task:
    """A program to check: that of `seed`, or the one with this text (`style` says which inputs are drawn)."""

    seed: int
    text: str = ""
    style: str = "exact"


@dataclass
class Outcome:
    """What came of a task.  `stage` is empty where nothing failed."""

    seed: int
    style: str = ""
    text: str = ""
    stage: str = ""
    reason: str = ""
    detail: str = ""
    counts: Counter[str] = field(default_factory=Counter)


@dataclass
class Worker:
    """A process that checks programs, one after the other; it is replaced when it dies.

    device: a part of a device's name (None: the default one).  limit: seconds for each program.
    """

    device: str | None = None
    limit: float = 120.0
    process: BaseProcess | None = None
    pipe: Connection | None = None
    folder: str = ""

    def check(self, task: Task) -> Outcome:
        """What came of the task, within the limit."""
        if self.process is None:
            self._start()
        assert self.pipe is not None
        try:
            self.pipe.send(task)
            if self.pipe.poll(self.limit):
                found: Outcome = self.pipe.recv()
                return found
            problem = (LATE, f"no end after {self.limit:.0f} s")
        except (EOFError, ConnectionError, OSError):
            problem = (DIED, "the process died")
        self.stop()
        return Outcome(task.seed, task.style, task.text, *problem)

    def _start(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.folder = tempfile.mkdtemp(prefix="egglift-fuzz-")
        self.pipe, theirs = spawn.Pipe()
        self.process = spawn.Process(target=serve, args=(theirs, self.device, self.folder), daemon=True)
        self.process.start()
        theirs.close()

    def stop(self) -> None:
        """Ends the process; the next check starts another one."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            shutil.rmtree(self.folder, ignore_errors=True)
        self.process = self.pipe = None


def serve(pipe: Connection, device: str | None, folder: str) -> None:
    """Answers tasks until the other end closes.  Kernels are built in `folder`, and cached nowhere."""
    # one thread: many workers share the processors
    os.environ |= {"POCL_CACHE_DIR": folder, "PYOPENCL_NO_CACHE": "1", "POCL_MAX_PTHREAD_COUNT": "1"}
    os.environ |= {"POCL_AFFINITY": "0"}
    from egglift.codegen.device.device import open_device

    opened = open_device(device)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(checked(task, opened))


def checked(task: Task, device: Any) -> Outcome:
    """One program, made and checked in this process."""
    from tests.fuzz.case import Case
    from tests.fuzz.check import check
    from tests.fuzz.generator import random_program
    from tests.fuzz.style import style_of

    style = task.style
    if task.text:
        program = loads(task.text)
    else:
        rng = random.Random(task.seed)
        chosen = style_of(rng)
        program, style = random_program(rng, chosen), chosen.name
    case = Case(program, style, task.seed)
    failure = check(case, device)
    told = (failure.stage, failure.reason, failure.detail) if failure else ("", "", "")
    return Outcome(task.seed, style, dumps(program) if failure else "", *told, case.counts)
