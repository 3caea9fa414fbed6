"""Calibration of memory: launches, copies, patterns of access, caches, local memory, transfers.

Each stage measures some fields of the profile; None for one that was not measured, because its numbers are faster
than the device can be: the compiler has seen through the probe.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.transfer_rates import transfer_rates
from egglift.costmodel.calibration import memory_probes
from egglift.costmodel.calibration.probe_timer import Rig
from egglift.costmodel.profiles.curves import at, caches_of

Changes = dict[str, Any]
LOADS = memory_probes.LOADS
CHASES = 128  # paths through memory that are longer together than a cache
WIDTHS = (1, 2, 4, 8, 16)
STRIDES = (1, 2, 4, 8, 16, 32, 64, 128)
LOCAL_STRIDES = (1, 2, 4, 8, 16, 32)


def launch(rig: Rig) -> Changes:
    """Device time of an empty kernel, and what the host takes beyond it to launch and wait."""
    executable = rig.build(memory_probes.empty(64, 64))
    seconds = executable.time({}, warmup=5, least=30, most=100, budget=0.5).seconds
    walls = []
    for _ in range(30):
        start = time.perf_counter()
        executable.enqueue({}, Chain(rig.device.queue))
        rig.device.queue.finish()
        walls.append(time.perf_counter() - start)
    return {"launch": seconds, "gap": max(float(np.median(walls)) - seconds, 0.0)}


def starts(rig: Rig) -> Changes:
    """What one more work-item, and one more work-group, add to a kernel."""
    items, large, small = (1 << 24, 256, 32) if rig.gpu else (1 << 20, 256, 16)
    coarse, fine = (rig.seconds(memory_probes.empty(items, n)) for n in (large, small))
    group = max(fine - coarse, 0.0) / (items // small - items // large) * rig.units
    item = max(coarse - group * (items // large) / rig.units, 0.0) / items * rig.units
    return {"group_start": group, "item_start": item}


# ---------------------------------------------------------------------------------------- memory


def _elements(rig: Rig) -> int:
    """The f32 of a buffer beyond every cache, a power of two; less where the device holds less."""
    n = 1 << 26 if rig.gpu else 1 << 24
    while n * 16 > rig.device.info.memory:
        n //= 2
    return n


def memory(rig: Rig) -> Changes:
    """Copies beyond every cache, by vector width; the loads in flight they need; one load's latency."""
    n = _elements(rig)
    x = rig.filled(n)
    copies = {w: _copied(rig, n, w, x) for w in (1, 4, 16)}
    chase, steps = _chain_of_indices(1 << (25 if rig.gpu else 24)), 1 << 14
    starts = [[k * (chase.size // CHASES)] for k in range(CHASES)]  # one path again and again would stay in a cache
    changes: Changes = {
        "bandwidth": max(copies.values()),
        "copy_bandwidth": {str(w): b for w, b in copies.items()},
        "latency": rig.seconds_in_turn(memory_probes.chase(chase.size, steps), starts, x=rig.device.upload(chase))
        / steps,
        "bytes_in_flight": 0.0,
    }
    if rig.gpu:  # with few groups, bandwidth is what their loads in flight allow: share = x / (1 + x^3)^(1/3)
        few = _stream(rig, n, 4, rig.units, x)
        share = min(few / changes["bandwidth"], 0.99)
        changes["bytes_in_flight"] = rig.units * 256 * 16 / (share / (1 - share**3) ** (1 / 3))
    return changes


def _copied(rig: Rig, n: int, width: int, x: Any) -> float:
    """Bytes per second, read and written, of copying `x`, n f32, by vectors."""
    size = n // rig.parts
    turns = [[k * size // width] for k in range(rig.parts)]
    plan = memory_probes.copy(n, rig.parts, width, rig.gpu, rig.units)
    return 8 * size / (rig.seconds_in_turn(plan, turns, x=x) + rig.profile.launch)  # as one would time a copy


def _chain_of_indices(n: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Each element is the index of the next: one cycle through all n, in random order."""
    order = np.random.default_rng(0).permutation(n)
    after = np.empty(n, np.int32)
    after[order] = np.roll(order, -1)
    return after


def _stream(rig: Rig, n: int, width: int, groups: int, x: Any) -> float:
    """Bytes per second of reading `x`, n f32, by vectors in so many groups."""
    items = groups * (256 if rig.gpu else 1)
    each = n // rig.parts // width
    count = each // items // LOADS * LOADS
    step, size = (items, each) if rig.gpu else (LOADS, count)
    turns = [[count, step, size, k * each] for k in range(rig.parts)]
    return 4 * width * count * items / rig.seconds_in_turn(memory_probes.read(n, width, rig.gpu, groups), turns, x=x)


def vectors(rig: Rig) -> Changes:
    """Reading memory by vectors."""
    n = _elements(rig)
    x = rig.filled(n)
    return {"vector_rates": {str(w): _stream(rig, n, w, rig.groups, x) for w in WIDTHS}}


def access(rig: Rig) -> Changes:
    """Single elements from memory, some distance apart and anywhere."""
    n, line = _elements(rig), max(1, rig.profile.line_bytes // 4)
    x, items, found = rig.filled(n), rig.items, dict[str, float]()
    probe = rig.build(memory_probes.strided(n, rig.gpu, rig.groups))
    for stride in STRIDES:
        count = -(-n // min(stride, line) // rig.parts // items // LOADS) * LOADS
        numbers = [count, stride, (n // stride).bit_length() - 1, line]
        turns = [[*numbers, k * count * items] for k in range(rig.parts)]
        found[str(stride)] = 4 * count * items / rig.seconds_in_turn(probe, turns, x=x)
    count = -(-(n // 16) // rig.parts // items // LOADS) * LOADS
    turns = [[count, k * items] for k in range(rig.parts)]
    plan = memory_probes.scattered(n, rig.gpu, rig.groups)
    anywhere = 4 * count * items / rig.seconds_in_turn(plan, turns, x=x)
    fastest = 2 * max(rig.profile.bandwidth, rig.profile.cache_bandwidth)
    return {
        "strided": found if max(found.values()) < fastest else None,
        "random": anywhere if anywhere < fastest else None,
    }


def saturation(rig: Rig) -> Changes:
    """The part of the bandwidth that a number of work-groups can use."""
    n = _elements(rig)
    x, width = rig.filled(n), 4 if rig.gpu else 16
    rates = {g: _stream(rig, n, width, g, x) for g in group_counts(rig)}
    best = max(rates.values())
    return {"bandwidth_share": {str(g): r / best for g, r in rates.items()}}


def group_counts(rig: Rig) -> list[int]:
    """Numbers of work-groups from one to more than enough."""
    units, most = rig.units, rig.groups
    return sorted({1, most, *(units << k >> 4 for k in range(8) if 0 < units << k >> 4 <= most)})


def caches(rig: Rig) -> Changes:
    """Reading working sets again and again: a curve, whose steps are the caches."""
    curve = {str(size): rate for size, rate in _curve(rig)}
    p = rig.profile
    # a CPU loads two vectors for each arithmetic instruction, at most; no GPU's cache is faster than local memory
    fastest = 2 * (p.local_bandwidth if rig.gpu else p.issue_rate * p.simd_bytes)
    if max(curve.values()) > fastest:
        return {"cache_curve": None, "caches": None}
    levels = caches_of(curve, rig.device.info.cache)
    if levels:  # no cache is slower than memory
        levels = (*levels[:-1], replace(levels[-1], bandwidth=max(levels[-1].bandwidth, p.bandwidth)))
    return {"cache_curve": curve, "caches": levels or None}


def _curve(rig: Rig) -> list[tuple[int, float]]:
    """(bytes, bytes per second) of working sets from 4 KiB to 256 MiB, on a GPU from 64 KiB to 1 GiB."""
    gpu, items = rig.gpu, rig.items
    width, least, most = (4, 1 << 16, 1 << 30) if gpu else (16, 1 << 12, 1 << 28)
    most = min(most, rig.device.info.memory // 4)
    x = rig.filled(most // 4)
    probe = rig.build(memory_probes.read(most // 4, width, gpu, rig.groups))
    found = []
    sizes = [s for k in range(least.bit_length() - 1, most.bit_length()) for s in (1 << k, 3 << (k - 1)) if s <= most]
    for size in sizes:
        turns = _whole(rig, size // 4 // width) if gpu else _shared(rig, size)
        if turns:
            seconds = rig.seconds_in_turn(probe, turns, 0.04, x=x)
            found.append((size, 4 * width * turns[0][0] * items / seconds))
    return found


def _whole(rig: Rig, vectors: int) -> list[list[int]]:
    """Every unit of a GPU reads all of a working set of so many vectors of four, its groups in turn: 1 GiB in all."""
    return [[(1 << 26) // rig.items // LOADS * LOADS, (rig.items + 256) % vectors, vectors, 0]]


def _shared(rig: Rig, size: int) -> list[list[int]]:
    """A CPU's cores share a working set of `size` bytes, at most 2 MiB each before the next part; none if too small."""
    most = rig.units << 21
    parts = -(-size // most)
    circle = size // 64 // parts // rig.items // LOADS * LOADS
    count = circle if parts > 1 else most // 64 // rig.items // LOADS * LOADS
    return [[count, LOADS, circle, k * circle * rig.items] for k in range(parts)] if circle else []


# ---------------------------------------------------------------------------------------- local memory


def local(rig: Rig) -> Changes:
    """Reading local memory, by neighbours side by side and some words apart."""
    group, groups = 256 if rig.gpu else 64, rig.groups
    plan, size = memory_probes.local_read(4096, group, groups)
    bandwidth = size / rig.seconds(plan)
    probe, count = rig.build(memory_probes.local_strided(group, groups)), 4096
    apart = {str(s): 4 * count * group * groups / rig.seconds(probe, numbers=[count, s]) for s in LOCAL_STRIDES}
    return {
        "local_bandwidth": bandwidth,
        "local_bytes": rig.device.limits.local_bytes,
        "local_strided": apart if max(apart.values()) < 4 * bandwidth else None,
    }


def barriers(rig: Rig) -> Changes:
    """Barriers by the size of the work-group: a larger one takes no less."""
    count, by_group, least = 512, dict[str, float](), float("inf")
    for group in (g for g in (1024, 512, 256, 128, 64, 32) if g <= rig.device.limits.group_size):
        fenced, bare = (rig.seconds(memory_probes.barriers(count, group, rig.units, real)) for real in (True, False))
        if fenced > bare:
            least = min(least, (fenced - bare) / (2 * count))
            by_group[str(group)] = least
    rising = dict(reversed(by_group.items()))
    return {"barriers": rising or None, "barrier": at(rising, 64) if rising else None}


def transfers(rig: Rig) -> Changes:
    """Copies to the device and back."""
    return {"transfer": transfer_rates(rig.device)}
