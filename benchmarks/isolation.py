"""What it costs to measure candidates in processes of their own, and what building them side by side gains.

    python benchmarks/isolation.py [--device NAME] [--count 8] [--runs 3]

For the candidates of a small matrix product, medians of some runs, kernels new to the driver each time:
the start of the measuring process, an order to it, the chosen kernel built again here, and all of them built, checked
and timed in this process (by threads) and isolated (by processes).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import randrange
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import egglift as el
from egglift.codegen.device.device import Device, address, open_device
from egglift.codegen.device.execute import build
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.measurement.bench import Bench, Local, Subject
from egglift.costmodel.measurement.remote_bench import Remote
from egglift.costmodel.measurement.worker_pool import Worker

N = 256
#: seconds of timing for each candidate: little, as building is what differs
BRIEF = 0.02


def fresh(plans: list[Plan]) -> list[Plan]:
    """The same kernels as ones that no driver has in its cache: each begins with a number of its own."""

    def new(source: str) -> str:
        return source.replace("{\n", f"{{\n  volatile int fresh = {randrange(1 << 30)};\n", 1)

    return [replace(p, kernels=tuple(replace(k, source=new(k.source)) for k in p.kernels)) for p in plans]


def clocked(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measured(bench: Bench, plans: list[Plan]) -> None:
    """All of them built side by side, checked and timed."""
    bench.prepare(plans, float("inf"))
    assert all(bench.run(p, BRIEF).status == "ok" for p in plans)


def once(device: Device, subject: Subject, plans: list[Plan]) -> dict[str, float]:
    """Every figure, once."""
    place = address(device)
    assert place is not None
    seconds: dict[str, float] = {}
    here, worker = Local(device, subject), Worker(place)
    seconds["start of the process, inputs and expected result"] = clocked(lambda: Remote(worker, subject))
    there = Remote(worker, subject)
    (one,) = fresh(plans[:1])
    here.run(one, BRIEF), there.run(one, BRIEF)
    seconds["a built candidate checked and timed here"] = median(clocked(lambda: here.run(one, 0.0)) for _ in range(9))
    seconds["the same by an order"] = median(clocked(lambda: there.run(one, 0.0)) for _ in range(9))
    (chosen,) = fresh(plans[:1])
    there.run(chosen, BRIEF)
    arrays = {name: [device.upload(x) for x in leaves] for name, leaves in _leaves(here).items()}
    seconds["the chosen one built and run here, from the driver's cache"] = clocked(
        lambda: build(device, chosen).run({name: arrays[name] for name in chosen.inputs})
    )
    measured(there, fresh(plans))  # its builders have started
    seconds[f"{len(plans)} candidates, here"] = clocked(lambda: measured(here, fresh(plans)))
    seconds[f"{len(plans)} candidates, isolated"] = clocked(lambda: measured(there, fresh(plans)))
    worker.end()
    return seconds


def _leaves(bench: Local) -> dict[str, list[object]]:
    from egglift.costmodel.measurement.expected_results import flatten

    return {name: list(flatten(value)) for name, value in bench.expected.inputs.items()}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", help="a part of a device's name")
    parser.add_argument("--count", type=int, default=8, help="candidates")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    device = open_device(given.device)
    a, b = el.array("A", el.f32, (N, N)), el.array("B", el.f32, (N, N))
    kernel = el.optimize(a @ b, device, measure="none", cache=False)
    plans = {c.plan.digest: c.plan for c in sorted(kernel.candidates, key=lambda c: c.estimate)}
    subject = Subject(el.dumps(kernel.program))
    runs = [once(device, subject, list(plans.values())[: given.count]) for _ in range(given.runs)]
    print(f"{device.name}, driver {device.driver}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| what | ms |\n|---|---|")
    for what in runs[0]:
        print(f"| {what} | {1e3 * median(run[what] for run in runs):.1f} |")


if __name__ == "__main__":
    main()
