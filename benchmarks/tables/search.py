"""Tables of the search: what each phase holds, how soon the best is found, what parts of the compiler are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from statistics import median
from typing import Any

from benchmarks.tables.peers import NONE, files, found
from benchmarks.tables.raw import RESULTS, lines, number, source, table

#: measurements after which the best so far is looked at
AFTER = (1, 2, 4, 8, 16, 32, 64)
#: raw results with all candidates of each program, in the order of the model's estimates
RANKED = {"pocl_ranking": "PoCL", "h100_ranking": "H100", "nvidia_h200_stencils": "H200", "nvidia_h200_tiles": "H200"}
#: programs with fewer measured candidates say little
LEAST = 12
PHASES = ("fuse", "tile", "lower")


def phases() -> str:
    """How many programs each phase of the search holds."""
    if not (RESULTS / "phases.json").exists():
        return NONE
    rows = [_phases_row(p) for p in lines("phases")]
    head = ("program", "size", "patterns at most", *(f"after {name}" for name in PHASES), "structures", "of schedules")
    return f"{source('phases', driver='none')}\n\n{table(head, rows)}"


def _phases_row(p: Mapping[str, Any]) -> tuple[str, ...]:
    counts = (f"{_count(p[name]['programs'])} in {p[name]['nodes']:,} nodes" for name in PHASES)
    told = (str(p["structures"]), str(p["candidates of schedules"]))
    return (p["program"], p["size"], str(p["nodes at most"]), *counts, *told)


def _count(programs: int | str) -> str:
    return programs if isinstance(programs, str) else f"{programs:,}"


def efficiency() -> str:
    """The best so far after some measurements, in the model's order and by chance, over the best of all."""
    head = ("raw data", "device", "programs", "candidates", "order", *(f"after {n}" for n in AFTER))
    rows = []
    for file, device in RANKED.items():
        times = [measured_times(p) for p in lines(file)]
        times = [t for t in times if len(t) >= LEAST]
        told = (f"[{file}](../../benchmarks/results/{file}.json)", device, str(len(times)), f"{sum(map(len, times)):,}")
        for order, best in (("the model's", best_in_order), ("chance", best_by_chance)):
            shares = (median(best(t, n) / min(t) for t in times if len(t) >= n) for n in _fitting(times))
            cells = [number(share) for share in shares]
            rows.append((*told, order, *cells, *[""] * (len(AFTER) - len(cells))))
    return table(head, rows)


def _fitting(times: Sequence[Sequence[float]]) -> list[int]:
    return [n for n in AFTER if any(len(t) >= n for t in times)]


def measured_times(p: Mapping[str, Any]) -> list[float]:
    """Measured seconds of the candidates, the model's first choice first."""
    measured = [(row[0], row[1]) for row in p.get("all", []) if row[0] and row[1]]
    return [seconds for _, seconds in sorted(measured)]


def best_in_order(times: Sequence[float], n: int) -> float:
    """The least of the first n."""
    return min(times[:n])


def best_by_chance(times: Sequence[float], n: int) -> float:
    """The least of n that are drawn at random, as it is expected: `best_by_chance([1, 3], 1) == 2`."""
    ordered, every = sorted(times), comb(len(times), n)
    # the i-th is the least of those drawn if the others come from behind it
    return sum(t * comb(len(times) - 1 - i, n - 1) for i, t in enumerate(ordered)) / every


def simplifier(device: str) -> str:
    """Generated code with simplified indices and without."""
    head = ("program", "size", "us", "as written, us", "times as long", "divisions", "as written", "right")

    def row(p: Mapping[str, Any]) -> tuple[str, ...]:
        times = (f"{p['us']:,.1f}", f"{p['as written us']:,.1f}", number(p.get("times as long")))
        counts = (str(p["divisions"]), str(p["as written divisions"]))
        return (p["program"], p["size"], *times, *counts, "yes" if p["right"] else "no")

    return _page(device, "simplifier", head, row, "as written us")


def switched(device: str) -> str:
    """Programs with tiles, local memory and schedules, and without."""
    names = ("laws alone", "no local memory", "no tiles")
    head = ("program", "size", "us", *(f"{name}: times as long" for name in names))

    def row(p: Mapping[str, Any]) -> tuple[str, ...]:
        ratios = (number(p[f"{n}, times as long"]) if f"{n}, times as long" in p else "no kernel" for n in names)
        return (p["program"], p["size"], f"{p['all us']:,.1f}", *ratios)

    return _page(device, "switched", head, row, "all us")


def _page(device: str, what: str, head: Sequence[str], row: Any, key: str) -> str:
    if not files(device, what):
        return NONE
    rows = found(device, what)
    told = "  \n".join(source(file) for file in files(device, what))
    missing = [f"{p['program']} ({p.get('failed') or p.get('all failed')})" for p in rows if p.get(key) is None]
    made = table(head, [row(p) for p in rows if p.get(key) is not None])
    return f"{told}\n\n{made}" + (f"\n\nNo figure: {'; '.join(missing)}." if missing else "")
