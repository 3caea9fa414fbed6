"""Interrupts that Python would drop: it ignores exceptions in destructors and in weak references' callbacks."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: seconds until a dropped interrupt is sent again: the destructor has ended by then
SOON = 0.01


@contextmanager
def delivered() -> Iterator[None]:
    """Inside, a Ctrl-C that falls into a destructor is sent to the main thread again, a moment later."""
    before, main = sys.unraisablehook, threading.main_thread().ident

    def hook(dropped: sys.UnraisableHookArgs) -> None:
        if main is not None and issubclass(dropped.exc_type, KeyboardInterrupt):
            again = threading.Timer(SOON, signal.pthread_kill, (main, signal.SIGINT))
            again.daemon = True
            again.start()
        else:
            before(dropped)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


@dataclass
class Interrupts:
    """What a Ctrl-C does to work: it ends the work and the call; or, with `best`, the work only, and is `met`."""

    best: bool = False
    met: bool = False

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Inside, an interrupt ends the block."""
        try:
            yield
        except KeyboardInterrupt:
            if not self.best:
                raise
            self.met = True
