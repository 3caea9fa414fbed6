"""Every program of the catalogue at every size: checked against NumPy, timed beside it, as a table.

    python benchmarks/verify.py [--device NAME] [--out verify.jsonl] [--table verify.md] [PROGRAM ...]

Each result is a line of JSON in OUT; lines that this version of egglift wrote for this device are not computed
again, so that a run that was stopped goes on where it was.  The exit status is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script: benchmarks is not installed

import egglift as el
from benchmarks.demo import best, difference
from benchmarks.programs.catalogue import Entry, Size, entries, entry, size_text
from egglift.codegen.device.device import open_device
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.records.jsonl import append_line
from egglift.egraph.rules.book import book
from egglift.memory import version
from egglift.report import duration

HEAD = ("program", "size", "candidates", "max error", "ours", "NumPy", "ratio", "result")
#: what a candidate's status may be without egglift having made a kernel that does not work
HARMLESS = ("ok", "model", "skipped", "inaccurate")


@dataclass(frozen=True)
class Verdict:
    """What became of one program at one size on one device.

    measured, failed: numbers of candidates, and of the failed the reasons; error: the largest difference from
    NumPy, relative to the value or the root mean square; ours, numpy: seconds; optimize: seconds of the search.
    result: "equal", or what went wrong.
    """

    program: str
    size: Size
    device: str
    driver: str
    version: str
    measured: int = 0
    failed: tuple[str, ...] = ()
    error: float = 0.0
    ours: float | None = None
    numpy: float | None = None
    optimize: float | None = None
    structure: str = ""
    result: str = "equal"

    @property
    def good(self) -> bool:
        """Equal to NumPy, and every candidate that was tried worked."""
        return self.result == "equal" and not self.failed

    def row(self) -> tuple[str, ...]:
        """Cells of the table."""
        ratio = f"{self.numpy / self.ours:.2f}" if self.ours and self.numpy else "-"
        count = f"{self.measured} ok" + (f", {len(self.failed)} failed" if self.failed else "")
        times = (duration(self.ours), duration(self.numpy))
        return (self.program, size_text(self.size), count, f"{self.error:.1e}", *times, ratio, self.result)


def verify(name: str, size: Size, device_name: str | None, budget: float) -> Verdict:
    """Optimise, check and time one program; never raises."""
    device, e = open_device(device_name), entry(name)
    line: dict[str, Any] = {
        "program": name,
        "size": size,
        "device": device.name,
        "driver": device.driver,
        "version": egglift_version(),
    }
    try:
        return Verdict(**line, **_measured(e, size, device, budget))
    except Exception as error:
        return Verdict(**line, result=f"{type(error).__name__}: {error}".splitlines()[0])


def _measured(e: Entry, size: Size, device: Any, budget: float) -> dict[str, Any]:
    program, inputs = e.program(*size), e.inputs(*size, np.random.default_rng(size))
    start = time.perf_counter()
    kernel = el.optimize(program, device, budget=budget, cache=False)
    optimized = time.perf_counter() - start
    want, got = e.reference(**inputs), kernel(**inputs)
    failed = tuple(f"{c.structure}: {c.status}: {c.reason}" for c in kernel.candidates if c.status not in HARMLESS)
    return {
        "measured": Counter(c.status for c in kernel.candidates)["ok"],
        "failed": failed,
        "error": max(map(relative_error, flatten(want), flatten(got))),
        "ours": kernel.profile(**inputs).seconds,
        "numpy": best(lambda: e.reference(**inputs)),
        "optimize": optimized,
        "structure": kernel.chosen.structure,
        "result": difference(program, want, got) or "equal",
    }


def relative_error(want: Any, got: Any) -> float:
    """The largest difference, relative to the value or to the root mean square of all, whichever is larger."""
    a, b = (np.asarray(v, np.float64) for v in (want, got))
    scale = np.maximum(np.abs(a), np.sqrt(np.mean(np.square(a))))
    same = a == b  # infinities too
    return float(np.max(np.where(same, 0.0, np.abs(a - b) / np.where(scale > 0, scale, 1.0)), initial=0.0))


def main() -> int:
    """Computes what is missing, then writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="names of programs (default: all)")
    parser.add_argument("--device", help="a part of a device's name (default: the first GPU, else PoCL)")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds of measuring for each (default: 10)")
    parser.add_argument("--longest", type=int, help="leave out sizes with a longer length")
    parser.add_argument("--out", type=Path, default=Path("verify.jsonl"))
    parser.add_argument("--table", type=Path, help="where to write the table as Markdown (also printed)")
    options = parser.parse_args()
    lines = list(run(options))
    text = table(lines)
    print(text)
    if options.table:
        options.table.write_text(text + "\n")
    return 0 if all(line.good for line in lines) else 1


def run(options: argparse.Namespace) -> Iterator[Verdict]:
    """Every line that was asked for: read from the file, or computed in a process that may crash."""
    device = open_device(options.device)
    done = {(x.program, x.size): x for x in read(options.out) if same_setting(x, device)}
    wanted = [e for e in entries() if not options.programs or e.name in options.programs]
    pool = _pool()
    for e in wanted:
        for size in e.sizes:
            if options.longest and max(size) > options.longest:
                continue
            if (e.name, size) not in done:
                try:
                    line = pool.submit(verify, e.name, size, options.device, options.budget).result()
                except BrokenProcessPool:
                    setting = (device.name, device.driver, egglift_version())
                    line = Verdict(e.name, size, *setting, result="the process crashed")
                    pool = _pool()
                append_line(options.out, json.dumps(asdict(line)))
                done[e.name, size] = line
                print("  ".join(done[e.name, size].row()), file=sys.stderr, flush=True)
            yield done[e.name, size]
    pool.shutdown()


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def read(path: Path) -> Iterator[Verdict]:
    """The lines of an earlier run; those of other versions of this script are left out."""
    for text in path.read_text().splitlines() if path.is_file() else ():
        try:
            raw = json.loads(text)
            yield Verdict(**{**raw, "size": tuple(raw["size"]), "failed": tuple(raw["failed"])})
        except (ValueError, TypeError, KeyError):
            continue


def egglift_version() -> str:
    """Of the code and of the rule book."""
    return f"{book().version} {version()}"


def same_setting(line: Verdict, device: Any) -> bool:
    """Was the line found on this device, by this code?"""
    return (line.device, line.driver, line.version) == (device.name, device.driver, egglift_version())


def table(lines: list[Verdict]) -> str:
    """The lines as a Markdown table, and in a sentence what they say."""
    rows = [HEAD, tuple("---" for _ in HEAD), *(line.row() for line in lines)]
    good = sum(line.good for line in lines)
    slower = [line for line in lines if line.ours and line.numpy and line.ours > line.numpy]
    text = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    text += ["", f"{good} of {len(lines)} equal NumPy with no failed candidate; {len(slower)} slower than NumPy."]
    return "\n".join(text + [f"- {x.program} {size_text(x.size)}: {reason}" for x in lines for reason in x.failed])


if __name__ == "__main__":
    sys.exit(main())
