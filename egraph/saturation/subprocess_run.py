"""Work in a process of its own, which is ended by force: nothing else interrupts egglog within an iteration.

A law may match all triples of nodes: such an iteration takes minutes and gigabytes before the limits are looked at.
What that costs: the process takes 0.6 s to start, once, and serves all later calls; a graph of 10,000 rows comes back
in some 20 ms.
"""

from __future__ import annotations

import atexit
import os
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from egglift.ir.deep import deeply
from egglift.processes.child import Child, Hung

T = TypeVar("T")
#: says something to the caller, and in how many seconds it must have said more, or be done
Tell = Callable[[Any, float], None]

#: seconds between two looks at what the process says and at its memory, and until a fresh one must be there
GLANCE, START = 0.1, 60.0


class Stopped(Exception):
    """The process was ended by force.  why: "seconds", "memory" or "crash"; told: the last that it had said."""

    def __init__(self, why: str, told: Any) -> None:
        super().__init__(why)
        self.why, self.told = why, told


@dataclass(frozen=True)
class Order:
    """Work, and in how many seconds it must have said something, or be done."""

    work: Callable[[Tell], Any]
    seconds: float


@dataclass(frozen=True)
class Told:
    """What work says before it is done."""

    what: Any


@dataclass(frozen=True)
class Returned:
    """What work returned."""

    value: Any


@dataclass(frozen=True)
class Raised:
    """What work raised."""

    error: Exception


# ---------------------------------------------------------------------------------------- the caller


def apart(work: Callable[[Tell], T], seconds: float, memory: int) -> T:
    """What `work` returns or raises in another process.  It is pickled, as is all that comes back.

    Stopped where `seconds` pass, or those that it told last, or where it holds more than `memory` bytes, or crashes.
    Where no process can be started, it works here, nothing stops it by force, and a RuntimeWarning says so.
    """
    child = _borrowed()
    if child is None:
        warnings.warn("no process can be started: laws are not stopped within an iteration", RuntimeWarning, 2)
        return work(lambda what, seconds: None)
    try:
        word = _answer(child, Order(work, seconds), memory)
    except BaseException:  # an interrupt, too: it is in the middle of something
        child.end()
        raise
    finally:
        with _lock:
            _busy.remove(child)
    with _lock:
        _idle.append((os.getpid(), child))
    if isinstance(word, Raised):
        raise word.error
    return word.value  # type: ignore[no-any-return]


def _answer(child: Child, order: Order, memory: int) -> Returned | Raised:
    """What comes of an order; Stopped where the process does not live to say it."""
    told = None
    try:
        child.send(order)
        while True:
            try:
                word: Told | Returned | Raised = child.receive(GLANCE)
            except Hung:
                if child.resident > memory:
                    raise Stopped("memory", told) from None
                continue
            if not isinstance(word, Told):
                return word
            told = word.what
    except (OSError, EOFError):
        killed = {-signal.SIGALRM: "seconds", -signal.SIGKILL: "memory", -signal.SIGABRT: "memory"}
        raise Stopped(killed.get(child.status() or 0, "crash"), told) from None


#: those that have nothing to do, by process: a fork must not talk into our pipes
_idle: list[tuple[int, Child]] = []
_busy: list[Child] = []
_lock = threading.Lock()


def _borrowed() -> Child | None:
    """A process that has nothing to do, and is busy now; None where there can be none."""
    child = _free()
    if child is not None:
        with _lock:
            _busy.append(child)
    return child


def _free() -> Child | None:
    with _lock:
        mine = [entry for entry in _idle if entry[0] == os.getpid()]
        for entry in reversed(mine):  # the one that was at work last has laws loaded
            _idle.remove(entry)
            if not entry[1].dead:
                return entry[1]
            entry[1].end()
    child = Child("egglift.egraph.saturation.subprocess_run", "the exploring process")
    try:
        if sys.executable:
            child.start()
            child.receive(START)
            return child
    except (OSError, EOFError, Hung):
        child.end()
    except BaseException:
        child.end()
        raise
    return None


@atexit.register
def _end_all() -> None:
    """Those as well that a daemon thread waits for: they would go on until their alarm, and grow."""
    for child in [child for process, child in _idle if process == os.getpid()] + _busy:
        child.end()


# ---------------------------------------------------------------------------------------- the process


def serve(descriptor: int) -> None:
    """Does the orders that come over the pipe until it ends; an alarm ends the process, even if the caller is no more.

    What is not an Exception, a panic of egglog's, ends it as well: nobody knows what is left of its e-graph.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe = Connection(descriptor)

    def tell(what: Any, seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, GLANCE))
        pipe.send(Told(what))

    with suppress(EOFError, OSError):  # the caller is no more
        pipe.send(Told("ready"))
        while True:
            order: Order = pipe.recv()
            signal.setitimer(signal.ITIMER_REAL, max(order.seconds, GLANCE))
            pipe.send(_done(order, tell))
            signal.setitimer(signal.ITIMER_REAL, 0)


def _done(order: Order, tell: Tell) -> Returned | Raised:
    try:
        return Returned(deeply(lambda: order.work(tell)))
    except Exception as error:
        return Raised(error)
