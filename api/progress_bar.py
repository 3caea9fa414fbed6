"""How far `optimize` has come, on a terminal: one line that is written anew several times a second."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from egglift.ir.deadline import end
from egglift.ir.progress import watched

EVERY = 0.25  # seconds from one line to the next
WIDTH = 20  # of the bar


@contextmanager
def shown(verbose: bool | None, out: TextIO | None = None) -> Iterator[None]:
    """Shows what is told inside (ir/progress.py) on `out`, stderr unless given.

    verbose: None: a line that changes, on a terminal only; True: a line for each step, wherever; False: nothing.
    """
    out = sys.stderr if out is None else out
    if verbose is False or out is None or (verbose is None and not out.isatty()):
        yield
        return
    bar = _Bar(out, end(), moving=out.isatty())
    with watched(bar.told):
        try:
            bar.thread.start()
            yield
        finally:
            bar.close()


class _Bar:
    """The line.  A thread writes it, so that it moves while nothing is told."""

    def __init__(self, out: TextIO, end: float, moving: bool) -> None:
        """end: when the time is up, by `time.perf_counter`.  moving: is `out` a terminal?"""
        self.out, self.end, self.moving = out, end, moving
        self.start, self.text = time.perf_counter(), "begins"
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._move, daemon=True)

    def told(self, stage: str, text: str) -> None:
        """A stage has come so far."""
        self.text = f"{stage}: {text}" if text else stage
        if not self.moving:
            self._write(f"{self.line()}\n")

    def line(self) -> str:
        """The seconds, a bar where it is known when the time is up, and what was told last."""
        spent = time.perf_counter() - self.start
        bar = ""
        if self.end != float("inf"):
            filled = min(WIDTH, int(WIDTH * spent / max(spent, self.end - self.start)))
            bar = f"[{'#' * filled}{'.' * (WIDTH - filled)}] "
        return f"egglift {spent:5.1f} s  {bar}{self.text}"

    def close(self) -> None:
        """Ends the line."""
        self.over.set()
        self.thread.join()
        if self.moving:
            self._write("\r\x1b[K")

    def _move(self) -> None:
        while self.moving and not self.over.wait(EVERY):
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r{self.line()[:width]}\x1b[K")

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # a terminal that is no more
            self.out.write(text)
            self.out.flush()
