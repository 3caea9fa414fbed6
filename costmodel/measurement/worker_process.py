"""The process in which candidates are measured: what hangs or crashes here takes nobody with it.

It opens one device, and answers the orders that come over a pipe from remote_bench.py, one at a time.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

import numpy as np

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Address, Device, open_at
from egglift.codegen.device.execute import build
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.measurement.bench import Local, Measurement, Subject

#: seconds after an order's deadline at which the process ends by itself, should nobody have ended it
GRACE = 5.0


@dataclass(frozen=True)
class Measure:
    """Measure a plan (Bench.run); its process ends where that takes more than `deadline` seconds."""

    plan: Plan
    effort: float
    floor: float
    deadline: float


@dataclass(frozen=True)
class Build:
    """Build a plan, such that the driver's cache on disk has it."""

    plan: Plan
    options: tuple[str, ...]
    deadline: float


@dataclass(frozen=True)
class Rest:
    """Forget the subject and what was built for it: its buffers make room for others."""


def serve(descriptor: int) -> None:
    """Answers orders until the pipe ends: first the device's address, then subjects and orders for them.

    An answer is a Measurement, None (done), or the exception that the order ended with.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe = Connection(descriptor)
    device = bench = None
    while True:
        answer: Measurement | Exception | None = None
        try:
            order = pipe.recv()
        except (EOFError, OSError):  # the caller is no more
            return
        try:
            match order:
                case Address():
                    device = open_at(order)
                case Subject():
                    assert device is not None
                    bench = None  # its buffers make room
                    bench = Local(device, order)
                case Rest():
                    bench = None
                case Measure():
                    assert bench is not None
                    answer = _measured(bench, order)
                case Build():
                    assert device is not None
                    _build(device, bench, order)
        except Exception as error:
            answer = error
        with suppress(OSError):  # the caller is no more
            pipe.send(answer)


def _measured(bench: Local, order: Measure) -> Measurement:
    with _alarm(order.deadline):
        return replace(bench.run(order.plan, order.effort, order.floor), executable=None)


def _build(device: Device, bench: Local | None, order: Build) -> None:
    """Where it will be measured, it is checked as well; elsewhere, on a CPU, launched on zeros.

    PoCL compiles when it first sees the sizes of a launch.
    """
    with _alarm(order.deadline):
        if bench is not None:
            bench.check(order.plan)
            return
        executable = build(device, order.plan, order.options)
        if device.kind == "cpu":
            inputs = order.plan.inputs.items()
            zeros = {name: [np.zeros(b.size, b.scalar.dtype) for b in given] for name, given in inputs}
            executable.enqueue(zeros, Chain(device.queue))
            device.finish(device.queue)


@contextmanager
def _alarm(deadline: float) -> Iterator[None]:
    """Ends the process after `deadline` and grace, whatever it is in the middle of, even if the caller is no more."""
    signal.setitimer(signal.ITIMER_REAL, deadline + GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
