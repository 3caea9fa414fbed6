"""Rows that are gone through side by side on a CPU, as closed forms: the rules of model/rows_of_lanes.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from egglift.costmodel.closed.work import Access, Numbers, Work, number, product
from egglift.costmodel.model.counted_accesses import PAGE
from egglift.costmodel.model.rows_of_lanes import FAR, MET, STREAMS, UNFOLLOWED, WAYS


@dataclass(frozen=True)
class Rows:
    """See model/rows_of_lanes.py; count and meeting are 0 where an access goes along no rows, steps: of its loops."""

    count: Numbers
    meeting: Numbers
    run: Numbers
    steps: Numbers


def waiting(work: Work, line_bytes: int) -> Numbers:
    """Instructions' worth of waiting, over all work-items, of accesses that go along several rows at a time."""
    known = [(a, rows_of(a, line_bytes)) for a in work.accesses if a.space == "global"]
    found = number(0)
    for a, r in known:
        beside = [(b, b.steps == r.steps) for _, b in known]
        count = sum((np.where(same, b.count, 0) for b, same in beside), number(0))
        met = sum((np.where(same, b.meeting, 0) for b, same in beside), number(0))
        unfollowed = UNFOLLOWED * np.maximum(0, 1 - STREAMS / np.maximum(1, count))
        each = unfollowed + np.where((met > WAYS) & (r.meeting > 1), MET / r.run, 0)
        found = found + np.where(r.count > 0, work.count(a) * each, 0)
    return found


def rows_of(a: Access, line_bytes: int) -> Rows:
    """The rows along which an access goes, if lanes, or steps of loops within that along a row, have one each."""
    count, met, run, inside = number(1), number(1), number(1), np.asarray(False)
    for x in a.loops:
        step = np.abs(x.stride) * a.scalar
        far = (x.count > 1) & (step >= FAR) & (inside | (x.role == "lane"))
        count, met = count * np.where(far, x.count, 1), met * np.where(far, _meeting(step, x.count), 1)
        if x.role != "lane":
            near = (x.count > 1) & (step > 0) & (step < line_bytes)
            run = run * np.where(inside & near, x.count, 1)
            inside = inside | near
    several = inside & (count > 1)
    steps = product([x.count for x in a.loops if x.role != "lane"])
    return Rows(np.where(several, count, 0), np.where(several, met, 0), run, steps)


def _meeting(step: Numbers, rows: Numbers) -> Numbers:
    """How many of as many rows have their lines in the same set."""
    apart = PAGE / np.gcd(np.maximum(1, step).astype(np.int64), PAGE)
    found: Numbers = rows / np.minimum(np.maximum(1, rows), apart)
    return found
