"""The demonstration: real programs, optimised on a real device, checked against NumPy and timed beside it.

`make demo` runs it on PoCL; `python benchmarks/demo.py --device NAME` anywhere.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script: benchmarks is not installed

import egglift as el
from benchmarks.programs.catalogue import Entry, Size, entry, size_text
from egglift.codegen.device.device import open_device
from egglift.costmodel.measurement.expected_results import agree, flatten
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from egglift.ir.text import pretty
from egglift.ir.types import leaves
from egglift.report import candidate_table, duration, table

PROGRAMS: tuple[tuple[str, Size], ...] = (("dot", (2**22,)), ("softmax_rows", (4096,)), ("gemv", (2048,)))


def main() -> int:
    """Shows every program; the exit status is 1 if one of them disagrees with NumPy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="a part of a device's name (default: the first GPU, else PoCL)")
    parser.add_argument("--budget", type=float, default=5.0, help="seconds of measuring for each program")
    arguments = parser.parse_args()
    start = time.perf_counter()
    device = open_device(arguments.device)
    print(f"Device: {device.info}")
    rows: list[tuple[str, ...]] = [("program", "size", "optimize", "again", "kernel", "NumPy", "speed-up", "check")]
    for name, size in PROGRAMS:
        rows.append(show(entry(name), size, device, arguments.budget))
    print("\n" + "=" * 78 + "\nAll programs (kernel: on the device, data in place; NumPy: on the same cores)\n")
    print(table(rows, right=(1, 2, 3, 4, 5, 6)))
    print(f"\n{time.perf_counter() - start:.1f} s in all")
    return 0 if all(row[-1] == "equal" for row in rows[1:]) else 1


def show(program: Entry, size: Size, device: Any, budget: float) -> tuple[str, ...]:
    """Optimises one program and prints what was found: its row of the final table."""
    print("\n" + "=" * 78 + f"\n{program.name}, {size_text(size)}\n")
    expr = program.program(*size)
    print(pretty(as_program(expr)))
    start = time.perf_counter()
    kernel = el.optimize(expr, device, budget=budget)
    first = time.perf_counter() - start
    start = time.perf_counter()
    el.optimize(expr, device, budget=budget)
    again = time.perf_counter() - start
    print(f"\nThe fastest equal kernel ({duration(first)}):\n\n{kernel.source}")
    print("Candidates (* is the chosen one):\n")
    print(candidate_table(kernel.candidates, kernel.chosen))

    inputs = program.inputs(*size, np.random.default_rng(0))
    problem = difference(expr, program.reference(**inputs), kernel(**inputs))
    numpy_seconds = best(lambda: program.reference(**inputs))
    profile = kernel.profile(**inputs)
    verdict = problem or "equal to NumPy's result"
    print(f"\nCheck: {verdict}\nKernel: {profile}\nNumPy: {duration(numpy_seconds)}")
    speed = f"{numpy_seconds / profile.seconds:.2f}x"
    times = (duration(first), duration(again), duration(profile.seconds), duration(numpy_seconds))
    return (program.name, size_text(size), *times, speed, "equal" if problem is None else "WRONG")


def difference(expr: Any, expected: Any, actual: Any) -> str | None:
    """None where the kernel's result is NumPy's, else how they differ."""
    scalars = [scalar for _, scalar in leaves(type_of(as_program(expr)))]
    parts = zip(flatten(expected), flatten(actual), scalars, strict=True)
    found = (agree(want, got, scalar) for want, got, scalar in parts)
    return next((problem for problem in found if problem), None)


def best(run: Callable[[], Any], seconds: float = 0.5) -> float:
    """The median time of `run` over about so many seconds, after one to warm up."""
    run()
    samples: list[float] = []
    start = time.perf_counter()
    while len(samples) < 5 or (time.perf_counter() - start < seconds and len(samples) < 100):
        before = time.perf_counter()
        run()
        samples.append(time.perf_counter() - before)
    return statistics.median(samples)


if __name__ == "__main__":
    sys.exit(main())
