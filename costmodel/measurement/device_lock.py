"""Time and the device, of which there is only one: budgets of seconds, and one process measuring at a time."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from egglift.codegen.device.device import Device
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.measurement.bench import Measurement
from egglift.costmodel.records.cache_folder import cache_folder
from egglift.ir import deadline
from egglift.ir.plain_numbers import duration

#: the part of a budget in which candidates are built: what is built should be timed, too
BUILDING = 0.5
#: seconds of timing for one candidate at least, however short the budget
LEAST = 0.02


class Clock:
    """What is left of a budget of seconds (None: it has no end), which begins when this is made.

    It is over by the time by which all work here must be done (ir/deadline.py), if that is earlier.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = float("inf") if seconds is None else seconds
        start, end = time.perf_counter(), deadline.end()
        self._seconds = min(self._seconds, max(0.0, end - start))
        #: when the last candidate may be begun, and when the last may be timed, by time.perf_counter
        self.building, self.end = start + BUILDING * self._seconds, start + self._seconds

    @property
    def late(self) -> bool:
        """Is it too late to begin a candidate?"""
        return time.perf_counter() >= self.building

    @property
    def over(self) -> bool:
        """Is the budget spent?"""
        return time.perf_counter() >= self.end

    def share(self, effort: float, left: int) -> float:
        """Seconds for timing the next of `left` candidates: `effort`, or less where the budget is short."""
        return min(effort, max((self.end - time.perf_counter()) / left, LEAST))

    def skipped(self, plan: Plan) -> Measurement:
        """The measurement of a plan that the budget did not reach."""
        return Measurement(plan, "skipped", f"the budget of {duration(self._seconds)} ran out before it")


@contextmanager
def alone(device: Device) -> Iterator[None]:
    """Waits until no other process that shares the cache folder measures on `device`, and keeps them from it."""
    held = _lock(device)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _lock(device: Device) -> int | None:
    """The open lock file; None where there is no folder that others would look in, or it takes no files."""
    folder = cache_folder()
    if folder is None:
        return None
    name = hashlib.sha256(str(device.info).encode()).hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(held, fcntl.LOCK_EX)
    except OSError:
        return None
    return held
