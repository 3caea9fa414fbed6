"""Calibration of memory: launches, copies, patterns of access, caches, local memory, transfers.

Each stage measures some fields of the profile; None for one that was not measured, because its numbers are faster
than the device can be: the compiler has seen through the probe.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from egglift.codegen.transfer import transfer_rates
from egglift.costmodel import probes
from egglift.costmodel.bench import Bench
from egglift.costmodel.curves import at, caches_of

Changes = dict[str, Any]
LOADS = probes.LOADS
WIDTHS = (1, 2, 4, 8, 16)
STRIDES = (1, 2, 4, 8, 16, 32, 64, 128)
LOCAL_STRIDES = (1, 2, 4, 8, 16, 32)


def launch(bench: Bench) -> Changes:
    """Device time of an empty kernel, and what the host takes beyond it to launch and wait."""
    executable = bench.build(probes.empty(64, 64))
    seconds = executable.time({}, warmup=5, least=30, most=100, budget=0.5).seconds
    walls = []
    for _ in range(30):
        start = time.perf_counter()
        executable.enqueue({})
        bench.device.queue.finish()
        walls.append(time.perf_counter() - start)
    return {"launch": seconds, "gap": max(float(np.median(walls)) - seconds, 0.0)}


def starts(bench: Bench) -> Changes:
    """What one more work-item, and one more work-group, add to a kernel."""
    items, large, small = (1 << 24, 256, 32) if bench.gpu else (1 << 20, 256, 16)
    coarse, fine = (bench.seconds(probes.empty(items, n)) for n in (large, small))
    group = max(fine - coarse, 0.0) / (items // small - items // large) * bench.units
    item = max(coarse - group * (items // large) / bench.units, 0.0) / items * bench.units
    return {"group_start": group, "item_start": item}


# ---------------------------------------------------------------------------------------- memory


def _elements(bench: Bench) -> int:
    """The f32 of a buffer beyond every cache, a power of two; less where the device holds less."""
    n = 1 << 26 if bench.gpu else 1 << 24
    while n * 16 > bench.device.info.memory:
        n //= 2
    return n


def memory(bench: Bench) -> Changes:
    """Copies beyond every cache, by vector width; the loads in flight they need; one load's latency."""
    n = _elements(bench)
    x = bench.filled(n)
    copies = {w: _copied(bench, n, w, x) for w in (1, 4, 16)}
    chase, steps = _chain_of_indices(1 << (25 if bench.gpu else 22)), 1 << 14
    changes: Changes = {
        "bandwidth": max(copies.values()),
        "copy_bandwidth": {str(w): b for w, b in copies.items()},
        "latency": bench.seconds(probes.chase(chase.size, steps), x=chase) / steps,
        "bytes_in_flight": 0.0,
    }
    if bench.gpu:  # with few groups, bandwidth is what their loads in flight allow: share = x / (1 + x^3)^(1/3)
        few = _stream(bench, n, 4, bench.units, x)
        share = min(few / changes["bandwidth"], 0.99)
        changes["bytes_in_flight"] = bench.units * 256 * 16 / (share / (1 - share**3) ** (1 / 3))
    return changes


