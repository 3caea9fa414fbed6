"""Calls into native code from daemon threads: Python must not end while one runs.

A native library lets go of Python's lock while it works.  Where Python ends meanwhile, the thread is torn out of the
library's frames once it asks for the lock again, or works on in memory that is no more: the process crashes after all
is said and done.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: seconds for which the end of Python waits for calls: one may be stuck
PATIENCE = 5.0

_changed = threading.Condition()
_callers: list[int] = []
_ending = False


@contextmanager
def native_call() -> Iterator[None]:
    """Python does not end in here, for `PATIENCE` at most; once it ends, no thread but the main one gets in."""
    with _changed:
        while _ending and threading.current_thread() is not threading.main_thread():
            _changed.wait()
        _callers.append(threading.get_ident())
    try:
        yield
    finally:
        with _changed:
            _callers.remove(threading.get_ident())
            _changed.notify_all()


@atexit.register
def _await_callers() -> None:
    global _ending
    limit = time.monotonic() + PATIENCE
    with _changed:
        _ending = True
        while _callers and (left := limit - time.monotonic()) > 0:
            _changed.wait(left)


def _forked() -> None:
    """Other threads, and what they held, stay with the process that this one was forked from."""
    global _changed
    _changed = threading.Condition()
    _callers.clear()


os.register_at_fork(after_in_child=_forked)
