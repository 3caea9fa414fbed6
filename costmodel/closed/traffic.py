"""Bytes that accesses to global memory move, as closed forms: the rules of model/memory_traffic.py for strides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from egglift.costmodel.closed.footprint import Step, Touched, runs, touched
from egglift.costmodel.closed.work import (
    TOGETHER,
    Access,
    Bools,
    Numbers,
    Work,
    alike,
    each_once,
    number,
    product,
    rounded_up,
)
from egglift.costmodel.model.coalescing import LINE, LINE_TAKES, SECTOR
from egglift.costmodel.model.counted_accesses import PAGE
from egglift.costmodel.model.memory_traffic import (
    FAR,
    HALF_WRITTEN,
    LEAPING,
    MOST,
    MOST_REOPENED,
    PARTIAL,
    REOPENED,
    STORED,
    WASTE,
    WINDOWS,
    scattered,
)
from egglift.costmodel.model.operation_counts import FIRST_CACHE
from egglift.costmodel.profiles.profile import Profile

#: bytes from and to memory, through the cache of the device, and near by the lanes
Moved = tuple[Numbers, Numbers, Numbers]
ANYWHERE = 1 << 20  # elements apart, where an index depends on numbers that are loaded
BEFORE = 16  # loads of the same array before one, that are compared with it
NEAR_LINES = 1 << 18  # bytes of lines that stay until a neighbour comes back to them


def traffic(work: Work, resident: Numbers, p: Profile) -> Moved:
    """What the accesses to global memory move."""
    accesses = [a for a in work.accesses if a.space == "global"]
    if p.kind == "cpu":
        parts = [_cpu(work, a, p) for a in accesses]
    else:
        lines = (_in_lines(work, a, p) for a in accesses if not a.store)
        parts = [*_gpu(work, each_once(accesses, SECTOR), resident, p), *lines]
    zero = number(0)
    return (
        sum((m[0] for m in parts), zero),
        sum((m[1] for m in parts), zero),
        sum((m[2] for m in parts), zero),
    )


# ---------------------------------------------------------------------------------------- GPUs


def warp_axes(work: Work, a: Access, lanes: float) -> list[Step]:
    """Steps in bytes of one warp's work-items, the fastest first."""
    left, axes = np.minimum(work.group, lanes), list[Step]()
    for x in a.axes:
        if x.role == "item" and x.dim == TOGETHER:
            here = np.minimum(x.count, left)
            left = np.maximum(1, np.floor(left / here))
            axes.append((here, x.stride * a.scalar))
    if axes:
        return axes
    for d in range(3):
        here = np.minimum(work.local[d], left)
        left = np.maximum(1, np.floor(left / np.maximum(here, 1)))
        own = [x.stride * a.scalar for x in a.axes if x.role == "item" and x.dim == d]
        axes.append((here, sum(own, number(0))))
    return axes


@dataclass(frozen=True, eq=False)
class _Seen:
    """What a group touches of an array by one access, and where that is little enough to be looked at."""

    access: Access
    touched: Touched
    little: Bools


def _seen(work: Work, a: Access) -> _Seen:
    loops = [(x.count, x.stride * a.scalar) for x in a.loops]
    own = [(x.count, x.stride * a.scalar) for x in a.axes if x.role == "item"]
    steps = product([np.where(s != 0, c, 1) for c, s in loops])
    shared = product([x.count for x in a.axes if x.role == "item" and x.dim == TOGETHER])
    points = np.maximum(work.group, shared) * steps
    return _Seen(a, touched([*own, *loops], a.width), points <= MOST)


def _gpu(work: Work, accesses: list[Access], resident: Numbers, p: Profile) -> Iterator[Moved]:
    loads = [_seen(work, a) for a in accesses if not a.store]
    for a in accesses:
        if a.store:
            moved = _moved(work, a, resident, p)
            yield _alone(work, a, moved, resident, p), _stored(work, a, p), moved
    for kind in _kinds(loads):
        little = np.logical_and.reduce(np.broadcast_arrays(*(s.little for s in kind.same)))
        for seen in kind.loads:
            before = [s for s in loads[: loads.index(seen)] if s in kind.same]
            again = _any([_again(s, seen) for s in before[-BEFORE:]])
            yield _loaded(work, seen, little, np.where(again, 0, 1), resident, p)


@dataclass(frozen=True)
class _Kind:
    """Loads of an array to which as many work-items come, and those to which about as many do."""

    loads: list[_Seen]
    same: list[_Seen]


def _kinds(loads: Sequence[_Seen]) -> list[_Kind]:
    """Of views of views there are hundreds of loads, which differ in few ways."""
    kinds: dict[tuple[str, bytes], list[_Seen]] = {}
    for s in loads:
        kinds.setdefault((s.access.buffer, np.asarray(s.access.share).tobytes()), []).append(s)
    found = []
    for (buffer, _), own in kinds.items():
        near = [k for (b, _), k in kinds.items() if b == buffer and _together(k[0].access, own[0].access)]
        found.append(_Kind(own, [s for k in near for s in k]))
    return found


