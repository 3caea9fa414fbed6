"""Measuring candidates: all of them (`measure`), or in rounds those that may be the fastest (`race`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from egglift.codegen.device.device import Device
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.measurement.bench import Bench, Local, Measurement, Subject
from egglift.costmodel.measurement.device_lock import Clock, alone
from egglift.costmodel.measurement.expected_results import Expected
from egglift.costmodel.measurement.journal import Journal
from egglift.costmodel.measurement.refused_kernels import with_file
from egglift.costmodel.measurement.remote_bench import DEADLINE, Remote
from egglift.costmodel.measurement.successive_halving import EFFORTS, Entrant, next_round
from egglift.costmodel.measurement.worker_pool import Worker, worker_for
from egglift.ir.errors import NoWorker
from egglift.ir.patterns import Expr
from egglift.ir.text import dumps

Report = Callable[[int, Measurement], None]


def measure(
    plans: Sequence[Plan],
    program: Expr,
    device: Device,
    *,
    budget_seconds: float | None = None,
    seed: int = 0,
    floor_seconds: float = 0.0,
    options: Sequence[str] = (),
    expected: Expected | None = None,
    rounded: bool = False,
    report: Report | None = None,
    isolate: bool = False,
    deadline: float = DEADLINE,
) -> list[Measurement]:
    """Builds, checks and times each of `plans`, candidates for `program`: one Measurement each, in order.

    They are timed one by one on an otherwise idle device.
    budget_seconds: none is begun after that time, the first aside, and none built ahead after half of it.
    floor_seconds: what the hardware cannot undercut.  expected: computed from `program` and `seed` unless given.
    rounded: the program's own order of operations is asked for, and what it loses by rounding is right.
    report: called with each.  isolate: in a process of its own (remote_bench.py; `expected` is computed there), where
    a candidate that takes more than `deadline` seconds, or crashes its process, is recorded as such.
    """
    subject = Subject(dumps(program), seed, tuple(options), rounded)
    with opened(device, subject, isolate=isolate, deadline=deadline, expected=expected) as bench:
        clock = Clock(budget_seconds)
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
    estimates: Sequence[float],
    kinds: Sequence[str],
    bench: Bench,
    device: Device,
    *,
    measurements: int,
    budget_seconds: float | None = None,
    journal: Journal | None = None,
    deadline: float = DEADLINE,
) -> dict[int, Measurement]:
    """Measures in rounds (successive_halving) those of `plans` that may be the fastest: what is known of them.

    The result is by index.  estimates: the model's seconds; kinds: what its scale is corrected by.
    measurements: how many are looked at.
    budget_seconds: none is begun after half of that time, nor timed again after it, until one is right.
    journal: where what is measured is kept, at once, and from which nothing is measured again.
    """
    clock, found, number = Clock(budget_seconds), dict[int, Measurement](), 0

    def known(i: int, effort: float) -> Measurement | None:
        return journal.recall(plans[i], effort, deadline) if journal else None

    while step := next_round(_entrants(estimates, kinds, found), number, measurements):
        bench.prepare([plans[i] for i in step.fresh if known(i, step.effort) is None], clock.building)
        for place, i in enumerate(step.timed):
            if (m := known(i, step.effort)) is None:
                late = clock.late if i in step.fresh else clock.over
                if late and any(f.timing for f in found.values()):
                    found.setdefault(i, clock.skipped(plans[i]))
                    continue
                with alone(device):
                    m = with_file(bench.run(plans[i], clock.share(step.effort, len(step.timed) - place)))
                m = replace(m, effort=step.effort if m.timing else 0.0)
                if journal:
                    journal.keep(m, deadline)
            found[i] = m
        number += any(m.timing for m in found.values())
    return found


def _entrants(estimates: Sequence[float], kinds: Sequence[str], found: dict[int, Measurement]) -> list[Entrant]:
    return [
        Entrant(e, kind, i in found, found[i].seconds if i in found else None)
        for i, (e, kind) in enumerate(zip(estimates, kinds, strict=True))
    ]


@contextmanager
def opened(
    device: Device,
    subject: Subject,
    *,
    isolate: bool,
    deadline: float = DEADLINE,
    expected: Expected | None = None,
) -> Iterator[Bench]:
    """A bench for `subject`; `isolate`: in a process of its own, or in this one with a warning where none can be."""
    worker = worker_for(device) if isolate else None
    with worker.lock if worker else nullcontext():
        remote = _remote(worker, subject, deadline) if worker else None
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
