"""The table of programs that were written unseen: the first figure, and that after mending where there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.brought.lines import RATIO, SLOW
from benchmarks.tables.raw import lines, number, raw, source, table

FILE = "nvidia_h200_unseen"
MENDED = "after mending"
#: programs that reach so many times the best peer's speed are counted
REACHED = (0.9, 1.0, 1.2)


def unseen() -> str:
    """How many reach what, then all programs beside the better of torch eager and torch.compile, the worst first."""
    found = list(lines(FILE))
    rows = [_row(p) for p in sorted(found, key=lambda p: latest(p).get(RATIO, 0.0))]
    head = ("program", "us", "torch us", "torch.compile us", "times torch's speed, first run", MENDED)
    counts = table(("", "programs", *_counted()), [*_counts(found)])
    how = raw(FILE)["how"]
    return f"{source(FILE)}  \nHow: {how}.\n\n{counts}\n\n{table(head, rows)}"


def latest(p: Mapping[str, Any]) -> Mapping[str, Any]:
    """The figures after mending, where there are such, else the first."""
    found: Mapping[str, Any] = p.get(MENDED, p)
    return found


def first_ratios() -> list[tuple[str, float]]:
    """Of each program that had a kernel in the first run its ratio there."""
    return [(p["program"], p[RATIO]) for p in lines(FILE) if RATIO in p]


def latest_ratios() -> list[tuple[str, float]]:
    """Of each program its last ratio."""
    return [(p["program"], latest(p)[RATIO]) for p in lines(FILE) if RATIO in latest(p)]


def _row(p: Mapping[str, Any]) -> tuple[str, ...]:
    now = latest(p)
    times = (f"{now[kind]:,.1f}" if kind in now else "" for kind in ("us", "torch us", "torch.compile us"))
    first = number(p[RATIO]) if RATIO in p else "no kernel"
    return (p["program"], *times, first, number(p[MENDED][RATIO]) if MENDED in p else "")


def _counted() -> Iterator[str]:
    yield from (f"at {limit} or more" for limit in REACHED)
    yield from (f"below {SLOW}", "no kernel", "median")


def _counts(found: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """A row of the first run and one of the last; what has no kernel reaches nothing, and counts in the median as 0."""
    for which, kept in (("first run", found), (MENDED, [latest(p) for p in found])):
        ratios = [p.get(RATIO) or 0.0 for p in kept]
        reached = [sum(r >= limit for r in ratios) for limit in REACHED]
        none = sum(RATIO not in p for p in kept)
        counts = map(str, (len(kept), *reached, sum(0 < r < SLOW for r in ratios), none))
        yield which, *counts, number(median(ratios))
