"""Global memory: the bytes that accesses move from memory, from the cache of all units, and from that of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from egglift.codegen.kernel.imperative import PlannedKernel
from egglift.codegen.kernel.index import Var
from egglift.codegen.kernel.index_numbers import Lanes
from egglift.costmodel.model.coalescing import (
    LINE,
    LINE_TAKES,
    SECTOR,
    Footprint,
    footprint,
    ids,
    lines,
    runs,
    sectors,
    whole_warps,
    window,
)
from egglift.costmodel.model.counted_accesses import CountedAccess, leap
from egglift.costmodel.model.operation_counts import FIRST_CACHE, Tally
from egglift.costmodel.model.read_again import read_again
from egglift.costmodel.profiles.profile import Profile
from egglift.ir.deadline import require_time

MOST = 1 << 16  # accesses of a group, or words of those that overlap, that are looked at
STORED = 16  # bytes that a work-item stores with one instruction, at most
PARTIAL = 1.6  # times as long take stores that leave sectors half written
HALF_WRITTEN = 2.2  # times as long take such sectors in the cache of all units, as an H200 had them
REOPENED, MOST_REOPENED = 0.2, 2.6  # as much longer for every further sector from one lane to the next, and at most
WINDOWS = (2, 4, 8, 16)  # steps of a loop within which a sector is found again
FAR = 0.5  # of the cache of all units is there for what groups read again
LEAPING = 2.0  # as much longer memory takes where a CPU's work-item goes on by a page
WASTE = 8.0  # sectors are brought at most so many times as often as they would be for neighbours


@dataclass(frozen=True)
class Traffic:
    """Bytes of one launch: dram from and to memory, cached through the cache of the device, near by the lanes."""

    dram: float
    cached: float
    near: float

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(self.dram + other.dram, self.cached + other.cached, self.near + other.near)

    def cache_seconds(self, p: Profile) -> float:
        """The time of whichever cache takes longer, all units busy."""
        return max(self.cached / p.cache_bandwidth, self.near / p.local_bandwidth)


def traffic(t: Tally, kernel: PlannedKernel, resident: int, p: Profile) -> Traffic:
    """What the accesses to global memory move."""
    found = [a for a in t.accesses if a.buffer.space == "global" and a.count]
    return _cpu(found, p) if p.kind == "cpu" else _gpu(found, t, kernel, resident, p)


# ---------------------------------------------------------------------------------------- GPUs


def _gpu(accesses: Sequence[CountedAccess], t: Tally, kernel: PlannedKernel, resident: int, p: Profile) -> Traffic:
    local = ids(kernel.local_size, p.warp)
    loads = [a for a in accesses if not a.store]
    moved = {id(a): _moved(a, local, t.fast, resident, p) for a in accesses}
    dram = cached = 0.0
    for a in accesses:
        if a.store:
            dram += _alone(a, moved[id(a)], kernel, resident, p)
            cached += _stored(a, local)
    items, group = prod(kernel.global_size), prod(kernel.local_size)
    groups = items / group
    again = {i for i, step in read_again(loads).items() if step * resident <= FAR * p.cache_bytes}
    cached += sum(moved[id(a)] for a in loads if id(a) in again)
    for same in _by_place([a for a in loads if id(a) not in again]):
        require_time()
        share = max(a.count / (items * prod(n for _, n in _loops(a))) for a in same)
        # lanes that are far apart leave sectors behind half used also where a loop is unrolled
        rolled = any(a.rolled or (a.loops and _reopened(a, t.fast) > 1) for a in same)
        places = [(a.at, _loops(a), a.bytes) for a in same]
        seen = footprint(places, same[0].buffer.scalar.size, kernel.local_size, MOST)
        at_once = resident / p.compute_units / group if rolled else 1.0
        if seen is None or seen.sectors * SECTOR * at_once > FIRST_CACHE:
            apart = sum(_alone(a, moved[id(a)], kernel, resident, p) for a in same)
            brought = min(apart, _waiting(seen, items, group, resident, p))
            streamed = brought <= 1.5 * same[0].buffer.size * same[0].buffer.scalar.size
            dram += brought * (max(_in_pieces(a, local) for a in same) if streamed else 1.0)
            cached += sum(moved[id(a)] for a in same)
            continue
        brought = min(share, 1.0) * groups * seen.sectors * SECTOR
        cached += brought
        size = same[0].buffer.size * same[0].buffer.scalar.size
        waste = seen.sectors * SECTOR / seen.bytes
        once = min(brought, size * (min(waste, WASTE) if waste > 2 else 1.0))
        if rolled and brought <= 1.5 * size:  # what others read again waits in the cache of all units
            once *= max(max(_reopened(a, t.fast), _in_pieces(a, local)) for a in same)
        fits = size <= p.cache_bytes and brought > size
        dram += once if fits else max(once, brought * _apart(same[0], kernel, resident, size / brought))
    near = whole_warps(group, p.warp) * sum(_in_lines(a, local) for a in loads)
    return Traffic(dram, cached, near + sum(moved[id(a)] for a in accesses if a.store))


def _in_lines(a: CountedAccess, local: tuple[Lanes, ...]) -> float:
    """What a unit's cache gives in the time of the lines that loads ask for, at every place of the source anew."""
    size = a.buffer.scalar.size
    width = min(STORED, max(size, a.bytes / a.places))
    loads = a.count * a.places * -(-a.bytes // a.places // STORED) / len(local[0])
    return loads * LINE_TAKES * lines(a.at, size, width, a.buffer.size * size, local)


def _waiting(seen: Footprint | None, items: int, group: int, resident: int, p: Profile) -> float:
    """Bytes of memory where what a group has read waits in the cache of all units until the group reads it again."""
    if seen is None or seen.sectors * SECTOR * resident / group > FAR * p.cache_bytes:
        return float("inf")
    return items / group * seen.sectors * SECTOR


def _by_place(loads: Sequence[CountedAccess]) -> list[list[CountedAccess]]:
    """Loads of one buffer that happen in the same part of the kernel: with the same loops' share of work-items."""
    groups: list[tuple[float, list[CountedAccess]]] = []
    for a in loads:
        times = a.count / prod(n for _, n in _loops(a))
        alike = (same for n, same in groups if same[0].buffer is a.buffer and n / 4 < times < 4 * n)
        if same := next(alike, None):
            same.append(a)
        else:
            groups.append((times, [a]))
    return [same for _, same in groups]


def _loops(a: CountedAccess) -> tuple[tuple[Var, int], ...]:
    """What the access is repeated over: loops, and the lanes of a vector whose elements are not neighbours."""
    return a.loops if a.lane is None or a.at.coefficient(a.lane) == 0 else (*a.loops, (a.lane, a.lane.count))


def _alone(a: CountedAccess, moved: float, kernel: PlannedKernel, resident: int, p: Profile) -> float:
    """Bytes of memory for an access by itself."""
    size = a.buffer.size * a.buffer.scalar.size
    useful = a.count * a.bytes
    once = min(moved, size * min(moved / useful, WASTE))
    if size <= p.cache_bytes and (size < useful or moved > useful):
        return once
    return max(once, moved * _apart(a, kernel, resident, size / useful))


def _apart(a: CountedAccess, kernel: PlannedKernel, resident: int, part: float) -> float:
    """The part of what work-groups that run side by side read that is not the same for several of them.

    part: the buffer's size of all that is read.  Where no two groups read the same place by their ids, what is read
    several times is what windows have in common: those of neighbours, which are there at the same time.
    """
    counts = [g // n for g, n in zip(kernel.global_size, kernel.local_size, strict=True)]
    left = max(1, resident // prod(kernel.local_size))
    together = []
    for n in counts:
        together.append(min(n, left))
        left = -(-left // n)
    moves = {v.dim for v in a.at.variables() if v.role in ("workgroup", "global")}
    if all(d in moves for d, n in enumerate(counts) if n > 1):
        return min(1.0, part)
    return prod((n for d, n in enumerate(together) if d in moves), start=1) / prod(together)


def _item_stride(a: CountedAccess, fast: int) -> int | None:
    """Elements between the accesses of neighbouring work-items; None: no simple stride."""
    for v in a.at.variables():
        if v.role == "warp" or (v.role in ("local", "global") and v.dim == fast):
            return a.at.coefficient(v)
    return 0


def _moved(a: CountedAccess, local: tuple[Lanes, ...], fast: int, resident: int, p: Profile) -> float:
    """Bytes in sectors of 32: what the lanes of one warp touch, times the warps."""
    stride, lanes, again = _item_stride(a, fast), len(local[0]), _reopened(a, fast)
    touched = SECTOR * sectors(a.at, a.buffer.scalar.size, a.bytes, local)
    if stride is None or stride == 0 or touched < lanes * a.bytes:
        return a.count / lanes * touched
    step = abs(stride) * a.buffer.scalar.size
    if step <= a.bytes:
        # a store of more than 16 bytes is several
        return a.count * a.bytes * (PARTIAL if a.store and a.bytes > STORED else again)
    found = _walked(a, local, touched, resident / p.compute_units / lanes)
    return a.count / lanes * found * (PARTIAL if a.store else again)


def _stored(a: CountedAccess, local: tuple[Lanes, ...]) -> float:
    """Bytes of a store through the cache of all units: no cache of one unit gathers them, so every instruction pays for
    each sector that its lanes touch, and longer where it leaves them half written, for a later one to fill."""
    width, lanes = min(STORED, a.bytes // a.places), len(local[0])
    touched = SECTOR * sectors(a.at, a.buffer.scalar.size, width, local)
    return a.count / lanes * (a.bytes // width) * touched * (HALF_WRITTEN if touched > lanes * width else 1.0)


def _reopened(a: CountedAccess, fast: int) -> float:
    """How much longer loads take whose lanes are more than a sector apart, though they use all that they bring."""
    step = abs(_item_stride(a, fast) or 0) * a.buffer.scalar.size
    return min(MOST_REOPENED, 1 + REOPENED * max(0, step / SECTOR - 1))


def _in_pieces(a: CountedAccess, local: tuple[Lanes, ...]) -> float:
    """How much longer loads take of which a warp touches many places, though each of them is a whole sector."""
    run, gap = runs(a.at, a.buffer.scalar.size, a.bytes, local)
    return float(scattered(np.asarray(run), np.asarray(gap)))


def scattered(run: npt.NDArray[np.float64], gap: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How much longer memory takes for runs of so many bytes, so far apart from beginning to beginning.

    A run of less than a line is brought as slowly as what is further apart.
    """
    short = np.clip((LINE / run - 1) / (LINE / SECTOR - 1), 0, 1)
    longer: npt.NDArray[np.float64] = 1 + short * np.clip(REOPENED * (gap / SECTOR - 1), 0, MOST_REOPENED - 1)
    return longer


def _walked(a: CountedAccess, local: tuple[Lanes, ...], touched: float, warps: float) -> float:
    """Bytes that a warp brings for one access, what the next few steps of its loops find again counted once.

    They find it as long as what `warps` of them touch in so many steps stays in the unit's cache.
    """
    best = touched
    for length in WINDOWS:
        gathered = a.lane is not None and a.at.coefficient(a.lane) not in (0, 1)  # a vector, element by element
        steps, left = [(a.lane, a.lane.count)] if a.lane is not None and gathered else [], length
        for v, trips in reversed(a.loops):
            if left > 1 and a.at.coefficient(v) != 0:
                steps.append((v, min(trips, left)))
                left //= steps[-1][1]
        seen = SECTOR * window(a.at, a.buffer.scalar.size, a.bytes, local, steps)
        if seen * warps > FIRST_CACHE:
            break
        best = min(best, max(seen / prod(n for _, n in steps), len(local[0]) * a.bytes))
    return best


# ---------------------------------------------------------------------------------------- CPUs


def _cpu(accesses: Sequence[CountedAccess], p: Profile) -> Traffic:
    dram = cached = 0.0
    room = FAR * p.cache_bytes / max(1, p.compute_units)
    near = {i for i, step in read_again([a for a in accesses if not a.store], alone=True).items() if step <= room}
    for a in accesses:
        size, useful = a.buffer.size * a.buffer.scalar.size, a.count * a.bytes
        moved = _moved_cpu(a, p)
        once = min(moved, size * min(moved / useful, WASTE))
        again = size < useful and (size <= p.cache_bytes or _stays(a, p))
        own = once if again or (moved > useful and size <= p.cache_bytes) else moved
        dram += 0.0 if id(a) in near else own * (1 + LEAPING * leap(a))
        cached += moved
    return Traffic(dram, cached, 0.0)


def _stays(a: CountedAccess, p: Profile) -> bool:
    """Does what the inner loops read again stay in one core's cache?"""
    span = 1
    for var, trips in reversed(a.loops):
        if a.at.coefficient(var) != 0:
            span *= trips
    return span * a.bytes <= p.cache_bytes / max(1, p.compute_units)


def _moved_cpu(a: CountedAccess, p: Profile) -> float:
    """Bytes in cache lines, from the innermost variable that moves the address."""
    if a.lane is not None and a.at.coefficient(a.lane) == 1:
        return a.count * a.bytes
    items = sorted((v for v in a.at.variables() if v.role in ("local", "global")), key=lambda v: v.dim)
    order: list[Var] = [*([a.lane] if a.lane else []), *(v for v, _ in reversed(a.loops)), *items]
    inside = 1.0
    trips = dict(a.loops)
    for v in order:
        step = a.at.coefficient(v)
        if step is None:
            return a.count * a.bytes * 2
        if step:
            stride = abs(step) * a.buffer.scalar.size
            if stride <= p.line_bytes:
                return a.count * max(a.bytes, stride)
            # a walk over lines: do they stay until a neighbour comes back to them?
            inside *= trips.get(v, v.count)
            return a.count * (a.bytes * 2 if inside * p.line_bytes <= 1 << 18 else p.line_bytes)
    return float(p.line_bytes)  # one address
