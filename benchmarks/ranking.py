"""How well the model ranks: random candidates of each program, priced and measured.

    python benchmarks/ranking.py [--device NAME] [--count 100] [--table RESULT.json] [PROGRAM[:SIZE] ...]

For each program: Spearman's rank correlation of estimates and times, how many times as long as the best the model's
first choice takes, and how many candidates are measured in the model's order until one is within 5% of the best.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.programs.catalogue import Entry, Size, chosen, size_text
from egglift.codegen.runtime import Device, open_device
from egglift.costmodel.archive import judged
from egglift.costmodel.measure import measure
from egglift.costmodel.profile import Profile, load_profile
from egglift.costmodel.search import Point, Search
from egglift.egraph.extract import Extractor
from egglift.egraph.saturate import saturate
from egglift.egraph.weights import weights
from egglift.ir.lifting import as_program
from egglift.ir.text import dumps

#: seconds of measuring for each candidate, building it included
EACH = 1.0
#: points that are drawn until one has a price
DRAWS = 20


def usual(e: Entry) -> Size:
    """A size that takes milliseconds: the fifth, or the last before."""
    return e.sizes[min(4, len(e.sizes) - 1)]


def drawn(searches: list[tuple[str, Search]], rng: Random) -> Iterator[tuple[str, Point]]:
    """Random points of random structures, for ever; structures that have none are left out."""
    alive = list(searches)
    while alive:
        name, search = pick = rng.choice(alive)
        for _ in range(DRAWS):
            wish: dict[str, int] = {}
            for symbol in search.order:
                wish[symbol] = rng.choice(search.options(symbol, wish))
            point = search.point(wish, rng.choice(search.launches()))
            if isinstance(point, Point):
                yield name, point
                break
        else:
            alive.remove(pick)


def ranked(e: Entry, size: Size, device: Device, profile: Profile, count: int, seed: int = 0) -> dict[str, Any]:
    """One program: `count` random candidates that differ, and what the search itself finds."""
    start = time.perf_counter()
    program = as_program(e.program(*size))
    graph = saturate(program).graph
    found = Extractor(graph, weights(profile)).run()
    searches = [(f.sign, Search(f.term, graph.symbols, profile, device.limits)) for f in found]
    points = {_key(p): (name, p) for name, search in searches for p in search.run(8)[:1]}
    searched = time.perf_counter() - start
    for (name, p), _ in zip(drawn(searches, Random(seed)), range(5 * count), strict=False):
        if len(points) >= count:
            break
        points.setdefault(_key(p), (name, p))
    rows = list(points.values())
    budget = EACH * len(rows)
    results = measure([p.plan for _, p in rows], program, device, budget_seconds=budget, isolate=True)
    timed = [
        (p.estimate.seconds, m.seconds, name, dict(p.sizes), asdict(p.launch), dumps(p.term))
        for (name, p), m in zip(rows, results)
        if m.seconds
    ]
    line: dict[str, Any] = {
        "program": e.name, "size": size_text(size), "device": device.name, "driver": device.driver,
        "measured": len(timed), "search seconds": searched, "seconds": time.perf_counter() - start,
        "failed": [m.reason for m in results if m.status not in ("ok", "skipped")], "all": timed,
    }  # fmt: skip
    if len(timed) > 1:
        line["rank"], line["first"], line["until"] = judged([(estimate, seconds) for estimate, seconds, *_ in timed])
    return line


def _key(p: Point) -> tuple[object, ...]:
    return tuple((k.source, k.global_size, k.local_size) for k in p.plan.kernels)


def text(line: dict[str, Any]) -> str:
    """The result as a row of a table."""
    if "rank" not in line:
        return f"| {line['program']} | {line['size']} | {line['measured']} | - | - | - |"
    rank, first, until = f"{line['rank']:.2f}", f"{line['first']:.2f}", line["until"]
    return f"| {line['program']} | {line['size']} | {line['measured']} | {rank} | {first} | {until} |"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM[:SIZE]")
    parser.add_argument("--device", help="a part of a device's name")
    parser.add_argument("--count", type=int, default=100, help="candidates of each program")
    parser.add_argument("--table", type=Path, help="where to write all figures as JSON")
    parser.add_argument("--terms", action="store_true", help="with the candidates' terms, to price them anew")
    given = parser.parse_args()
    device = open_device(given.device)
    profile, results = load_profile(device), []
    print(f"{device.name}, driver {device.driver}\n")
    print("| program | size | candidates | rank correlation | first choice takes | measured until within 5% |")
    print("|" + "---|" * 6)
    for e, size in chosen(given.programs, usual):
        results.append(ranked(e, size, device, profile, given.count))
        print(text(results[-1]), flush=True)
        if given.table:
            short = results if given.terms else [{**r, "all": [row[:4] for row in r["all"]]} for r in results]
            given.table.write_text(json.dumps(short, indent=1))


if __name__ == "__main__":
    main()
