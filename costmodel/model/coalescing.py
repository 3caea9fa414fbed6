"""What the lanes of one warp touch at the same time: sectors of global memory, passes through local memory.

The index of an access is evaluated for the first warp of a group, every loop at its start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite

import numpy as np

from egglift.codegen.kernel.imperative import Load
from egglift.codegen.kernel.index import Choice, Clamp, Data, Index, Quotient, Remainder, Var
from egglift.codegen.kernel.index_numbers import Lanes, Unknown, evaluate
from egglift.codegen.kernel.walk import operands, subvalues

BANKS, WORD = 32, 4  # of local memory: banks, and the bytes that each gives in one pass
SECTOR = 32  # bytes
LINE = 128  # bytes, of a unit's cache
#: bytes that a unit's local memory gives in the time that its cache takes for one line: the lines that one load of a
#: warp asks for come one after the other, a cycle each, as an H200 had it
LINE_TAKES = 100
DIVERGED = 8.0  # instructions' worth of time for every further address of constants that lanes read at the same time
CLOSE = 16  # places for each integer, of which a table says which are there


@lru_cache(64)
def ids(local_size: tuple[int, ...], warp: int) -> tuple[Lanes, ...]:
    """The local ids of a warp's lanes, per dimension."""
    lane = np.arange(min(warp, int(np.prod(local_size))), dtype=np.int64)
    found = []
    for n in local_size:
        found.append(lane % n)
        lane = lane // n
    return tuple(found)


def distinct(places: Lanes) -> Lanes:
    """The different ones of some integers, rising: `np.unique`, which takes ten times as long where they lie close."""
    flat = places.reshape(-1)
    if not len(flat):
        return flat
    low, high = int(flat.min()), int(flat.max())
    if high - low < CLOSE * len(flat):
        there = np.zeros(high - low + 1, np.bool_)
        there[flat - low] = True
        found: Lanes = np.flatnonzero(there) + low
        return found
    rising: Lanes = np.sort(flat)
    first = np.append(True, rising[1:] != rising[:-1])
    different: Lanes = rising[first]
    return different


def sectors(at: Index, size: int, width: int, local: tuple[Lanes, ...]) -> float:
    """Sectors of global memory that a warp touches; a lane accesses `width` bytes at element `at` of `size` bytes."""
    found = window(at, size, width, local, ())
    return found if isfinite(found) else _within_reach(at, size, width, SECTOR, local)


