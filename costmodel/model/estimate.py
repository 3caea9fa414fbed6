"""The analytic model: seconds that a plan will take on a device, with its terms and what bounds it.

A roofline over what `tally` counts: memory traffic (coalescing, caches, bytes in flight), instructions, and the
longest chain of dependent operations; plus launches and barriers.  Pure functions of plan and profile.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

from egglift.codegen.emitted import may_go_on
from egglift.codegen.kernel.imperative import Plan, PlannedKernel
from egglift.costmodel.model.coalescing import BANKS, WORD, ids, passes, whole_warps
from egglift.costmodel.model.live_registers import live_bytes
from egglift.costmodel.model.memory_traffic import Traffic, traffic
from egglift.costmodel.model.operation_counts import Tally, tally
from egglift.costmodel.profiles.curves import at
from egglift.costmodel.profiles.profile import Profile
from egglift.ir.plain_numbers import plain

REGISTERS = 65536  # of a GPU's unit
MOST_WORK = 0.75  # of the work-items: then all cores have about as much to do
NESTED, NESTED_BLOCK = 1.15, 8  # times as long; registers of a block
SCHEDULERS = 4  # of a GPU's unit: so many warps issue at a time
HANDED_ON = 1.5  # latencies until the last group of a kernel knows that it is, and goes on
#: the part of all terms but the largest that shows, and where a GPU does not wait for memory
HIDDEN, ON_CHIP = 0.15, 0.3
#: the same, but for instructions, where units take what they multiply from local memory on their own
FED = 0.02
FETCHED, UNFETCHED = 2400.0, 0.6  # instructions of a loop's step, and as much longer a lone warp takes to fetch them
GAPS = 2.5  # instructions' worth of waiting that warps fill for each other
STALLS = 1.5  # barriers for each round of loads, at least, where all items of a group wait for what is loaded
CHAINS = 8.0  # chains of dependent operations that one work-item needs to fill its own gaps


@dataclass(frozen=True)
class KernelEstimate:
    """One kernel's seconds: its terms by name (they overlap: `seconds` is not their sum).

    moved: bytes of global memory, by how far they come; local: bytes of local memory that work-items read and write.
    joins: seconds less where the last group of the kernel before goes on with this one, if that can be.
    """

    name: str
    seconds: float
    terms: dict[str, float]
    moved: Traffic
    local: float
    flops: float
    joins: float = 0.0

    @property
    def bytes(self) -> float:
        """Bytes from and to memory."""
        return self.moved.dram

    @property
    def bound(self) -> str:
        """The largest term."""
        return max(self.terms, key=lambda t: self.terms[t])


@dataclass(frozen=True)
class Estimate:
    """Seconds of a plan, and those of each launch."""

    seconds: float
    kernels: tuple[KernelEstimate, ...]

    def sentence(self) -> str:
        """What bounds the plan, in a sentence."""
        if not self.kernels:
            return "nothing to do"
        k = max(self.kernels, key=lambda k: k.seconds)
        what = {
            "memory": f"memory traffic ({plain(k.bytes / 1e6)} MB)",
            "cache": "cache traffic",
            "units": f"matrix units ({plain(k.flops / 1e6)} Mflop)",
            "instructions": f"instructions ({plain(k.flops / 1e6)} Mflop)",
            "chain": "dependent operations of one work-item",
            "local": "local-memory traffic",
            "barriers": "barriers",
            "starts": "starting work-groups",
            "launch": "the launch itself",
        }[k.bound]
        return f"{plain(self.seconds * 1e6, 4)} us, of which {k.name} {plain(k.seconds * 1e6, 4)} us, bound by {what}"


def estimate(plan: Plan, profile: Profile) -> Estimate:
    """Seconds of one execution of `plan` on a device like `profile`."""
    once = [_with_last(k, profile) for k in plan.kernels]
    launches = tuple(once[i] for i, _ in plan.steps)
    return Estimate(sum(k.seconds for k in launches), launches)


def in_turn(parts: Iterable[Estimate]) -> Estimate:
    """Plans one after the other as one, its kernels numbered anew."""
    launches = list[KernelEstimate]()
    for k in (k for part in parts for k in part.kernels):
        if launches and k.joins:
            launches[-1] = _joined(launches[-1], k, k.joins)
        else:
            launches.append(k)
    named = tuple(replace(k, name=f"k{i}") for i, k in enumerate(launches))
    return Estimate(sum(k.seconds for k in named), named)


def joins(p: Profile) -> float:
    """Seconds that are saved where the last group of a kernel goes on with one of one group, instead of its launch."""
    return max(0.0, p.launch - HANDED_ON * p.latency) if p.limits.device_fence else 0.0


def _with_last(kernel: PlannedKernel, p: Profile) -> KernelEstimate:
    """A kernel, and what the last of its groups goes on with."""
    own = _kernel(kernel, p)
    return own if kernel.last is None else _joined(own, _with_last(kernel.last, p), joins(p))


def _joined(first: KernelEstimate, last: KernelEstimate, saved: float) -> KernelEstimate:
    """Two kernels as one, whose last group goes on: so many seconds are saved."""
    terms = {name: first.terms[name] + last.terms[name] for name in first.terms}
    terms["launch"] -= saved
    seconds, moved = first.seconds + last.seconds - saved, first.moved + last.moved
    return replace(
        first,
        seconds=seconds,
        terms=terms,
        moved=moved,
        local=first.local + last.local,
        flops=first.flops + last.flops,
    )


def _kernel(kernel: PlannedKernel, p: Profile) -> KernelEstimate:
    t = tally(kernel, p)
    items, group = prod(kernel.global_size), prod(kernel.local_size)
    groups = max(1, items // max(1, group))
    if p.kind == "cpu" and t.share < MOST_WORK:  # a core gets neighbouring groups
        groups = min(groups, max(1, round(p.compute_units * t.share)))
    registers = _registers(kernel, t)
    side_by_side = _groups_per_unit(kernel, group, registers, p)
    resident = min(items, p.compute_units * (group * side_by_side if p.kind == "gpu" else 1))
    waves = -(-items // max(1, resident))
    moved = traffic(t, kernel, resident, p)
    spilled = _spilled(t, group, registers, p)
    warps = -(-group // p.warp) * min(side_by_side, -(-groups // p.compute_units))  # of the busiest unit
    slow = _latency(resident, groups, _gaps(t, items), p) * spilled * _nested(t, kernel.local_size, p)
    slow *= _fetching(t, warps, p)
    rate = p.issue_rate * _issue_share(groups, groups / (p.compute_units * side_by_side), warps, p)
    lanes = _lanes(group, p) / group
    terms = {
        "memory": moved.dram / (_memory_rate(t, p) * _bandwidth_share(t, resident, groups, p)),
        "cache": moved.cache_seconds(p) / min(1.0, groups / p.compute_units),
        # beside instructions: a warp goes on while its products are made
        "units": spilled * t.products * lanes / rate,
        "instructions": slow * t.issue * lanes / rate,
        "chain": _chain(t, waves, groups, p),
        "local": (slow * _local(t, kernel.local_size, p) + t.fed / p.local_bandwidth) / _busy(groups, p),
        "barriers": t.barriers * groups * _barrier(group, p) / min(groups, p.compute_units * side_by_side),
        "starts": (groups * p.group_start + items * p.item_start) / min(groups, p.compute_units),
        "launch": p.launch,
    }
    terms["chain"] += (terms["instructions"] + terms["units"]) / side_by_side * _stalled(t, p)
    seconds = _combined(terms, p.kind == "gpu", t.fed > 0)
    local = sum(a.count * a.bytes for a in t.accesses if a.buffer.space == "local")
    saved = joins(p) if may_go_on(kernel) else 0.0
    return KernelEstimate(kernel.name, seconds, terms, moved, local, t.flops, saved)


def _combined(terms: dict[str, float], gpu: bool, fed: bool) -> float:
    """The terms as one: the largest hides most of the others.  fed: do units read local memory on their own?"""
    overlapping = [terms[n] for n in ("memory", "cache", "units", "instructions", "chain", "local", "starts")]
    most, own = max(overlapping), terms["instructions"]
    shows, rest = ON_CHIP if gpu and terms["memory"] < most else HIDDEN, sum(overlapping) - most
    hidden = rest - (own if own < most else 0.0) if fed else 0.0
    return most + shows * (rest - hidden) + FED * hidden + terms["barriers"] + terms["launch"]


def _registers(kernel: PlannedKernel, t: Tally) -> int:
    """Registers of a work-item, roughly: private memory in use, addresses and what an expression holds."""
    return 32 + int(min(kernel.private_bytes, live_bytes(kernel.body)) * (1 - t.unread)) // 4


def _groups_per_unit(kernel: PlannedKernel, group: int, registers: int, p: Profile) -> int:
    """Work-groups that one compute unit holds at a time."""
    if p.kind == "cpu":
        return 1
    by_local = (4 * p.local_bytes) // (kernel.local_bytes + 1024) if kernel.local_bytes else 32
    by_registers = REGISTERS // (max(32, group) * min(255, registers))
    return max(1, min(p.items_per_unit // max(32, group), by_local, by_registers or 1, 32))


def _barrier(group: int, p: Profile) -> float:
    """Seconds of one barrier: as measured by group size, else longer for groups of more than a few warps of a GPU."""
    if p.barriers:
        return at(p.barriers, group)
    return p.barrier * (max(1.0, group / 128) if p.kind == "gpu" else 1.0)


def _spilled(t: Tally, group: int, registers: int, p: Profile) -> float:
    """How much longer instructions take if a work-item keeps more than its registers hold."""
    if p.kind == "cpu":
        room = p.simd_bytes * (32 if p.simd_bytes >= 64 else 16)
        spilled = 2 * t.often * t.held / p.simd_bytes if room <= t.held else 0.0  # loaded and stored in every step
        return 1.0 + spilled / max(1.0, t.issue)
    allowed = min(255, REGISTERS // max(32, group))
    return 1.0 + max(0, registers - allowed) / 24


def _gaps(t: Tally, items: int) -> float:
    """Instructions' worth of waiting that other warps must fill: less where items have many chains side by side."""
    side_by_side = (t.issue + t.products) / items / t.chain if t.chain else 1.0
    return GAPS / max(1.0, side_by_side / CHAINS)


