"""Measuring in a process of its own, which is ended and replaced where a candidate hangs or crashes it.

What that costs (PoCL, benchmarks/isolation.py): the process takes some 0.4 s to start, once for each device and run of
Python, and does so while the caller's program is searched; an order takes about a millisecond more than in this
process; and the chosen candidate is built a second time where it is used, from the driver's cache.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from egglift.codegen.imperative import Plan
from egglift.codegen.runtime import Address, Device, address
from egglift.costmodel.bench import Measurement, Subject
from egglift.costmodel.worker import Order
from egglift.ir.errors import DeviceError

#: seconds that a candidate's build, check and timing may take together
DEADLINE = 60.0
#: seconds in which a fresh process must have opened the device
START = 120.0
#: a program of its own, not the caller's run anew: that may have no `if __name__ == "__main__"`, or be a notebook.
#: The package is entered without its `__init__`, which would import the e-graph: 0.25 instead of 0.9 seconds.
PROGRAM = """
import sys
from importlib.util import find_spec, module_from_spec
sys.path[:] = {path!r}
sys.modules["egglift"] = module_from_spec(find_spec("egglift"))
from egglift.costmodel.worker import serve
serve({pipe})
"""


class Hung(Exception):
    """No answer by the deadline."""


class Crashed(Exception):
    """The process died; the text says how."""


class Worker:
    """One process for one device.  It starts when first needed (or by `start`), and anew after it was lost."""

    def __init__(self, place: Address) -> None:
        self.place = place
        self.lock = threading.Lock()  # orders of one program follow each other
        self.subject: Subject | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._ready = False

    def start(self) -> None:
        """Starts the process, if there is none, without waiting for it."""
        if self._process is not None:
            return
        self._pipe, theirs = Pipe()
        program = PROGRAM.format(path=sys.path, pipe=theirs.fileno())
        with theirs:  # what it prints belongs to no result of ours
            self._process = subprocess.Popen(
                [sys.executable, "-c", program], stdin=subprocess.DEVNULL, stdout=2, pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C is for the caller, who ends it
            )  # fmt: skip
        self._pipe.send(self.place)

    def ask(self, order: Subject | Order, seconds: float | None) -> Measurement | None:
        """The answer to `order` within `seconds`; Hung or Crashed, the process being no more; or what it raised."""
        try:
            self.start()
            if not self._ready:
                self._opened()
            assert self._pipe is not None
            self._pipe.send(order)
            return self._answer(seconds)
        except (OSError, EOFError) as error:
            raise Crashed(self._fate(error)) from error
        except (Hung, KeyboardInterrupt, SystemExit):
            self.end()  # it is in the middle of something
            raise

    def _opened(self) -> None:
        """Waits until the device is open."""
        try:
            self._answer(START)
        except DeviceError:
            self.end()
            raise
        self._ready = True

    def _answer(self, seconds: float | None) -> Measurement | None:
        assert self._pipe is not None
        if not self._pipe.poll(seconds):
            raise Hung
        answer: Measurement | Exception | None = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _fate(self, error: Exception) -> str:
        """How the process died."""
        if self._process is None:
            return f"no measuring process can be started ({error})"
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        code = self._process.poll()
        self.end()
        if code is None:
            return f"the measuring process hung up ({error})"
        if code < 0:
            return f"the measuring process died of {signal.Signals(-code).name}"
        return f"the measuring process ended with status {code}"

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        process, pipe = self._process, self._pipe
        self._process = self._pipe = self.subject = None
        self._ready = False
        if process is not None:
            process.kill()
            process.wait()
        if pipe is not None:
            pipe.close()


class Remote:
    """A bench (bench.Bench) in a worker's process.  To be used by one thread at a time, with the worker's lock."""

    def __init__(self, worker: Worker, subject: Subject, deadline: float = DEADLINE) -> None:
        """deadline: seconds for building, checking and timing one candidate, `effort` aside."""
        self.worker, self.subject, self.deadline = worker, subject, deadline
        self._prepare()

    def prepare(self, plans: Sequence[Plan], until: float) -> None:
        """Nothing: the process builds a candidate when it is its turn."""

    def run(self, plan: Plan, effort: float, floor: float = 0.0) -> Measurement:
        """Never raises for what is the candidate's fault, nor for what it does to the process."""
        self._prepare()
        seconds, start = self.deadline + effort, time.perf_counter()
        bare = replace(plan, kernels=tuple(replace(k, body=()) for k in plan.kernels))
        try:
            found = self.worker.ask(Order(bare, effort, floor, seconds), seconds)
        except Hung:
            reason = f"no answer within {self.deadline:g} s; its process was ended"
            return Measurement(plan, "hung", reason, build_seconds=time.perf_counter() - start)
        except Crashed as error:
            return Measurement(plan, "crashed", str(error), build_seconds=time.perf_counter() - start)
        assert found is not None
        if found.status == "lost":
            self.worker.end()
        return replace(found, plan=plan)

    def _prepare(self) -> None:
        """Has the inputs and the expected result in place; DeviceError where the process cannot serve at all."""
        if self.worker.subject == self.subject:
            return
        try:
            self.worker.ask(self.subject, None)
        except Hung:
            name = self.worker.place.name
            raise DeviceError(f"{name} was not opened within {START:g} s by another process") from None
        except Crashed as error:
            trouble = "while it opened the device and computed the expected result (out of memory?)"
            raise DeviceError(f"{error} {trouble}") from None
        self.worker.subject = self.subject


_workers: dict[tuple[int, Address], Worker] = {}
_workers_lock = threading.Lock()


def worker_for(device: Device) -> Worker | None:
    """The process that measures on `device`, one for all calls of this process, started but not waited for.

    None where another process cannot find the device, or no Python can be started.
    """
    place = address(device)
    if place is None or not sys.executable:
        return None
    with _workers_lock:
        worker = _workers.setdefault((os.getpid(), place), Worker(place))  # a fork must not talk into our pipe
    if worker.lock.acquire(blocking=False):  # else it is measuring already
        with suppress(OSError):  # where it cannot be started, that shows when it is needed
            worker.start()
        worker.lock.release()
    return worker


@atexit.register
def _end_all() -> None:
    for (process, _), worker in _workers.items():
        if process == os.getpid():
            worker.end()