def window(at: Index, size: int, width: int, local: tuple[Lanes, ...], steps: Sequence[tuple[Var, int]]) -> float:
    """Sectors that a warp touches in all of `steps` (loop variables with numbers of trips), each counted once.

    Infinitely many if the index depends on loaded numbers.
    """
    grid = np.indices((len(local[0]), *(n for _, n in steps))).reshape(1 + len(steps), -1)
    loops = dict(zip((v for v, _ in steps), grid[1:], strict=True))
    try:
        first = evaluate(at, tuple(dim[grid[0]] for dim in local), loops) * size
    except Unknown:
        return float("inf")
    reach = np.append(np.arange(0, max(width, 1), SECTOR), width - 1)
    return float(len(distinct((first[:, None] + reach) // SECTOR)))


def runs(at: Index, size: int, width: int, local: tuple[Lanes, ...]) -> tuple[float, float]:
    """Bytes that lie together in what a warp touches, and from where such a run begins to where the next one does.

    No way at all where there is one run, or where the index depends on loaded numbers.
    """
    try:
        first = distinct(evaluate(at, local, {})) * size
    except Unknown:
        return float(width), 0.0
    begins = first[np.append(True, np.diff(first) > width)]
    if len(begins) == 1:
        return float(first[-1] - first[0] + width), 0.0
    return (len(first) * width) / len(begins), float(np.median(np.diff(begins)))


@dataclass(frozen=True)
class Footprint:
    """What a work-group touches of a buffer: sectors of memory, and bytes of them that it uses."""

    sectors: int
    bytes: int


def footprint(
    accesses: Sequence[tuple[Index, Sequence[tuple[Var, int]], int]], size: int, local_size: tuple[int, ...], most: int
) -> Footprint | None:
    """All that the accesses (index, loops, bytes) of one work-group touch, elements of `size` bytes.

    None where that depends on loaded numbers, or is more than `most` for one of them.
    """
    runs = []
    for at, loops, width in accesses:
        first = _elements(at, loops, local_size, most)
        if first is None or len(first) > most:
            return None
        runs.append((first * size, width))
    if len(runs) == 1 and runs[0][1] >= WORD and (len(runs[0][0]) < 2 or np.diff(runs[0][0]).min() >= runs[0][1]):
        return _apart(*runs[0])
    if sum(len(first) * max(1, width // WORD) for first, width in runs) > most:
        return None
    words = [np.add.outer(first // WORD, np.arange(max(1, width // WORD))).reshape(-1) for first, width in runs]
    places = distinct(np.concatenate(words))
    return Footprint(len(distinct(places * WORD // SECTOR)), WORD * len(places))


def _apart(first: Lanes, width: int) -> Footprint:
    """What accesses of so many bytes touch that do not overlap, in rising order."""
    words = max(WORD, width)
    sectors = [(first + far) // SECTOR for far in range(0, words, SECTOR)] + [(first + words - 1) // SECTOR]
    rising = sectors[0] if len(sectors) == 2 and (sectors[0] == sectors[1]).all() else np.sort(np.concatenate(sectors))
    return Footprint(1 + int(np.count_nonzero(np.diff(rising))), words * len(first))


def _elements(at: Index, loops: Sequence[tuple[Var, int]], local_size: tuple[int, ...], most: int) -> Lanes | None:
    """The elements at an index in all steps of its loops, for all items of a group; None: more than `most`."""
    items = int(np.prod(local_size))
    together = {v: n for v, n in loops if at.coefficient(v) is None}
    if items * int(np.prod([*together.values()])) > most:
        return None
    grid = np.indices((items, *together.values())).reshape(1 + len(together), -1)
    local = tuple(dim[grid[0]] for dim in ids(local_size, items))
    try:
        elements = distinct(evaluate(at, local, dict(zip(together, grid[1:], strict=True))))
    except Unknown:
        return None
    for v, n in loops:  # a loop that the index grows with evenly moves all that is there already
        if step := at.coefficient(v):
            if len(elements) * n > most:
                return None
            elements = distinct(np.add.outer(elements, step * np.arange(n)))
    return elements


def diverged(at: Index, local: tuple[Lanes, ...]) -> int:
    """Addresses beside the first at which the lanes of a warp read constants: these are given one after the other."""
    try:
        return len(distinct(evaluate(at, local))) - 1
    except Unknown:
        return len(local[0]) - 1


def whole_warps(group: int, warp: int) -> float:
    """Accesses of a group's warps, for each that it would have if its last warp were as full as the first."""
    return -(-group // warp) * min(warp, group) / group


def lines(at: Index, size: int, width: float, bytes: int, local: tuple[Lanes, ...]) -> float:
    """Lines that one load of `width` bytes by every lane of a warp asks for, of an array of so many bytes.

    Lanes that read where different loaded numbers say ask for lines of their own; those of one number are neighbours.
    """
    try:
        first = evaluate(at, local) * size
    except Unknown:
        apart = _apart_by_data(at, local)
        near = min(apart, _within_reach(at, size, width, LINE, local))
        return min(max(near, len(local[0]) * width / LINE), max(1.0, bytes / LINE))
    last = first + max(int(width), 1) - 1
    return float(len(distinct(np.concatenate((first // LINE, last // LINE)))))


def _within_reach(at: Index, size: int, width: float, unit: int, local: tuple[Lanes, ...]) -> float:
    """Units of so many bytes that lanes touch at most which read where loaded numbers say: as far as these reach.

    Of a table of 64 numbers no more than 8 sectors, however many lanes read it.
    """
    loaded = [(atom, k) for atom, k in at.terms if any(True for _ in _data(atom))]
    rest = Index(tuple(term for term in at.terms if term not in loaded), at.constant)
    low, high = Index(tuple(loaded), 0).range
    reach = (high - low) * size + width
    try:
        starts = len(distinct(evaluate(rest, local) * size // unit))
    except Unknown:
        return float(len(local[0]))
    return min(float(len(local[0])), starts * -(-reach // unit))


def _apart_by_data(at: Index, local: tuple[Lanes, ...]) -> int:
    """How many different places the numbers say that a warp's lanes have loaded for an index."""
    sources = [x for atom, _ in at.terms for data in _data(atom) for x in _sources(data)]
    try:
        return len({*zip(*(evaluate(x, local).tolist() for x in sources), strict=True)})
    except Unknown:
        return len(local[0])


def _data(atom: object) -> Iterator[Data]:
    """The loaded numbers that an index depends on."""
    match atom:
        case Data():
            yield atom
        case Quotient(x, _) | Remainder(x, _) | Clamp(x, _):
            yield from (data for a, _ in x.terms for data in _data(a))
        case Choice(test, _, inside, outside):
            yield from (data for x in (test, inside, outside) for a, _ in x.terms for data in _data(a))


def _sources(data: Data) -> list[Index]:
    """Where in memory a number comes from; or all that it depends on."""
    loads = [v for v in subvalues((data.value,), operands) if isinstance(v, Load)]  # type: ignore[arg-type]
    if loads and all(v.buffer.space == "global" for v in loads):
        return [v.at for v in loads]
    return [Index(((v, 1),)) for v in data.depends]


def passes(at: Index, size: int, width: int, local: tuple[Lanes, ...]) -> float:
    """Passes of local memory for one access of `width` bytes by every lane of a warp.

    A pass gives every bank's word once, to all lanes that ask for it.
    """
    try:
        first = evaluate(at, local) * size // WORD
    except Unknown:
        return 4.0
    words = distinct(first[:, None] + np.arange(max(1, width // WORD)))
    return float(np.bincount(words % BANKS).max())


def varying(at: Index, loops: Mapping[Var, bool]) -> tuple[int, int]:
    """Linear and other terms of an index that a rolled loop changes: what computing the address costs each time."""
    rolled = {v for v, unrolled in loops.items() if not unrolled}
    moving = [a for a, _ in at.terms if not rolled.isdisjoint(a.variables())]
    simple = sum(isinstance(a, Var) for a in moving)
    return simple, len(moving) - simple
