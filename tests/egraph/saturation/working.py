"""Work for processes of their own; they import this file, and so it imports nothing of ours."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

Tell = Callable[[Any, float], None]


def answers(tell: Tell) -> tuple[int, bool]:
    """Its process, and whether that is in the main thread."""
    return os.getpid(), threading.current_thread() is threading.main_thread()


def fails(tell: Tell) -> None:
    raise KeyError("of its own")


def tells_and_hangs(tell: Tell) -> None:
    """Says two things, with little time after the second."""
    tell("first", 60)
    tell("second", 0.3)
    time.sleep(60)


def hangs(tell: Tell) -> None:
    tell("busy", 60)
    time.sleep(60)


def interrupts(tell: Tell) -> None:
    """Interrupts who waits for it, and goes on."""
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(600)


def grows(tell: Tell) -> None:
    """Holds ever more."""
    tell("growing", 60)
    held = []
    while True:
        held.append(bytearray(os.urandom(1)) * (16 << 20))
        time.sleep(0.001)


def crashes(tell: Tell) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def sinks(tell: Tell) -> int:
    """Deeper than Python's own stack."""

    def sink(depth: int) -> int:
        return 1 + sink(depth - 1) if depth else 0

    return sink(5000)