def _nested(t: Tally, local_size: tuple[int, ...], p: Profile) -> float:
    """How much longer a work-item of a CPU takes that keeps a block in registers, where loops over several dimensions
    of its group are around it."""
    blocks = p.kind == "cpu" and t.held >= NESTED_BLOCK * p.simd_bytes
    return NESTED if blocks and any(n > 1 for n in local_size[1:]) else 1.0


def _latency(resident: int, groups: int, gaps: float, p: Profile) -> float:
    """How much longer instructions take where few warps of a unit are there to fill each other's gaps."""
    if p.kind == "cpu":
        return 1.0
    warps = max(1.0, resident / min(groups, p.compute_units) / p.warp)
    return (warps + gaps) / warps


def _busy(groups: int, p: Profile) -> float:
    """The part of the units that have work until the end: the last round of groups may not fill them."""
    rounds = -(-groups // p.compute_units)
    return groups / (rounds * p.compute_units)


def _bandwidth_share(t: Tally, resident: int, groups: int, p: Profile) -> float:
    """The part of the bandwidth that so many bytes in flight can use: x / (1 + x^3)^(1/3)."""
    if p.kind == "cpu":
        return max(min(1.0, groups / p.compute_units), 0.6 / p.compute_units)
    if not p.bytes_in_flight:
        return 1.0
    x = resident * max(4.0, min(128.0, t.flight)) / p.bytes_in_flight
    return float(x / (1 + x**3) ** (1 / 3))


def _fetching(t: Tally, warps: int, p: Profile) -> float:
    """How much longer instructions take that are fetched anew: a loop's step of many is not there any more when the
    next one begins, and a lone warp of a scheduler has nothing else to do meanwhile."""
    lone = p.kind == "gpu" and warps <= SCHEDULERS
    return 1.0 + UNFETCHED * min(2.0, t.step / FETCHED) if lone else 1.0


def _issue_share(groups: int, rounds: float, warps: int, p: Profile) -> float:
    """The part of the device that has work: too few groups leave units idle, and warps are shared out to the
    schedulers of a unit as they come: of five warps one has two, unless more rounds of groups fill the gap."""
    if p.kind == "cpu":
        return _busy(groups, p)
    even = warps / (SCHEDULERS * -(-warps // SCHEDULERS))
    spread = 1 - (1 - even) / max(1.0, rounds)
    return spread * _busy(groups, p)


def _lanes(group: int, p: Profile) -> int:
    """Lanes that a group's work-items take: all of a warp's, however many of them have one."""
    return -(-group // p.warp) * p.warp if p.kind == "gpu" else group


def _memory_rate(t: Tally, p: Profile) -> float:
    """Bytes per second: of the cache, where everything that the kernel touches stays there between calls."""
    buffers = {id(a.buffer): a.buffer.size * a.buffer.scalar.size for a in t.accesses if a.buffer.space == "global"}
    return p.cache_bandwidth if sum(buffers.values()) < 0.8 * p.cache_bytes else p.bandwidth


def _chain(t: Tally, waves: int, groups: int, p: Profile) -> float:
    if p.kind == "cpu":  # a core runs its work-items one after another
        return t.chains * p.op_latency / min(groups, p.compute_units)
    return waves * (t.chain * p.op_latency + t.waits * p.latency / 4) + p.latency


def _stalled(t: Tally, p: Profile) -> float:
    """The part of a group's steps in which all its items wait for loads between two barriers: nothing of its own
    overlaps with these, only other groups of the unit have something to do."""
    if p.kind == "cpu" or t.barriers < STALLS * t.waits or not t.barriers:
        return 0.0
    return min(1.0, 2 * t.waits / t.barriers)


def _local(t: Tally, local_size: tuple[int, ...], p: Profile) -> float:
    """Seconds of passes through local memory, all units busy."""
    if p.kind == "cpu":
        return 0.0
    local, total = ids(local_size, p.warp), 0.0
    for a in t.accesses:
        if a.buffer.space == "local":
            at_once = a.places if a.store else 1  # numbers that are stored side by side are stored one by one
            total += a.count / len(local[0]) * at_once * passes(a.at, a.buffer.scalar.size, a.bytes // at_once, local)
    return total * whole_warps(prod(local_size), p.warp) * BANKS * WORD / p.local_bandwidth
