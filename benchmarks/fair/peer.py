"""A peer: a library, the ways in which it has a program, and how its calls are timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.fair.job import Job

Call = Callable[[], Any]


@dataclass(frozen=True)
class Times:
    """Seconds of a call: `seconds` without what the host takes to launch it, if that can be had; `in_a_row`: with it.

    how: what the first was measured by.
    """

    seconds: float
    in_a_row: float
    how: str


def nothing() -> None:
    """What a library that keeps no memory does to free it."""


@dataclass(frozen=True)
class Peer:
    """A library beside egglift.

    absent: why it cannot take part here, None where it can.  ways: of a program, by the name of the way, calls whose
    inputs are in place; none where the program is not written.  A way is made when it is asked for, and may fail.
    host: a result as NumPy's.  free: gives memory back.
    """

    name: str
    absent: Callable[[], str | None]
    ways: Callable[[Job], Mapping[str, Callable[[], Call]]]
    times: Callable[[Call], Times]
    host: Callable[[Any], Any]
    free: Callable[[], None] = nothing
