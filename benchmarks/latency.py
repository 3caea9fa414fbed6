"""How long `optimize` takes without measuring: a first call, a second one from the records, and e-graph sizes.

    python benchmarks/latency.py [PROGRAM ...]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script: benchmarks is not installed

import egglift as el
from benchmarks.programs.catalogue import Entry, entries
from egglift.codegen.runtime import open_device
from egglift.egraph.saturate import saturate

SIDE, LENGTH = 1024, 1 << 20


def timed(e: Entry) -> str:
    """One line of the table: seconds of the first call, milliseconds of the second, rows."""
    n = min(LENGTH, max(e.lengths)) if max(e.lengths) > 1 << 15 else SIDE
    program = e.program(n)
    start = time.perf_counter()
    el.optimize(program, measure="none")
    first = time.perf_counter() - start
    start = time.perf_counter()
    el.optimize(program, measure="none")
    second = time.perf_counter() - start
    found = saturate(el.as_program(program))
    return f"{e.name:18} {n:9} {first:6.2f} s {1e3 * second:7.1f} ms {found.rows:6} rows {1e3 * found.seconds:5.0f} ms"


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EGGLIFT_CACHE"] = folder
        device = open_device()
        el.optimize(el.array("x", el.f32, 64).map(lambda v: v + 1), measure="none")  # loads the rule book
        print(f"{device.name}; program, length, first call, second call, e-graph, saturation")
        for e in entries():
            if not names or e.name in names:
                print(timed(e), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