def _in_lines(work: Work, a: Access, p: Profile) -> Moved:
    """The time of the lines that loads ask for, one after the other."""
    each, lanes = np.maximum(a.scalar, a.width / a.places), np.minimum(p.warp, work.group)
    width = np.minimum(STORED, each)
    lines = np.minimum(touched(warp_axes(work, a, p.warp), width, LINE).sectors, max(1.0, a.bytes / LINE))
    loads = work.count(a) * a.places * rounded_up(each, STORED) / lanes * whole_warps(work.group, p.warp)
    return number(0), number(0), loads * lines * LINE_TAKES


def whole_warps(group: Numbers, warp: int) -> Numbers:
    """Accesses of a group's warps, for each that it would have if its last warp were as full as the first."""
    return rounded_up(group, warp) * np.minimum(warp, group) / group


def _together(a: Access, b: Access) -> bool:
    """Do about as many work-items come to both?"""
    return bool(np.all((a.share < 4 * b.share) & (b.share < 4 * a.share)))


def _again(a: _Seen, b: _Seen) -> Bools:
    """Where a group reads what it has read before: in the same way, or as many sectors from the same start."""

    def start(x: _Seen) -> dict[int, Numbers]:
        return {axis.dim: axis.stride for axis in x.access.axes if axis.role == "group"}

    one, other = start(a), start(b)
    if one.keys() != other.keys() or a.access.offset != b.access.offset:
        return alike(a.access, b.access)
    same = _all([one[d] == other[d] for d in one]) & (a.touched.sectors == b.touched.sectors)
    return _any([alike(a.access, b.access), same])


def _all(found: list[Bools]) -> Bools:
    every: Bools = np.logical_and.reduce(np.broadcast_arrays(np.asarray(True), *found))
    return every


def _any(found: list[Bools]) -> Bools:
    either: Bools = np.logical_or.reduce(np.broadcast_arrays(np.asarray(False), *found))
    return either


def _loaded(work: Work, x: _Seen, little: Bools, new: Numbers, resident: Numbers, p: Profile) -> Moved:
    """little: of all that is read of the array there; new: 0 where an earlier read has brought the same sectors."""
    a, seen = x.access, x.touched
    rolled = a.rolled | (bool(a.loops) & (_reopened(work, a) > 1))
    count = work.count(a)
    at_once = np.where(rolled, resident / p.compute_units / work.group, 1)
    kept = little & (seen.sectors * SECTOR * at_once <= FIRST_CACHE)
    share = np.minimum(1, count / (work.items * product([loop.count for loop in a.loops])))
    brought = new * share * product(work.groups) * seen.sectors * SECTOR
    waste = seen.sectors * SECTOR / seen.bytes
    once = np.minimum(brought, a.bytes * np.where(waste > 2, np.minimum(waste, WASTE), 1))
    pieces = scattered(*runs(warp_axes(work, a, p.warp), a.width))
    once = np.where(rolled & (brought <= 1.5 * a.bytes), once * np.maximum(_reopened(work, a), pieces), once)
    fits = (a.bytes <= p.cache_bytes) & (brought > a.bytes)
    apart = _apart(work, a, resident, a.bytes / np.maximum(brought, 1))
    dram = np.where(fits, once, np.maximum(once, brought * apart))
    if kept.all():
        return dram, brought, number(0)
    moved = _moved(work, a, resident, p)
    alone = _alone(work, a, moved, resident, p)
    waits = new * product(work.groups) * seen.sectors * SECTOR  # in the cache of all units, until it is read again
    near = seen.sectors * SECTOR * resident / work.group <= FAR * p.cache_bytes
    far = np.where(little & near, np.minimum(alone, waits), alone)
    far = np.where(far <= 1.5 * a.bytes, far * pieces, far)
    return np.where(kept, dram, far), np.where(kept, brought, moved), number(0)


def _stride(work: Work, a: Access) -> Numbers:
    """Elements between neighbouring work-items: along the first dimension that has several."""
    wide = work.local[0] > 1
    return np.where(wide, a.item_stride(0), np.where(work.local[1] > 1, a.item_stride(1), 0))


def _moved(work: Work, a: Access, resident: Numbers, p: Profile) -> Numbers:
    lanes = np.minimum(p.warp, work.group)
    count = work.count(a)
    warp = warp_axes(work, a, p.warp)
    once = SECTOR * touched(warp, a.width).sectors
    step = np.abs(_stride(work, a)) * a.scalar
    near = count / lanes * once
    again = PARTIAL if a.store else _reopened(work, a)
    dense = count * a.width * (np.where(a.width > STORED, PARTIAL, 1.0) if a.store else again)
    stands = (step == 0) | (once < lanes * a.width)
    if np.all(stands | (step <= a.width)):  # mostly
        return np.where(stands, near, dense)
    walked = count / lanes * _walked(a, warp, once, lanes, resident / p.compute_units / lanes) * again
    return np.where(stands, near, np.where(step <= a.width, dense, walked))


