"""Measuring in a process of its own, which is ended and replaced where a candidate hangs or crashes it.

What that costs (`benchmarks/isolation.py`, PoCL on two cores that much else ran on): the process takes 0.6 s to start,
once for each device and run of Python, and does so while the caller's program is searched; an order takes 0.5 ms more
than in this process; and the chosen candidate is built a second time where it is used, from the driver's cache: 80 ms.

Candidates are built side by side in further processes, from whose drivers' cache on disk the measuring one has them.
Threads do not help on PoCL: of two or four that build, one at a time is runnable.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue

from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.measurement.bench import Measurement, Subject
from egglift.costmodel.measurement.measuring import DEADLINE
from egglift.costmodel.measurement.worker_pool import Worker, builders
from egglift.costmodel.measurement.worker_process import Build, Measure, Rest
from egglift.ir import deadline
from egglift.ir.deadline import TooLate
from egglift.ir.errors import EggliftError
from egglift.ir.plain_numbers import duration
from egglift.ir.progress import tell
from egglift.processes.child import Crashed, Hung

#: processes that build side by side, at most: each holds a context of the driver
MOST = 8
#: seconds between looks whether one of them is done, when the time is up
LOOK = 0.1


@dataclass(frozen=True)
class _Builds:
    """What several processes build: the plans that wait, who is busy, and the digests of what is built.

    until: the time by which the last is begun; end: by which all should be done; last: by which all must.
    """

    waiting: SimpleQueue[Plan]
    until: float
    end: float
    last: float
    busy: set[Worker] = field(default_factory=set)
    built: set[str] = field(default_factory=set)

    def give_up(self, team: Sequence[Worker]) -> None:
        """Ends the processes, whatever they are building."""
        with suppress(Empty):
            while True:
                self.waiting.get_nowait()
        while self.busy:  # again and again: one may only now begin its process
            for worker in team:
                worker.kill()
            time.sleep(0.05)


class Remote:
    """A bench (bench.Bench) in a worker's process.  To be used by one thread at a time, with the worker's lock."""

    def __init__(self, worker: Worker, subject: Subject, deadline: float = DEADLINE) -> None:
        """deadline: seconds for building, checking and timing one candidate, `effort` aside."""
        self.worker, self.subject, self.deadline = worker, subject, deadline
        self._prepare()

    def prepare(self, plans: Sequence[Plan], until: float, end: float = float("inf")) -> set[str]:
        """Builds `plans` in several processes, this bench's among them; what becomes of them, `run` tells."""
        count = min(os.cpu_count() or 1, len(plans), MOST)
        if count < 2:
            return set()
        waiting: SimpleQueue[Plan] = SimpleQueue()
        for plan in plans:
            waiting.put(plan)
        team = [self.worker, *builders(self.worker, count - 1)]
        tell("builds", candidates=len(plans), processes=count)
        work = _Builds(waiting, until, min(end, deadline.end()), deadline.end())
        with ThreadPoolExecutor(count) as pool:
            try:
                tasks = [pool.submit(self._build, worker, work) for worker in team]
                late = wait(tasks, None if end == float("inf") else max(0.0, end - time.perf_counter())).not_done
                while late and not work.built:
                    late = wait(tasks, LOOK).not_done
                if late:
                    work.give_up(team)
                for task in tasks:
                    task.result()
            except BaseException:
                work.give_up(team)
                raise
        return work.built

    def close(self) -> None:
        """Gives back the memory that it holds: its buffers, and on a GPU the contexts of those that built."""
        self.worker.revive()
        if self.worker.subject is not None:
            self.worker.subject = None
            with suppress(Hung, Crashed):
                self.worker.ask(Rest(), self.deadline)
        if self.worker.place.kind == "gpu":
            for builder in builders(self.worker, MOST):
                builder.end()

    def _build(self, worker: Worker, work: _Builds) -> None:
        """Has one process build what is waiting, plan by plan; it is among the busy ones meanwhile.

        What is not built when all work must be done is given up; and none is begun unless two like the last fit into
        the time until then: what is built should be timed, too.
        """
        work.busy.add(worker)
        longest = 0.0
        try:
            while (start := time.perf_counter()) < min(work.until, work.end - 2 * longest):
                plan = work.waiting.get_nowait()
                # beside others, and without the program's inputs: `run` finds out whether it is to blame
                with suppress(Hung, Crashed, EggliftError, TooLate):
                    seconds = min(self.deadline, max(0.0, work.last - time.perf_counter()))
                    worker.ask(Build(bare(plan), self.subject.options, self.deadline), seconds)
                    work.built.add(plan.digest)
                longest = max(longest, time.perf_counter() - start)
        except Empty:
            return
        finally:
            work.busy.discard(worker)

    def run(self, plan: Plan, effort: float, floor: float = 0.0) -> Measurement:
        """Never raises for what is the candidate's fault, nor for what it does to the process; TooLate."""
        self._prepare()
        seconds, start, left = self.deadline + effort, time.perf_counter(), deadline.left()
        try:
            found = self.worker.ask(Measure(bare(plan), effort, floor, seconds), min(seconds, left))
        except Hung:
            if left < seconds:
                raise TooLate("the time is up while a candidate is measured") from None
            reason = f"no answer within {duration(self.deadline)}; its process was ended"
            return Measurement(plan, "hung", reason, build_seconds=time.perf_counter() - start)
        except Crashed as error:
            return Measurement(plan, "crashed", str(error), build_seconds=time.perf_counter() - start)
        assert found is not None
        if found.status == "lost":
            self.worker.end()
        return replace(found, plan=plan)

    def _prepare(self) -> None:
        """Has the inputs and the expected result in place; TooLate where that takes too long, or the process does not
        survive it: what it needs may be more memory than there is.
        """
        self.worker.revive()
        if self.worker.subject == self.subject:
            return
        tell("check", "the interpreter computes the expected result")
        seconds = deadline.left()
        try:
            self.worker.ask(self.subject, None if seconds == float("inf") else seconds)
        except Hung:
            raise TooLate("the time is up while the expected result is computed") from None
        except Crashed as error:
            why = f"{error} while it computed the expected result (out of memory?): no candidate is checked"
            warnings.warn(why, RuntimeWarning, stacklevel=2)
            raise TooLate(why) from None
        self.worker.subject = self.subject


def bare(plan: Plan) -> Plan:
    """What a device needs of a plan: without the statements that its source was printed from."""
    return replace(plan, kernels=tuple(replace(k, body=()) for k in plan.kernels))
