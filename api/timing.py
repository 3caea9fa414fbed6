"""Candidates with kernels of their own checked and timed, the most promising first."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from egglift.candidate import Candidate, best_first
from egglift.codegen.device.device import Device
from egglift.costmodel.measurement.bench import Measurement, Subject
from egglift.costmodel.measurement.journal import Journal
from egglift.costmodel.measurement.measure import opened, race
from egglift.costmodel.measurement.measuring import Measuring
from egglift.costmodel.measurement.successive_halving import Entrant
from egglift.ir.deadline import TooLate
from egglift.ir.errors import EggliftError
from egglift.processes.interrupts import Interrupts

WAYS = ("laws", "schedules")  # how candidates are found
POOL = 2  # times as many are in the race: a corrected model may bring in one that it put behind the first


def measured(
    candidates: Sequence[Candidate],
    subject: Subject,
    device: Device,
    measuring: Measuring,
    journal: Journal | None,
    interrupts: Interrupts = Interrupts(),
) -> list[Candidate]:
    """The most promising candidates with kernels of their own checked and timed in rounds; the rest as they were.

    Where none of them is right, the next ones are tried: no candidate is chosen unchecked if another can be in time
    (ir/deadline.py).
    """
    waiting, done = sorted(candidates, key=lambda c: c.estimate), list[Candidate]()
    with interrupts.caught(), suppress(TooLate), opened(device, subject, measuring) as bench:
        while waiting and not any(c.status == "ok" for c in done):
            pool, unmade = _different(waiting, POOL * measuring.measurements)
            terms = [c.term for c in unmade]
            waiting, done = [c for c in waiting if c.term not in terms], done + unmade
            results = dict[int, Measurement]()
            entrants = [Entrant(c.estimate, c.structure, way=_way(c)) for c in pool]
            try:
                race([c.plan for c in pool], entrants, bench, device, measuring, journal, results)
            finally:  # what an interrupt or the end of the time finds is kept
                tried = [pool[i] for i in results]
                waiting = [c for c in waiting if c not in tried]
                done += [_measured(pool[i], m) for i, m in results.items()]
    return best_first(done + waiting)


def _different(candidates: Sequence[Candidate], count: int) -> tuple[list[Candidate], list[Candidate]]:
    """The first `count` whose kernels differ, and the first that was found in another way than these; and those on the
    way of which no kernels can be made, with why: a fault of ours must not keep the others from being chosen.

    Of a short array, most tilings are the same.
    """
    found: dict[object, Candidate] = {}
    unmade: list[Candidate] = []
    ways: set[str] = set()
    for c in candidates:
        if len(found) >= count and _way(c) in ways:
            continue
        try:
            launches = tuple((k.source, k.global_size, k.local_size) for k in c.plan.kernels)
        except EggliftError as error:
            unmade.append(replace(c, status="build", reason=" ".join(str(error).split())))
            continue
        found.setdefault((launches, len(c.plan.steps)), c)
        ways.add(_way(c))
        if len(found) >= count and len(ways) == len(WAYS):
            break
    return list(found.values()), unmade


def _way(c: Candidate) -> str:
    return WAYS[c.account is not None]


def _measured(c: Candidate, m: Measurement) -> Candidate:
    return replace(c, measured=m.seconds, status=m.status, reason=m.reason)
