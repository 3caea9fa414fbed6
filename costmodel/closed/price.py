"""Seconds that a kernel will take, as a closed form: the analytic model (model/estimate.py) over many assignments."""

from __future__ import annotations

import numpy as np

from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.codegen.kernel.limit_unrolling import MOST
from egglift.costmodel.closed.footprint import passes
from egglift.costmodel.closed.rows_of_lanes import waiting
from egglift.costmodel.closed.traffic import leaps, traffic, warp_axes, whole_warps
from egglift.costmodel.closed.work import Bools, Numbers, Work, number, rounded_up
from egglift.costmodel.model.coalescing import BANKS, WORD
from egglift.costmodel.model.estimate import (
    CHAINS,
    FED,
    FETCHED,
    GAPS,
    HIDDEN,
    MOST_WORK,
    NESTED,
    NESTED_BLOCK,
    ON_CHIP,
    REGISTERS,
    SCHEDULERS,
    STALLS,
    UNFETCHED,
)
from egglift.costmodel.model.operation_counts import LEAP
from egglift.costmodel.profiles.curves import at
from egglift.costmodel.profiles.profile import Profile


def seconds(work: Work, p: Profile) -> Numbers:
    """Seconds of one launch for every assignment."""
    return combined(terms(work, p), p.kind == "gpu", work.fed > 0)


def combined(found: dict[str, Numbers], gpu: bool, fed: Bools) -> Numbers:
    """The terms as one: the largest hides most of the others.  fed: do units read local memory on their own?"""
    overlapping = [found[n] for n in ("memory", "cache", "units", "instructions", "chain", "local", "starts")]
    most = overlapping[0]
    for x in overlapping[1:]:
        most = np.maximum(most, x)
    total = sum(overlapping[1:], overlapping[0])
    shows = np.where(gpu & (found["memory"] < most), ON_CHIP, HIDDEN)
    rest, own = total - most, found["instructions"]
    hidden = np.where(fed, rest - np.where(own < most, own, 0), 0)
    return most + shows * (rest - hidden) + FED * hidden + found["barriers"] + found["launch"]


def terms(work: Work, p: Profile) -> dict[str, Numbers]:
    """The terms of the model by name, in seconds."""
    gpu, units = p.kind == "gpu", p.compute_units
    items, group = work.items, work.group
    groups = np.maximum(1, np.floor(items / group))
    if not gpu:  # a core gets neighbouring groups
        few = np.minimum(groups, np.maximum(1, np.round(units * work.share)))
        groups = np.where(work.share < MOST_WORK, few, groups)
    registers = np.floor(32 + work.private / 4)
    side_by_side = _groups_per_unit(work, registers, p) if gpu else number(1)
    resident = np.minimum(items, units * (group * side_by_side if gpu else 1))
    busy = groups / (rounded_up(groups, units) * units)
    dram, cached, near = traffic(work, resident, p)
    issue = work.issue if gpu else work.issue + (LEAP * leaps(work) + waiting(work, p.line_bytes)) / items
    spilled = _spilled(work, issue, registers, p)
    slow = _latency(resident, groups, _gaps(work), p) * spilled * _nested(work, p)
    shared = np.minimum(groups, units)
    if gpu:
        warps = rounded_up(group, p.warp) * np.minimum(side_by_side, rounded_up(groups, units))  # of the busiest unit
        slow = slow * _fetching(work, warps)
        share = _spread(groups / (units * side_by_side), warps) * busy
        chain = rounded_up(items, resident) * (work.chain * p.op_latency + work.waits * p.latency / 4) + p.latency
    else:
        share, chain = busy, work.chain * items * p.op_latency / shared
    # of whole warps, whether each lane has a work-item or not
    lanes = items * (rounded_up(group, p.warp) * p.warp / group if gpu else 1)
    instructions = slow * issue * lanes / (p.issue_rate * share)
    products = spilled * work.products * lanes / (p.issue_rate * share)
    if gpu:
        chain = chain + (instructions + products) / side_by_side * _stalled(work)
    return {
        "memory": dram / (_memory_rate(work, p) * _bandwidth_share(work, resident, groups, p)),
        "cache": np.maximum(cached / p.cache_bandwidth, near / p.local_bandwidth) / np.minimum(1, groups / units),
        "units": products,
        "instructions": instructions,
        "chain": chain,
        "local": (slow * _local(work, p) + work.fed * items / p.local_bandwidth) / busy if gpu else number(0),
        "barriers": work.barriers * groups * _barrier(group, p) / np.minimum(groups, units * side_by_side),
        "starts": (groups * p.group_start + items * p.item_start) / shared,
        "launch": number(p.launch),
    }


