"""The process in which candidates are measured: what hangs or crashes here takes nobody with it.

It opens one device, and answers the orders that come over a pipe from isolated.py, one at a time.
"""

from __future__ import annotations

import resource
import signal
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

from egglift.codegen.imperative import Plan
from egglift.codegen.runtime import Address, open_at
from egglift.costmodel.bench import Local, Measurement, Subject

#: seconds after an order's deadline at which the process ends by itself, should nobody have ended it
GRACE = 5.0


@dataclass(frozen=True)
class Order:
    """Measure a plan (Bench.run); its process ends where that takes more than `deadline` seconds."""

    plan: Plan
    effort: float
    floor: float
    deadline: float


def serve(descriptor: int) -> None:
    """Answers orders until the pipe ends: first the device's address, then subjects and orders for them.

    An answer is a Measurement, None (done), or the exception that the order ended with.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe = Connection(descriptor)
    device = bench = None
    while True:
        try:
            order = pipe.recv()
        except EOFError:  # the caller is no more
            return
        answer: Measurement | Exception | None = None
        try:
            match order:
                case Address():
                    device = open_at(order)
                case Subject():
                    assert device is not None
                    bench = None  # its buffers make room
                    bench = Local(device, order)
                case Order():
                    assert bench is not None
                    answer = _measured(bench, order)
        except Exception as error:
            answer = error
        pipe.send(answer)


def _measured(bench: Local, order: Order) -> Measurement:
    """The alarm ends the process whatever it is in the middle of, also where the caller is no more."""
    signal.setitimer(signal.ITIMER_REAL, order.deadline + GRACE)
    try:
        return replace(bench.run(order.plan, order.effort, order.floor), executable=None)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
