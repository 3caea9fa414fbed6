"""Processes that work on a device for this one (worker.py), each ended and replaced where it hangs or crashes."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from egglift.codegen.device.device import Address, Device, address
from egglift.costmodel.measurement.bench import Measurement, Subject
from egglift.costmodel.measurement.worker_process import Build, Measure, Rest
from egglift.ir import deadline
from egglift.ir.deadline import TooLate
from egglift.ir.errors import DeviceError, NoWorker
from egglift.ir.plain_numbers import duration
from egglift.processes.child import Child, Crashed, Hung

#: processes that build for a program, mostly
USUAL = 6
#: letters that a pipe takes though nobody reads them yet: a longer program is sent when its answer is waited for
AT_ONCE = 1 << 15
#: seconds in which a fresh process must have opened the device
START = 120.0


class Worker:
    """One process for one device.  It starts when first needed (or by `start`), and anew after it was lost."""

    def __init__(self, place: Address, environment: Mapping[str, str] | None = None) -> None:
        """environment: variables that it has apart from this process' own."""
        self.place = place
        self.lock = threading.Lock()  # orders of one program follow each other
        self.subject: Subject | None = None
        self._begun: Subject | None = None  # was sent, and its answer not waited for
        self._child = Child("egglift.costmodel.measurement.worker_process", "the measuring process", environment)
        self._ready = False

    def start(self) -> None:
        """Starts the process, if there is none, without waiting for it."""
        if not self._child.started:
            self._child.start()
            self._child.send(self.place)

    def begin(self, subject: Subject, team: Sequence[Worker] = ()) -> None:
        """Sends a subject that will be asked for, unless the process works for another caller; waits for nothing.

        team: further processes, which are started as well.
        """
        if not self.lock.acquire(blocking=False):
            return
        try:
            self.revive()
            self.start()
            if self._begun is None and self.subject != subject and _is_short(subject):
                self._child.send(subject)
                self._begun = subject
            for other in team:
                other.revive()
                other.start()
        except OSError:
            pass  # where it cannot be started, that shows when it is needed
        finally:
            self.lock.release()

    def forget(self, subject: Subject) -> bool:
        """Ends the process if it computes for a subject that nobody asked for in the end; did it?"""
        if self._begun != subject or not self.lock.acquire(blocking=False):
            return False
        self.end()
        self.lock.release()
        return True

    def revive(self) -> None:
        """Forgets a process that died while nobody waited for it: that is no order's fault."""
        if self._child.dead:
            self.end()

    def ask(self, order: Subject | Measure | Build | Rest, seconds: float | None) -> Measurement | None:
        """The answer to `order` within `seconds`; Hung or Crashed, the process being no more; or what it raised.

        NoWorker where there can be no process that has the device open.
        """
        self._open()
        begun, self._begun = self._begun, None
        try:
            if begun != order:
                if begun is not None:
                    self._child.receive(seconds)  # nobody waits for it any more
                self._child.send(order)
            return self._answer(seconds)
        except (OSError, EOFError) as error:
            raise Crashed(self._fate(error)) from error
        except (Hung, KeyboardInterrupt, SystemExit):
            self.end()  # it is in the middle of something
            raise

    def _open(self) -> None:
        """Starts the process, unless that was done, and waits until the device is open there."""
        self.revive()
        if self._ready:
            return
        try:
            self.start()
            self._answer(min(START, deadline.left()))
        except (OSError, EOFError) as error:
            raise NoWorker(f"{self.place.name} cannot be used by another process: {self._fate(error)}") from error
        except Hung:
            if not deadline.left():  # it goes on starting, for the next call
                raise TooLate(f"the time is up while {self.place.name} is opened by another process") from None
            self.end()
            raise NoWorker(f"{self.place.name} was not opened within {duration(START)} by another process") from None
        except DeviceError as error:
            self.end()
            raise NoWorker(str(error)) from error
        except BaseException:
            self.end()
            raise
        self._ready = True

    def _answer(self, seconds: float | None) -> Measurement | None:
        answer: Measurement | Exception | None = self._child.receive(seconds)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _fate(self, error: Exception) -> str:
        """How the process died."""
        self.subject, self._begun, self._ready = None, None, False
        return self._child.fate(error)

    def kill(self) -> None:
        """Has the process die, for another thread that waits for its answer."""
        self._child.kill()

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        self.subject, self._begun, self._ready = None, None, False
        self._child.end()


def _is_short(subject: Subject) -> bool:
    return len(subject.program) + sum(len(part) for _, parts in subject.sample.data for part in parts) < AT_ONCE


#: by this process (a fork must not talk into our pipes), device, and number: 0 measures, the others build for it
_workers: dict[tuple[int, Address, int], Worker] = {}
_workers_lock = threading.Lock()
#: PoCL's threads of several processes, all pinned, would share the first core
UNPINNED = {"POCL_AFFINITY": "0"}


def worker_for(device: Device) -> Worker | None:
    """The process that measures on `device`, one for all calls of this process, started but not waited for.

    None where another process cannot find the device, or no Python can be started.
    """
    place = address(device)
    if place is None or not sys.executable:
        return None
    with _workers_lock:
        worker = _workers.setdefault((os.getpid(), place, 0), Worker(place))
    if worker.lock.acquire(blocking=False):  # else it is measuring already
        with suppress(OSError):  # where it cannot be started, that shows when it is needed
            worker.start()
        worker.lock.release()
    return worker


@contextmanager
def begun(device: Device, subject: Subject) -> Iterator[None]:
    """The process that measures on `device` computes what `subject` comes to, while its kernels are searched.

    Those that build start meanwhile.
    """
    worker = worker_for(device)
    team = builders(worker, min(os.cpu_count() or 1, USUAL) - 1) if worker is not None else []
    if worker is not None:
        worker.begin(subject, team)
    try:
        yield
    finally:
        if worker is not None and worker.forget(subject) and worker.place.kind == "gpu":
            for builder in team:
                builder.end()


def builders(worker: Worker, count: int) -> list[Worker]:
    """Further processes on the worker's device, for whoever holds its lock."""
    place = worker.place
    with _workers_lock:
        return [_workers.setdefault((os.getpid(), place, 1 + i), Worker(place, UNPINNED)) for i in range(count)]


@atexit.register
def _end_all() -> None:
    for (process, *_), worker in _workers.items():
        if process == os.getpid():
            worker.end()
