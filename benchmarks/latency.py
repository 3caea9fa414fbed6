"""How long `optimize` takes without measuring: a first call, a second one from the records, and e-graph sizes.

    python benchmarks/latency.py [PROGRAM[:SIZE] ...]

A size is written `1000,1003,997`; without one, it is 2^20 elements, or the program's largest.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script: benchmarks is not installed

import egglift as el
from benchmarks.programs.catalogue import Entry, Size, chosen, size_text
from egglift.codegen.device.device import open_device
from egglift.egraph.saturation.saturate import saturate

SIDE, LENGTH = 1024, 1 << 20


def timed(e: Entry, size: Size) -> str:
    """One line of the table: seconds of the first call, milliseconds of the second, rows."""
    program = e.program(*size)
    start = time.perf_counter()
    el.optimize(program, measure="none")
    first = time.perf_counter() - start
    start = time.perf_counter()
    el.optimize(program, measure="none")
    second = time.perf_counter() - start
    found = saturate(el.as_program(program))
    return (
        f"{e.name:24} {size_text(size):>14} {first:6.2f} s {1e3 * second:7.1f} ms {found.rows:6} rows "
        f"{1e3 * found.seconds:5.0f} ms"
    )


def usual(e: Entry) -> Size:
    """2^20 elements of a program of one length (or a side of 1024); else its largest size."""
    if len(e.sizes[0]) > 1:
        return e.sizes[-1]
    return (min(LENGTH, max(e.sizes)[0]) if max(e.sizes)[0] > 1 << 15 else SIDE,)


def main(wanted: list[str]) -> None:
    """Prints a line for each program that is wanted, by default for all."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EGGLIFT_CACHE"] = folder
        device = open_device()
        el.optimize(el.array("x", el.f32, 64).map(lambda v: v + 1), measure="none")  # loads the rule book
        print(f"{device.name}; program, size, first call, second call, e-graph, saturation")
        for e, size in chosen(wanted, usual):
            print(timed(e, size), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
