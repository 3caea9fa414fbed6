"""Rows that are gone through side by side on a CPU, by lanes for one: how long they wait for lines of the cache.

A row's next element is in the line that was read before, unless so many rows have their lines in one set of the first
cache that they drive each other out; and a core follows only so many rows ahead of who reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

from egglift.costmodel.model.counted_accesses import PAGE, CountedAccess

WAYS = 8  # lines of one set: those whose addresses differ by whole pages
FAR = 1024  # bytes between rows, from which on a core does not take them for one
STREAMS = 16  # of such rows, those that a core loads ahead of who reads or writes them
UNFOLLOWED = 3.5  # instructions' worth of waiting for an element of any further row, as a Zen 3 had it
MET = 10.0  # the same where more rows meet in a set than it has ways: whoever comes back to a row fetches its line anew


@dataclass(frozen=True)
class Rows:
    """An access that goes along rows: how many at a time, of which so many meet in a set of the cache; run: elements
    of a row that are taken before the next row."""

    access: CountedAccess
    count: int
    meeting: float
    run: int


def waiting(accesses: Sequence[CountedAccess], line_bytes: int) -> float:
    """Instructions' worth of waiting, over all work-items, of accesses that go along several rows at a time."""
    known = [r for a in accesses if a.buffer.space == "global" and (r := rows_of(a, line_bytes)) is not None]
    found = 0.0
    for r in known:
        beside = [b for b in known if b.access.loops == r.access.loops]
        met = sum(b.meeting for b in beside)  # arrays begin at the same place of a page, mostly
        found += r.access.count * UNFOLLOWED * max(0.0, 1 - STREAMS / sum(b.count for b in beside))
        found += r.access.count * MET / r.run if met > WAYS and r.meeting > 1 else 0.0
    return found


def rows_of(a: CountedAccess, line_bytes: int) -> Rows | None:
    """The rows along which an access goes, if lanes, or steps of loops within that along a row, have one each."""
    size = a.buffer.scalar.size
    steps = [(abs(s) * size, n) for v, n in a.loops if n > 1 and (s := a.at.coefficient(v)) is not None]
    first = next((i for i, (step, _) in enumerate(steps) if 0 < step < line_bytes), None)
    if first is None:
        return None
    lanes = [] if a.lane is None else [(abs(a.at.coefficient(a.lane) or 0) * size, a.lane.count)]
    apart = [(step, n) for step, n in (*lanes, *steps[first + 1 :]) if step >= FAR]
    if not apart:
        return None
    run = prod(n for step, n in steps[first + 1 :] if 0 < step < line_bytes)
    return Rows(a, prod(n for _, n in apart), prod(meeting(step, n) for step, n in apart), run)


def meeting(step: int, rows: int) -> float:
    """How many of as many rows, `step` bytes apart, have their lines in the same set.

    meeting(4096, 16) -> 16; meeting(2048, 16) -> 8; meeting(4160, 16) -> 1
    """
    return rows / min(rows, PAGE // gcd(step, PAGE))
