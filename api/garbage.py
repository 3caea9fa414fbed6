"""Python's garbage collector during a search: what a search makes mostly stays, and is seldom looked through."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

SELDOM = 1000  # collections of what is young for one of all: by default 10, a tenth of a search's time
_lock = Lock()
_usual: list[int] = []  # the threshold before, for each search that runs


@contextmanager
def old_objects_stay() -> Iterator[None]:
    """What runs inside has young objects collected as ever, and all objects seldom.  One setting for all threads."""
    with _lock:
        young, middle, old = gc.get_threshold()
        _usual.append(old if not _usual else _usual[0])
        gc.set_threshold(young, middle, max(old, SELDOM))
    try:
        yield
    finally:
        with _lock:
            usual = _usual.pop()
            if not _usual:
                gc.set_threshold(*gc.get_threshold()[:2], usual)