def _copied(bench: Bench, n: int, width: int, x: Any) -> float:
    """Bytes per second, read and written, of copying `x`, n f32, by vectors."""
    size = n // bench.parts
    turns = [[k * size // width] for k in range(bench.parts)]
    plan = probes.copy(n, bench.parts, width, bench.gpu, bench.units)
    return 8 * size / (bench.seconds_in_turn(plan, turns, x=x) + bench.profile.launch)  # as one would time a copy


def _chain_of_indices(n: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Each element is the index of the next: one cycle through all n, in random order."""
    order = np.random.default_rng(0).permutation(n)
    after = np.empty(n, np.int32)
    after[order] = np.roll(order, -1)
    return after


def _stream(bench: Bench, n: int, width: int, groups: int, x: Any) -> float:
    """Bytes per second of reading `x`, n f32, by vectors in so many groups."""
    items = groups * (256 if bench.gpu else 1)
    each = n // bench.parts // width
    count = each // items // LOADS * LOADS
    step, size = (items, each) if bench.gpu else (LOADS, count)
    turns = [[count, step, size, k * each] for k in range(bench.parts)]
    return 4 * width * count * items / bench.seconds_in_turn(probes.read(n, width, bench.gpu, groups), turns, x=x)


def vectors(bench: Bench) -> Changes:
    """Reading memory by vectors."""
    n = _elements(bench)
    x = bench.filled(n)
    return {"vector_rates": {str(w): _stream(bench, n, w, bench.groups, x) for w in WIDTHS}}


def access(bench: Bench) -> Changes:
    """Single elements from memory, some distance apart and anywhere."""
    n, line = _elements(bench), max(1, bench.profile.line_bytes // 4)
    x, items, found = bench.filled(n), bench.items, dict[str, float]()
    probe = bench.build(probes.strided(n, bench.gpu, bench.groups))
    for stride in STRIDES:
        count = -(-n // min(stride, line) // bench.parts // items // LOADS) * LOADS
        numbers = [count, stride, (n // stride).bit_length() - 1, line]
        turns = [[*numbers, k * count * items] for k in range(bench.parts)]
        found[str(stride)] = 4 * count * items / bench.seconds_in_turn(probe, turns, x=x)
    count = -(-(n // 16) // bench.parts // items // LOADS) * LOADS
    turns = [[count, k * items] for k in range(bench.parts)]
    plan = probes.scattered(n, bench.gpu, bench.groups)
    anywhere = 4 * count * items / bench.seconds_in_turn(plan, turns, x=x)
    fastest = 2 * max(bench.profile.bandwidth, bench.profile.cache_bandwidth)
    return {
        "strided": found if max(found.values()) < fastest else None,
        "random": anywhere if anywhere < fastest else None,
    }


def saturation(bench: Bench) -> Changes:
    """The part of the bandwidth that a number of work-groups can use."""
    n = _elements(bench)
    x, width = bench.filled(n), 4 if bench.gpu else 16
    rates = {g: _stream(bench, n, width, g, x) for g in group_counts(bench)}
    best = max(rates.values())
    return {"bandwidth_share": {str(g): r / best for g, r in rates.items()}}


def group_counts(bench: Bench) -> list[int]:
    """Numbers of work-groups from one to more than enough."""
    units, most = bench.units, bench.groups
    return sorted({1, most, *(units << k >> 4 for k in range(8) if 0 < units << k >> 4 <= most)})


def caches(bench: Bench) -> Changes:
    """Reading working sets again and again: a curve, whose steps are the caches."""
    curve = {str(size): rate for size, rate in _curve(bench)}
    p = bench.profile
    # a CPU loads two vectors for each arithmetic instruction, at most; no GPU's cache is faster than local memory
    fastest = 2 * (p.local_bandwidth if bench.gpu else p.issue_rate * p.simd_bytes)
    if max(curve.values()) > fastest:
        return {"cache_curve": None, "caches": None}
    found = caches_of(curve, bench.device.info.cache)
    if found:  # no cache is slower than memory
        found = (*found[:-1], replace(found[-1], bandwidth=max(found[-1].bandwidth, p.bandwidth)))
    return {"cache_curve": curve, "caches": found or None}


def _curve(bench: Bench) -> list[tuple[int, float]]:
    """(bytes, bytes per second) of working sets from 4 KiB to 256 MiB, on a GPU from 64 KiB to 1 GiB."""
    gpu, items = bench.gpu, bench.items
    width, least, most = (4, 1 << 16, 1 << 30) if gpu else (16, 1 << 12, 1 << 28)
    most = min(most, bench.device.info.memory // 4)
    x = bench.filled(most // 4)
    probe = bench.build(probes.read(most // 4, width, gpu, bench.groups))
    found = []
    sizes = [s for k in range(least.bit_length() - 1, most.bit_length()) for s in (1 << k, 3 << (k - 1)) if s <= most]
    for size in sizes:
        turns = _whole(bench, size // 4 // width) if gpu else _shared(bench, size)
        if turns:
            seconds = bench.seconds_in_turn(probe, turns, 0.04, x=x)
            found.append((size, 4 * width * turns[0][0] * items / seconds))
    return found


def _whole(bench: Bench, vectors: int) -> list[list[int]]:
    """Every unit of a GPU reads all of a working set of so many vectors of four, its groups in turn: 1 GiB in all."""
    return [[(1 << 26) // bench.items // LOADS * LOADS, (bench.items + 256) % vectors, vectors, 0]]


def _shared(bench: Bench, size: int) -> list[list[int]]:
    """A CPU's cores share a working set of `size` bytes, at most 2 MiB each before the next part; none if too small."""
    most = bench.units << 21
    parts = -(-size // most)
    circle = size // 64 // parts // bench.items // LOADS * LOADS
    count = circle if parts > 1 else most // 64 // bench.items // LOADS * LOADS
    return [[count, LOADS, circle, k * circle * bench.items] for k in range(parts)] if circle else []


# ---------------------------------------------------------------------------------------- local memory


def local(bench: Bench) -> Changes:
    """Reading local memory, by neighbours side by side and some words apart."""
    group, groups = 256 if bench.gpu else 64, bench.groups
    plan, size = probes.local_read(4096, group, groups)
    bandwidth = size / bench.seconds(plan)
    probe, count = bench.build(probes.local_strided(group, groups)), 4096
    apart = {
        str(s): 4 * count * group * groups / bench.seconds(probe, numbers=[count, s]) for s in LOCAL_STRIDES
    }
    return {
        "local_bandwidth": bandwidth,
        "local_bytes": bench.device.limits.local_bytes,
        "local_strided": apart if max(apart.values()) < 4 * bandwidth else None,
    }


def barriers(bench: Bench) -> Changes:
    """Barriers by the size of the work-group: a larger one takes no less."""
    count, found, least = 512, dict[str, float](), float("inf")
    for group in (g for g in (1024, 512, 256, 128, 64, 32) if g <= bench.device.limits.group_size):
        fenced, bare = (bench.seconds(probes.barriers(count, group, bench.units, real)) for real in (True, False))
        if fenced > bare:
            least = min(least, (fenced - bare) / (2 * count))
            found[str(group)] = least
    rising = dict(reversed(found.items()))
    return {"barriers": rising or None, "barrier": at(rising, 64) if rising else None}


def transfers(bench: Bench) -> Changes:
    """Copies to the device and back."""
    return {"transfer": transfer_rates(bench.device)}
