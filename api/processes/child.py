"""Processes of our own that work for this one: what hangs, crashes or grows there takes nobody with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

#: a program of its own, not the caller's run anew: that may have no `if __name__ == "__main__"`, or be a notebook.
#: The package is entered without its `__init__`, which would import everything: 0.25 instead of 0.9 seconds.
PROGRAM = """
import sys
from importlib.util import find_spec, module_from_spec
sys.path[:] = {path!r}
sys.modules["egglift"] = module_from_spec(find_spec("egglift"))
from {module} import serve
serve({pipe})
"""


#: seconds that a process may take to end once it has closed its pipe
LINGER = 10.0


class Hung(Exception):
    """No answer by the deadline."""


class Crashed(Exception):
    """The process died; the text says how."""


class Child:
    """A process that runs `serve` of a module, and a pipe to it.  It starts when told, and anew after it was ended."""

    def __init__(self, module: str, what: str, environment: Mapping[str, str] | None = None) -> None:
        """module: its `serve` takes the descriptor of the pipe.  what: its name in messages, "the measuring process".

        environment: variables that it has apart from this process' own.
        """
        self.module, self.what, self._environment = module, what, dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None

    @property
    def started(self) -> bool:
        """Was it started, and not ended since?"""
        return self._process is not None

    @property
    def dead(self) -> bool:
        """Did it die while nobody waited for it?"""
        return self._process is not None and self._process.poll() is not None

    @property
    def resident(self) -> int:
        """The bytes of memory that it holds; 0 where the system does not say."""
        if self._process is not None:
            with suppress(OSError, IndexError):
                statm = Path(f"/proc/{self._process.pid}/statm").read_text()
                return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return 0

    def start(self) -> None:
        """Starts the process without waiting for it; OSError where there can be none."""
        self._pipe, theirs = Pipe()
        program = PROGRAM.format(path=sys.path, module=self.module, pipe=theirs.fileno())
        with theirs:  # what it prints belongs to no result of ours
            self._process = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=[theirs.fileno()],
                env=os.environ | self._environment,
                process_group=0,  # Ctrl-C is for the caller, who ends it
            )

    def send(self, order: object) -> None:
        """Sends an order; OSError where the process is no more."""
        assert self._pipe is not None
        self._pipe.send(order)

    def receive(self, seconds: float | None) -> Any:
        """What it sent; Hung after `seconds`, EOFError or OSError where the process is no more."""
        assert self._pipe is not None
        if not self._pipe.poll(seconds):
            raise Hung
        return self._pipe.recv()

    def fate(self, error: Exception) -> str:
        """How the process died, in words; it is ended if it did not.  error: what was met on the pipe."""
        if self._process is None:
            return f"{self.what} cannot be started ({error})"
        code = self.status()
        if code is None:
            return f"{self.what} hung up ({error})"
        if code < 0:
            return f"{self.what} died of {signal.Signals(-code).name}"
        return f"{self.what} ended with status {code}"

    def status(self) -> int | None:
        """The exit status of a process that hung up, negative for a signal; it is ended if it still runs (None)."""
        if self._process is None:
            return None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LINGER)
        code = self._process.poll()
        self.end()
        return code

    def kill(self) -> None:
        """Has the process die, for another thread that waits for its answer."""
        if (process := self._process) is not None:
            process.kill()

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if process is not None:
            process.kill()
            process.wait()
        if pipe is not None:
            pipe.close()
