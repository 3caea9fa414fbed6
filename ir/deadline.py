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


@contextmanager
def granted(seconds: float) -> Iterator[None]:
    """What runs inside has so many seconds from now at least: without its result, all that was done before is lost."""
    before = _end.set(max(_end.get(), perf_counter() + seconds))
    try:
        yield
    finally:
        _end.reset(before)


def end() -> float:
    """The time, of `time.perf_counter`, by which work here must be done; infinite where there is none."""
    return _end.get()


def left() -> float:
    """Seconds that are left for work here: 0 where the time is up, infinite where it has no end."""
    return max(0.0, _end.get() - perf_counter())


def require_time() -> None:
    """TooLate where the time is up."""
    if perf_counter() > _end.get():
        raise TooLate("the time for this work is up")
