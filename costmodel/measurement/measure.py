"""Measuring candidates: all of them (`measure`), or in rounds those that may be the fastest (`race`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from egglift.codegen.device.device import Device
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.measurement.bench import Bench, Local, Measurement, Subject
from egglift.costmodel.measurement.device_lock import Clock, alone
from egglift.costmodel.measurement.expected_results import Expected
from egglift.costmodel.measurement.journal import Journal
from egglift.costmodel.measurement.measuring import USUAL, Measuring
from egglift.costmodel.measurement.refused_kernels import with_file
from egglift.costmodel.measurement.remote_bench import Remote
from egglift.costmodel.measurement.successive_halving import EFFORTS, Entrant, next_round
from egglift.costmodel.measurement.worker_pool import Worker, worker_for
from egglift.ir.deadline import require_time
from egglift.ir.errors import NoWorker
from egglift.ir.plain_numbers import duration
from egglift.ir.progress import tell

Report = Callable[[int, Measurement], None]


def measure(
    plans: Sequence[Plan],
    subject: Subject,
    device: Device,
    measuring: Measuring,
    *,
    floor_seconds: float = 0.0,
    expected: Expected | None = None,
    report: Report | None = None,
) -> list[Measurement]:
    """Builds, checks and times each of `plans`, candidates for `subject`: one Measurement each, in order.

    They are timed one by one on an otherwise idle device, each of them, however many `measuring` asks for.  None is
    begun after its budget, the first aside, and none built ahead after half of it.
    floor_seconds: what the hardware cannot undercut.  expected: computed from the subject unless given, and in any
    case where measuring is isolated.  report: called with each.
    """
    with opened(device, subject, measuring, expected) as bench:
        clock = Clock(measuring.budget)
        bench.prepare(plans, clock.building)
        results: list[Measurement] = []
        for i, plan in enumerate(plans):
            if clock.over and any(m.timing for m in results):
                result = clock.skipped(plan)
            else:
                with alone(device):
                    result = with_file(bench.run(plan, clock.share(EFFORTS[-1], len(plans) - i), floor_seconds))
            results.append(result)
            if report:
                report(i, result)
    return results


def race(
    plans: Sequence[Plan],
    entrants: Sequence[Entrant],
    bench: Bench,
    device: Device,
    measuring: Measuring,
    journal: Journal | None = None,
    found: dict[int, Measurement] | None = None,
) -> dict[int, Measurement]:
    """Measures in rounds (successive_halving) those of `plans` that may be the fastest: what is known, by index.

    entrants: what the model says of each plan.  None is built after half of the budget, nor waited for or timed after
    it, once one is right; none at all after the time by which all must be done (ir/deadline.py), which raises TooLate.
    journal: where what is measured is kept, at once, and from which nothing is measured again.  found: where what is
    known is put as it comes, for a caller that an exception keeps from what is returned.
    """
    clock, number = Clock(USUAL if measuring.budget is None else measuring.budget), 0
    found = {} if found is None else found

    def known(i: int, effort: float) -> Measurement | None:
        return journal.recall(plans[i], effort, measuring.deadline) if journal else None

    while step := next_round(_so_far(entrants, found), number, measuring.measurements):
        new = [plans[i] for i in step.fresh if known(i, step.effort) is None]
        unbuilt = {plan.digest for plan in new} - bench.prepare(new, clock.building, clock.end)
        for place, i in enumerate(sorted(step.timed, key=lambda i: plans[i].digest in unbuilt)):
            if (m := known(i, step.effort)) is None:
                require_time()
                late = clock.late if plans[i].digest in unbuilt else clock.over
                if late and any(f.timing for f in found.values()):
                    found.setdefault(i, clock.skipped(plans[i]))
                    continue
                with alone(device):
                    m = with_file(bench.run(plans[i], clock.share(step.effort, len(step.timed) - place)))
                m = replace(m, effort=step.effort if m.timing else 0.0)
                if journal:
                    journal.keep(m, measuring.deadline)
            found[i] = m
            _tell(found, plans)
        number += any(m.timing for m in found.values())
    return found


def _tell(found: Mapping[int, Measurement], plans: Sequence[Plan]) -> None:
    best = min((m.seconds for m in found.values() if m.seconds is not None), default=None)
    so_far = "none is right yet" if best is None else duration(best)
    tell("measuring", candidates=f"{len(found)} of {len(plans)}", best=so_far)


def _so_far(entrants: Sequence[Entrant], found: Mapping[int, Measurement]) -> list[Entrant]:
    return [replace(e, tried=True, seconds=found[i].seconds) if i in found else e for i, e in enumerate(entrants)]


@contextmanager
def opened(device: Device, subject: Subject, measuring: Measuring, expected: Expected | None = None) -> Iterator[Bench]:
    """A bench for `subject`; isolated: in a process of its own, or in this one with a warning where none can be."""
    worker = worker_for(device) if measuring.isolate else None
    with worker.lock if worker else nullcontext():
        remote = _remote(worker, subject, measuring.deadline) if worker else None
        try:
            yield remote or Local(device, subject, expected)
        finally:
            if remote:
                remote.close()


def _remote(worker: Worker, subject: Subject, deadline: float) -> Remote | None:
    try:
        return Remote(worker, subject, deadline)
    except NoWorker as error:
        warnings.warn(f"{error}; candidates are measured in this process", RuntimeWarning, stacklevel=5)
        return None
