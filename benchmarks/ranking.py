"""How well the model ranks: random candidates of each program, priced and measured.

    python benchmarks/ranking.py [--device NAME] [--count 100] [--table RESULT.json] [PROGRAM[:SIZE] ...]
    python benchmarks/ranking.py --carried RESULT.json

The second judges what `carried.py` measured of the candidates that its `prepare --random 100` drew.

For each program: Spearman's rank correlation of estimates and times, how many times as long as the best the model's
first choice takes, how many candidates are measured in the model's order until one is within 5% of the best, and how
many of the pairs whose times differ by more than 10% the model puts in the right order: where most candidates are as
fast as the memory lets them, ranks among these are noise.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.draws import sampled
from benchmarks.programs.catalogue import Entry, Size, chosen, size_text
from egglift.codegen.device.device import Device, open_device
from egglift.costmodel.measurement.bench import Subject
from egglift.costmodel.measurement.measure import measure
from egglift.costmodel.measurement.measuring import Measuring
from egglift.costmodel.profiles.profile import Profile, load_profile
from egglift.costmodel.records.maintenance import judged
from egglift.ir.lifting import as_program
from egglift.ir.text import dumps

HEAD = (
    "| program | size | candidates | rank correlation | first choice takes | until within 5% | far pairs right |",
    "|" + "---|" * 7,
)
#: seconds of measuring for each candidate, building it included
EACH = 1.0


def usual(e: Entry) -> Size:
    """A size that takes milliseconds: the fifth, or the last before."""
    return e.sizes[min(4, len(e.sizes) - 1)]


def ranked(e: Entry, size: Size, device: Device, profile: Profile, count: int, seed: int = 0) -> dict[str, Any]:
    """One program: `count` random candidates that differ, and what the search itself finds."""
    start = time.perf_counter()
    program = as_program(e.program(*size))
    rows = sampled(program, profile, device.limits, count, seed)
    searched = time.perf_counter() - start
    measuring = Measuring(budget=EACH * len(rows))
    results = measure([p.plan for _, p in rows], Subject(dumps(program)), device, measuring)
    timed = [
        (p.estimate.seconds, m.seconds, name, dict(p.sizes), asdict(p.launch), dumps(p.term))
        for (name, p), m in zip(rows, results)
        if m.seconds
    ]
    line: dict[str, Any] = {
        "program": e.name,
        "size": size_text(size),
        "device": device.name,
        "driver": device.driver,
        "measured": len(timed),
        "search seconds": searched,
        "seconds": time.perf_counter() - start,
        "failed": [m.reason for m in results if m.status not in ("ok", "skipped")],
        "all": timed,
    }
    if len(timed) > 1:
        line |= figures([(estimate, seconds) for estimate, seconds, *_ in timed])
    return line


def figures(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """How well estimates rank times."""
    rank, first, until = judged(pairs)
    return {"rank": rank, "first": first, "until": until, "ordered": ordered(pairs)}


def ordered(pairs: Sequence[tuple[float, float]], apart: float = 1.1) -> float:
    """The part of the pairs of candidates with times so far apart whose estimates are in the same order; 1 if none."""
    estimates, times = np.array(pairs, np.float64).T
    i, j = np.triu_indices(len(times), 1)
    far = np.maximum(times[i], times[j]) > apart * np.minimum(times[i], times[j])
    right = (estimates[i] < estimates[j]) == (times[i] < times[j])
    return float(right[far].mean()) if far.any() else 1.0


def judgement(path: Path) -> Iterator[dict[str, Any]]:
    """The programs of a table of `carried.py run`, each judged."""
    for line in json.loads(path.read_text()):
        pairs = [(estimate, seconds) for estimate, seconds, *_ in line["all"] if seconds]
        if len(pairs) > 1:
            line |= figures(pairs)
        yield line


def median_row(lines: Sequence[dict[str, Any]]) -> str:
    """The medians of all programs as the last row of a table."""
    done = [line for line in lines if "rank" in line]
    keys = ("rank", "first", "until", "ordered")
    rank, first, until, right = (median(line[key] for line in done) for key in keys)
    count = sum(line["measured"] for line in done)
    return f"| median of {len(done)} | | {count} | {rank:.2f} | {first:.2f} | {until:g} | {right:.2f} |"


def text(line: dict[str, Any]) -> str:
    """The result as a row of a table."""
    if "rank" not in line:
        return f"| {line['program']} | {line['size']} | {line['measured']} | - | - | - | - |"
    rank, first, until = f"{line['rank']:.2f}", f"{line['first']:.2f}", line["until"]
    right = f"{line['ordered']:.2f}"
    return f"| {line['program']} | {line['size']} | {line['measured']} | {rank} | {first} | {until} | {right} |"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM[:SIZE]")
    parser.add_argument("--device", help="a part of a device's name")
    parser.add_argument("--count", type=int, default=100, help="candidates of each program")
    parser.add_argument("--table", type=Path, help="where to write all figures as JSON")
    parser.add_argument("--terms", action="store_true", help="with the candidates' terms, to price them anew")
    parser.add_argument("--carried", type=Path, help="judge a table of carried.py instead of measuring")
    given = parser.parse_args()
    if given.carried:
        lines = list(judgement(given.carried))
        print("\n".join([f"{lines[0]['device']}, driver {lines[0]['driver']}", "", *HEAD, *map(text, lines)]))
        print(median_row(lines))
        return
    device = open_device(given.device)
    profile, results = load_profile(device), list[dict[str, Any]]()
    print("\n".join([f"{device.name}, driver {device.driver}", "", *HEAD]))
    for e, size in chosen(given.programs, usual):
        results.append(ranked(e, size, device, profile, given.count))
        print(text(results[-1]), flush=True)
        if given.table:
            short = results if given.terms else [{**r, "all": [row[:4] for row in r["all"]]} for r in results]
            given.table.write_text(json.dumps(short, indent=1))
    print(median_row(results))


if __name__ == "__main__":
    main()