def _groups_per_unit(work: Work, registers: Numbers, p: Profile) -> Numbers:
    wide = np.maximum(32, work.group)
    by_local = np.where(work.local_bytes > 0, np.floor(4 * p.local_bytes / (work.local_bytes + 1024)), 32)
    by_registers = np.maximum(1, np.floor(REGISTERS / (wide * np.minimum(255, registers))))
    fewest = np.minimum(np.minimum(np.floor(p.items_per_unit / wide), by_local), np.minimum(by_registers, 32))
    return np.maximum(1, fewest)


def _gaps(work: Work) -> Numbers:
    chains = np.where(work.chain > 0, (work.issue + work.products) / np.maximum(work.chain, 1), 1)
    return GAPS / np.maximum(1, chains / CHAINS)


def _stalled(work: Work) -> Numbers:
    waiting = (work.barriers >= STALLS * work.waits) & (work.barriers > 0)
    return np.where(waiting, np.minimum(1, 2 * work.waits / np.maximum(work.barriers, 1)), 0)


def _latency(resident: Numbers, groups: Numbers, gaps: Numbers, p: Profile) -> Numbers:
    if p.kind == "cpu":
        return number(1)
    warps = np.maximum(1, resident / np.minimum(groups, p.compute_units) / p.warp)
    return (warps + gaps) / warps


def _spilled(work: Work, issue: Numbers, registers: Numbers, p: Profile) -> Numbers:
    if p.kind == "cpu":
        room = p.simd_bytes * (32 if p.simd_bytes >= 64 else 16)
        spilled = 2 * work.often * work.held / p.simd_bytes  # loaded and stored in every step
        return 1 + np.where(room <= work.held, spilled / np.maximum(1, issue), 0)
    allowed = np.minimum(255, np.floor(REGISTERS / np.maximum(32, work.group)))
    return 1 + np.maximum(0, registers - allowed) / 24


def _nested(work: Work, p: Profile) -> Numbers:
    if p.kind == "gpu":
        return number(1)
    around = (work.local[1] > 1) | (work.local[2] > 1)
    return np.where((work.held >= NESTED_BLOCK * p.simd_bytes) & around, NESTED, 1)


def _fetching(work: Work, warps: Numbers) -> Numbers:
    step = work.issue / np.maximum(work.often, 1)
    unrolled = np.where(step <= MOST, np.minimum(2, step / FETCHED), 0)  # what would be too much code is a loop
    return 1 + UNFETCHED * unrolled * (warps <= SCHEDULERS)


def _spread(rounds: Numbers, warps: Numbers) -> Numbers:
    even = warps / (SCHEDULERS * rounded_up(warps, SCHEDULERS))
    spread: Numbers = 1 - (1 - even) / np.maximum(1, rounds)
    return spread


def _bandwidth_share(work: Work, resident: Numbers, groups: Numbers, p: Profile) -> Numbers:
    if p.kind == "cpu":
        return np.maximum(np.minimum(1, groups / p.compute_units), 0.6 / p.compute_units)
    if not p.bytes_in_flight:
        return number(1)
    x = resident * np.clip(work.flight, 4, 128) / p.bytes_in_flight
    return x / (1 + x**3) ** (1 / 3)


def _memory_rate(work: Work, p: Profile) -> float:
    buffers = {a.buffer: a.bytes for a in work.accesses if a.space == "global"}
    return p.cache_bandwidth if sum(buffers.values()) < 0.8 * p.cache_bytes else p.bandwidth


def _barrier(group: Numbers, p: Profile) -> Numbers:
    if p.barriers:
        sizes, where = np.unique(group, return_inverse=True)
        return np.array([at(p.barriers, float(n)) for n in sizes])[where].reshape(np.shape(group))
    return p.barrier * np.maximum(1, group / 128) if p.kind == "gpu" else number(p.barrier)


def _local(work: Work, p: Profile) -> Numbers:
    """Seconds of passes through local memory, all units busy."""
    total = number(0)
    for a in work.accesses:
        if a.space == "local":
            lanes = np.minimum(p.warp, work.group)
            total = total + work.count(a) / lanes * passes(warp_axes(work, a, p.warp), a.width, p.warp)
    return total * whole_warps(work.group, p.warp) * BANKS * WORD / p.local_bandwidth


def possible(work: Work, limits: DeviceLimits) -> Bools:
    """Which assignments a device with these limits can run: groups, local memory and registers that it has."""
    most = limits.group_unit_bytes if work.own_target else limits.local_bytes
    fits = work.fits & (work.group <= limits.group_size) & (work.local_bytes <= most)
    return fits & (work.private <= limits.private_bytes)
