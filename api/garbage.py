"""Python's garbage collector during a search: what a search makes mostly stays, and is seldom looked through."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

YOUNG = 20_000  # objects made since the last collection, for one of these: by default 700
SELDOM = 1000  # collections of what is young for one of all: by default 10, a tenth of a search's time
_lock = Lock()
_usual: list[tuple[int, int, int]] = []  # the thresholds before, for each search that runs


@contextmanager
def old_objects_stay() -> Iterator[None]:
    """What runs inside has young objects collected by the thousands, and all objects seldom.

    One setting for all threads.
    """
    with _lock:
        young, middle, old = usual = gc.get_threshold()
        _usual.append(_usual[0] if _usual else usual)
        gc.set_threshold(young and max(young, YOUNG), middle, max(old, SELDOM))
    try:
        yield
    finally:
        with _lock:
            usual = _usual.pop()
            if not _usual:
                gc.set_threshold(*usual)
