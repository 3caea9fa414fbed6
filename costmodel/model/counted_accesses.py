"""Accesses to memory with their numbers, and those that come to one: what is read side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from egglift.codegen.kernel import imperative as c
from egglift.codegen.kernel.index import Index, Var
from egglift.costmodel.model.coalescing import SECTOR

PAGE = 4096  # bytes


@dataclass(frozen=True)
class CountedAccess:
    """Reads or writes of one place of the source.  `bytes` are those of one access, `count` is over all items.

    places: how many accesses of the source this one stands for (`together`, `side_by_side`), whose bytes it has.
    """

    buffer: c.Buffer
    at: Index
    bytes: int
    count: float
    store: bool
    loops: tuple[tuple[Var, int], ...]  # the enclosing loops, outermost first, with their trips
    lane: Var | None
    rolled: bool = False  # is one of the loops not unrolled?
    unrolled: tuple[Var, ...] = ()  # the loops that are
    places: int = 1


def leap(a: CountedAccess) -> float:
    """How much of a page the innermost loop that moves an address goes on by: no prefetcher follows from page to page,
    and each page is looked up again.  What unrolled loops read in a step is no gap."""
    if a.lane is not None and a.at.coefficient(a.lane) not in (0, 1):
        return 0.0
    loops = [v for v, n in reversed(a.loops) if n > 1 and v not in a.unrolled]
    step = next((s for v in loops if (s := a.at.coefficient(v))), 0)
    read = a.bytes * prod(n for v, n in a.loops if v in a.unrolled and a.at.coefficient(v) != 0)
    return min(1.0, max(0, abs(step) * a.buffer.scalar.size - read) / PAGE)


def together(accesses: list[CountedAccess]) -> list[CountedAccess]:
    """Accesses that differ by a constant only, as one wider access: what an unrolled loop reads side by side.

    Not those that are pages apart, as in planes of an array: each of these is by itself.
    """
    groups: dict[tuple[object, ...], list[CountedAccess]] = {}
    for a in accesses:
        groups.setdefault((a.buffer, a.at.terms, a.store, a.loops, a.lane, a.bytes), []).append(a)
    merged = []
    for same in (near for alike in groups.values() for near in _by_pages(alike)):
        places = len({a.at.constant for a in same})
        count = sum(a.count for a in same) / places
        merged.append(replace(same[0], bytes=same[0].bytes * places, count=count, places=places))
    return merged


def _by_pages(alike: list[CountedAccess]) -> list[list[CountedAccess]]:
    """Accesses that differ by a constant, in groups without gaps of a page."""
    alike.sort(key=lambda a: a.at.constant)
    found = [[alike[0]]]
    for a in alike[1:]:
        if (a.at.constant - found[-1][-1].at.constant) * a.buffer.scalar.size > PAGE:
            found.append([])
        found[-1].append(a)
    return found


def side_by_side(loads: list[CountedAccess]) -> list[CountedAccess]:
    """Loads of global memory within a sector of each other as one: the cache has what the first of them brought."""
    groups: dict[tuple[object, ...], list[CountedAccess]] = {}
    for a in loads:
        first = a.at.substitute({a.lane: 0}) if a.lane is not None and a.bytes > a.buffer.scalar.size else a.at
        groups.setdefault((a.buffer, first.terms, a.loops), []).append(replace(a, at=first))
    merged = []
    for same in groups.values():
        same.sort(key=lambda a: a.at.constant)
        last, end, before = same[0], 0, same[0].at.constant
        for a in same:
            start = (a.at.constant - last.at.constant) * a.buffer.scalar.size
            new, before = a.at.constant != before, a.at.constant
            if a is not last and (start > end + SECTOR or not a.count / 2 <= last.count <= 2 * a.count):
                merged.append(last)
                last, end, start, new = a, 0, 0, False
            end = max(end, start + a.bytes)
            last = replace(last, bytes=end, count=max(last.count, a.count), places=last.places + new)
        merged.append(last)
    return merged
