"""A time by which work must be done: loops that may be long ask for it, and what is not done by then is dropped."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

_end: ContextVar[float] = ContextVar("end", default=math.inf)


class TooLate(TimeoutError):
    """Work within `until` has not been done in time."""


@contextmanager
def until(end: float) -> Iterator[None]:
    """What runs inside is done by `end` (of `time.perf_counter`), or raises TooLate; an earlier end holds."""
    before = _end.set(min(end, _end.get()))
    try:
        yield
    finally:
        _end.reset(before)


def require_time() -> None:
    """TooLate where the time is up."""
    if perf_counter() > _end.get():
        raise TooLate("the time for this work is up")