def _stored(work: Work, a: Access, p: Profile) -> Numbers:
    """What every instruction of a store touches, through the cache of all units."""
    width, lanes = np.minimum(a.width / a.places, STORED), np.minimum(p.warp, work.group)
    seen = SECTOR * touched(warp_axes(work, a, p.warp), width).sectors
    longer = np.where(seen > lanes * width, HALF_WRITTEN, 1.0)
    return work.count(a) / lanes * np.ceil(a.width / width) * seen * longer


def _reopened(work: Work, a: Access) -> Numbers:
    step = np.abs(_stride(work, a)) * a.scalar
    return np.minimum(MOST_REOPENED, 1 + REOPENED * np.maximum(0, step / SECTOR - 1))


def _walked(a: Access, warp: list[Step], once: Numbers, lanes: Numbers, warps: Numbers) -> Numbers:
    best, going = once, np.ones(np.shape(once), bool)
    for length in WINDOWS:
        steps, left = list[Step](), number(length)
        for x in reversed(a.loops):
            taken = np.where(x.stride != 0, np.minimum(x.count, left), 1)
            steps.append((taken, x.stride * a.scalar))
            left = np.maximum(1, np.floor(left / taken))
        seen = SECTOR * touched([*warp, *steps], a.width).sectors
        going = going & (seen * warps <= FIRST_CACHE)
        if not going.any():
            break
        found = np.maximum(seen / product([c for c, _ in steps]), lanes * a.width)
        best = np.where(going, np.minimum(best, found), best)
    return best


def _alone(work: Work, a: Access, moved: Numbers, resident: Numbers, p: Profile) -> Numbers:
    useful = np.maximum(work.count(a) * a.width, 1)
    once = np.minimum(moved, a.bytes * np.minimum(moved / useful, WASTE))
    cached = (a.bytes <= p.cache_bytes) & ((a.bytes < useful) | (moved > useful))
    return np.where(cached, once, np.maximum(once, moved * _apart(work, a, resident, a.bytes / useful)))


def _apart(work: Work, a: Access, resident: Numbers, part: Numbers) -> Numbers:
    """The part of what groups side by side read that is not the same for several of them."""
    left = np.maximum(1, np.floor(resident / work.group))
    different, together, all_move = number(1), number(1), np.asarray(True)
    for d, n in enumerate(work.groups):
        here = np.minimum(n, left)
        left = rounded_up(left, n)
        together = together * here
        moves = a.moves(d)
        different = different * (here if moves else 1)
        all_move = all_move & (np.asarray(moves) | (n <= 1))
    return np.where(all_move, np.minimum(1, part), different / together)


# ---------------------------------------------------------------------------------------- CPUs


def _cpu(work: Work, a: Access, p: Profile) -> Moved:
    count = work.count(a)
    useful = np.maximum(count * a.width, 1)
    moved = _lines(a, count, p)
    once = np.minimum(moved, a.bytes * np.minimum(moved / useful, WASTE))
    span = product([np.where(x.stride != 0, x.count, 1) for x in a.loops])
    stays = span * a.width <= p.cache_bytes / max(1, p.compute_units)
    small = a.bytes <= p.cache_bytes
    again = (a.bytes < useful) & (small | stays)
    own = np.where(again | ((moved > useful) & small), once, moved)
    return own * (1 + LEAPING * _leap(a)), moved, number(0)


def leaps(work: Work) -> Numbers:
    """Accesses to global memory that go on by a page, of all work-items of a CPU."""
    return sum((work.count(a) * _leap(a) for a in work.accesses if a.space == "global"), number(0))


def _leap(a: Access) -> Numbers:
    """How much of a page the innermost rolled loop that moves an address goes on by, unless lanes are read apart."""
    step, read, gathered = number(0), a.width, np.asarray(False)
    for x in a.loops:
        if x.role == "loop":
            step = np.where((x.count > 1) & (x.stride != 0), np.abs(x.stride), step)
            continue
        apart = np.abs(x.stride) * a.scalar  # within a vector, or from one to the next
        read = read * np.where(apart > 0, np.maximum(1, x.count * np.minimum(1, apart / a.width)), 1)
        if x.role == "lane":
            gathered = gathered | ((x.count > 1) & (apart > a.width))
    return np.where(gathered, 0, np.clip((step * a.scalar - read) / PAGE, 0, 1))


def _lines(a: Access, count: Numbers, p: Profile) -> Numbers:
    """Bytes in cache lines, from the innermost axis that moves the address."""
    order = [*reversed(a.loops), *(x for d in range(3) for x in a.axes if x.role in ("item", "group") and x.dim == d)]
    found, open_ = number(p.line_bytes), np.asarray(True)
    for x in order:
        stride = np.abs(x.stride) * a.scalar
        here = open_ & (stride > 0) & (x.count > 1)
        far = np.where(x.count * p.line_bytes <= NEAR_LINES, a.width * 2, p.line_bytes)
        lines = np.where(stride <= p.line_bytes, np.maximum(a.width, stride), far)
        found = np.where(here, count * lines, found)
        open_ = open_ & ~here
    return np.where(a.width > a.scalar, count * a.width, found)  # lanes side by side
