"""Counting what a kernel does: an abstract interpretation of its statements, no device needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod

from egglift.codegen.kernel import imperative as c
from egglift.codegen.kernel.accesses import accesses
from egglift.codegen.kernel.index import Index, Var
from egglift.costmodel.model.coalescing import SECTOR, varying
from egglift.costmodel.model.dead_registers import Places, needed, read_places
from egglift.costmodel.profiles.profile import Profile

MOST_STEPS = 4096  # of unrolled loops that are looked at
FIRST_CACHE = 128 << 10  # bytes that stay with the unit of a GPU while its groups work
NEAR = 1 / 16  # the latency of that cache, as a part of the memory's


@dataclass(frozen=True)
class Access:
    """Reads or writes of one place of the source.  `bytes` are those of one access, `count` is over all items."""

    buffer: c.Buffer
    at: Index
    bytes: int
    count: float
    store: bool
    loops: tuple[tuple[Var, int], ...]  # the enclosing loops, outermost first, with their trips
    lane: Var | None
    rolled: bool = False  # is one of the loops not unrolled?


@dataclass(frozen=True)
class _Loads:
    """Loads of global memory that are on their way together: their bytes, and how far the slowest of them goes.

    far: its latency as a part of that of the memory; a buffer that stays in a unit's cache is nearer.
    """

    bytes: float = 0.0
    far: float = 0.0

    def __add__(self, other: _Loads) -> _Loads:
        return _Loads(self.bytes + other.bytes, max(self.far, other.far))

    def __rmul__(self, times: float) -> _Loads:
        return _Loads(times * self.bytes, self.far if times else 0.0)


@dataclass
class Tally:
    """Totals over all work-items, except `chain` and `waits`, which are of the busiest work-item.

    `chains` is the sum of all work-items' chains.
    """

    issue: float = 0.0  # simple instructions
    chain: float = 0.0  # dependent operations: a loop that adds to one accumulator cannot overlap them
    chains: float = 0.0
    waits: float = 0.0  # rounds of global loads, each of which the work-item waits for, in latencies of the memory
    barriers: float = 0.0
    flops: float = 0.0
    fast: int = 0  # the dimension along which work-items are neighbours
    flight: float = 0.0  # global bytes that one item has in flight in its busiest loop
    unread: float = 0.0  # the part of private arrays that is never read
    held: int = 0  # bytes of private arrays that the loop uses in which most of the time is spent
    share: float = 1.0  # of the work-items, for that loop
    accesses: list[Access] = field(default_factory=list)


@dataclass(frozen=True)
class _Here:
    """Where the walk is: executions per work-item, the share of work-items that come here, enclosing loops."""

    times: float
    share: float
    loops: tuple[tuple[Var, int], ...]
    unrolled: tuple[Var, ...] = ()
    ahead: frozenset[c.Buffer] = frozenset()  # registers that the next step of a loop reads, not this one
    read: Mapping[c.Buffer, Places] = field(default_factory=dict)  # which elements of arrays of registers are read

    @property
    def kinds(self) -> dict[Var, bool]:
        """The enclosing loops; is each unrolled?"""
        return {v: v in self.unrolled for v, _ in self.loops}

    def steps(self, at: Index) -> float:
        """How often one place is written, one after the other: the trips of the loops that `at` does not move with."""
        return prod((n for v, n in self.loops if at.coefficient(v) == 0), start=1.0)


def tally(kernel: c.Kernel, profile: Profile) -> Tally:
    """What `kernel` does in one launch, in the units of `Tally`."""
    items = 1
    for n in kernel.global_size:
        items *= n
    total = Tally(fast=next((d for d, n in enumerate(kernel.local_size) if n > 1), 0))
    read = read_places(kernel.body)
    held = sum(b.scalar.size * b.size for b in read)
    total.unread = sum(b.scalar.size * int((~places).sum()) for b, places in read.items()) / max(1, held)
    total.held, total.share = _hottest(kernel.body)
    here = _Here(1.0, 1.0, (), read=read)
    _wait(_walk(kernel.body, here, total, items, profile), here, total)
    alone = [a for a in total.accesses if not (profile.kind == "gpu" and a.buffer.space == "global") or a.store]
    total.accesses = [*_together(alone), *_side_by_side([a for a in total.accesses if a not in alone])]
    return total


def _hottest(body: tuple[c.Statement, ...]) -> tuple[int, float]:
    """Of the innermost rolled loop that runs most often: bytes of private arrays it uses, and its share of work-items.

    Of the whole kernel, where it has no such loop.
    """
    often, hot, part = 0.0, body, 1.0
    stack: list[tuple[tuple[c.Statement, ...], float, float]] = [(body, 1.0, 1.0)]
    while stack:
        block, times, share = stack.pop()
        for s in block:
            match s:
                case c.Loop(_, trips, inner, unroll):
                    if not unroll and times * trips * share > often and not _has_rolled(inner):
                        often, hot, part = times * trips * share, inner, share
                    stack.append((inner, times * trips, share))
                case c.If(_, inner, most, otherwise):  # with an otherwise, there is work either way
                    stack += [(inner, times, share if otherwise else share * most), (otherwise, times, share)]
    used = {a.buffer for a in accesses(hot) if a.buffer.space == "private"}
    return sum(b.size * b.lanes * b.scalar.size for b in used), part


def _has_rolled(body: tuple[c.Statement, ...]) -> bool:
    """Is there a loop in it that is not unrolled?"""
    for s in body:
        match s:
            case c.Loop(_, _, inner, unroll) if not unroll or _has_rolled(inner):
                return True
            case c.If(_, inner, _, otherwise) if _has_rolled(inner) or _has_rolled(otherwise):
                return True
    return False


def _together(accesses: list[Access]) -> list[Access]:
    """Accesses that differ by a constant only, as one wider access: what an unrolled loop reads side by side."""
    groups: dict[tuple[object, ...], list[Access]] = {}
    for a in accesses:
        groups.setdefault((a.buffer, a.at.terms, a.store, a.loops, a.lane, a.bytes), []).append(a)
    merged = []
    for same in groups.values():
        places = len({a.at.constant for a in same})
        count = sum(a.count for a in same) / places
        merged.append(replace(same[0], bytes=same[0].bytes * places, count=count))
    return merged


def _side_by_side(loads: list[Access]) -> list[Access]:
    """Loads of global memory within a sector of each other as one: the cache has what the first of them brought."""
    groups: dict[tuple[object, ...], list[Access]] = {}
    for a in loads:
        first = a.at.substitute({a.lane: 0}) if a.lane is not None and a.bytes > a.buffer.scalar.size else a.at
        groups.setdefault((a.buffer, first.terms, a.loops), []).append(replace(a, at=first))
    merged = []
    for same in groups.values():
        same.sort(key=lambda a: a.at.constant)
        last, end = same[0], 0
        for a in same:
            start = (a.at.constant - last.at.constant) * a.buffer.scalar.size
            if a is not last and (start > end + SECTOR or not a.count / 2 <= last.count <= 2 * a.count):
                merged.append(last)
                last, end, start = a, 0, 0
            end = max(end, start + a.bytes)
            last = replace(last, bytes=end, count=max(last.count, a.count))
        merged.append(last)
    return merged


def _walk(body: tuple[c.Statement, ...], here: _Here, total: Tally, items: int, profile: Profile) -> _Loads:
    """Add the statements of a block; what it loads from global memory before it waits is returned."""
    chain, flight = 0.0, _Loads()
    if here.loops:
        here = replace(here, ahead=here.ahead | _ahead(body))
    for s in body:
        match s:
            case c.Let(_, value, lane):
                flight += _statement(value, None, lane, here, total, items, profile)
            case c.Store(buffer, at, value, lane):
                part = needed(s, here.read)
                there = replace(here, times=here.times * part) if part < 1 else here
                loaded = _statement(value, (buffer, at), lane, there, total, items, profile)
                flight += part * loaded if buffer not in here.ahead else _Loads()
                if buffer.space == "private" and _reads(value, buffer):
                    chain = max(chain, _depth(value, profile) * here.steps(at))
            case c.Loop(var, trips, inner, unroll):
                inside = replace(
                    here,
                    times=here.times * trips,
                    loops=(*here.loops, (var, trips)),
                    unrolled=(*here.unrolled, var) if unroll else here.unrolled,
                )
                loaded = _walk(inner, inside, total, items, profile)
                if unroll:  # all trips' loads are on their way together
                    flight += trips * loaded
                else:
                    _wait(loaded, inside, total)
                    total.issue += 2 * trips * here.times * here.share * items
            case c.If(conditions, inner, share, otherwise):
                total.issue += len(conditions) * here.times * here.share * items
                branches = (inner, share), (otherwise, 1 - share)
                flight += max(
                    (_walk(b, replace(here, share=here.share * part), total, items, profile) for b, part in branches),
                    key=lambda loads: loads.bytes,
                )
            case c.Barrier():
                total.barriers += here.times
    if here.loops:
        total.chain += chain
        total.chains += chain * here.share * items
    return flight


def _wait(loaded: _Loads, here: _Here, total: Tally) -> None:
    """A round of such loads every time that a work-item comes here."""
    if loaded.bytes:
        total.waits += here.times * loaded.far
        total.flight = max(total.flight, loaded.bytes)


def _statement(
    value: c.Value,
    target: tuple[c.Buffer, Index] | None,
    lane: Var | None,
    here: _Here,
    total: Tally,
    items: int,
    profile: Profile,
) -> _Loads:
    """Add one statement; what it loads from global memory for one work-item is returned."""
    count = here.times * here.share * items
    lanes = lane.count if lane else 1
    flight, stack, seen = _Loads(), [value], set()
    if target:
        total.issue += count * _memory_issue(*target, lane, here, profile)
        _access(total, *target, True, lane, count, here)
    while stack:
        v = stack.pop()
        if id(v) in seen:
            continue
        seen.add(id(v))
        match v:
            case c.Load(buffer, at) if buffer.space == "constant" and _is_uniform(at):
                pass  # part of the instruction that uses it
            case c.Load(buffer, at):
                again = _distinct(at, here) if buffer.space == "local" else 1.0
                total.issue += count * again * _memory_issue(buffer, at, lane, here, profile)
                _access(total, buffer, at, False, lane, count * again, here)
                if buffer.space == "global":
                    far = NEAR if buffer.scalar.size * buffer.size <= FIRST_CACHE else 1.0
                    flight += _Loads(buffer.scalar.size * (lanes if _varies(at, lane) else 1), far)
            case c.Call(op, args, type):
                cost = _op_cost(op, args, profile)
                total.issue += count * cost * _registers(lanes, type.size, profile) * _type_cost(type.name, profile)
                total.flops += count * lanes * (op in ("add", "sub", "mul", "div", "fma"))
                stack.extend(args)
            case c.Guarded(at, _, inside, outside):
                total.issue += count * (2 * lanes if _varies(at, lane) else 2)
                stack += [inside, outside]
            case _:
                pass
    return flight


def _distinct(at: Index, here: _Here) -> float:
    """The part of the steps of unrolled loops that read another place than all steps before: compilers read it once."""
    return _part_distinct(tuple((at.coefficient(v), n) for v, n in here.loops if v in here.unrolled))


@cache
def _part_distinct(steps: tuple[tuple[int | None, int], ...]) -> float:
    trips = prod(n for _, n in steps)
    if not 1 < trips <= MOST_STEPS or any(k is None for k, _ in steps):
        return 1.0
    places = {0}
    for k, n in steps:
        places = {x + (k or 0) * i for x in places for i in range(n)}
    return len(places) / trips


def _is_uniform(at: Index) -> bool:
    """Is the index the same for all work-items of a group and all lanes?"""
    return not any(v.role in ("local", "global", "warp", "lane") for v in at.variables())


def _op_cost(op: str, args: tuple[c.Value, ...], profile: Profile) -> float:
    if op in ("add", "sub") and any(isinstance(a, c.Call) and a.op == "mul" for a in args):
        return 0.0  # contracted with its multiplication
    return profile.op_costs.get(op, 1.0)


def _type_cost(name: str, profile: Profile) -> float:
    return profile.type_costs.get(name, 1.0)


def _registers(lanes: int, size: int, profile: Profile) -> int:
    """Instructions that one operation on `lanes` values takes."""
    return -(-lanes * size // profile.simd_bytes) if lanes > 1 else 1


def _varies(at: Index, lane: Var | None) -> bool:
    return lane is not None and at.coefficient(lane) != 0


def _memory_issue(buffer: c.Buffer, at: Index, lane: Var | None, here: _Here, profile: Profile) -> float:
    """Instructions of one access, its address included."""
    if buffer.space == "private":
        return 0.0
    if here.loops:  # what no rolled loop changes is computed once
        simple, other = varying(at, here.kinds)
        address = 0.5 * simple + 4 * other
    else:
        address = 0.5 * len(at.terms) + 4 * sum(not isinstance(a, Var) for a, _ in at.terms)
    if lane is None or not _varies(at, lane):
        return 1.0 + address
    if at.coefficient(lane) == 1:
        width = 16 if profile.kind == "gpu" else profile.simd_bytes
        return -(-lane.count * buffer.scalar.size // width) + address
    return lane.count * (1.0 if here.loops else 1.5) + address


def _ahead(body: tuple[c.Statement, ...]) -> frozenset[c.Buffer]:
    """Registers loaded from global memory in a loop's body after their last use there: the next step waits for them."""
    loaded: dict[c.Buffer, int] = {}
    used: dict[c.Buffer, int] = {}
    for position, a in enumerate(accesses(body)):
        if a.buffer.space == "private":
            copied = isinstance(a.statement, c.Store) and isinstance(a.statement.value, c.Load)
            (loaded if a.write and copied else used)[a.buffer] = position
    return frozenset(b for b, last in loaded.items() if used.get(b, last) < last)


def _access(
    total: Tally, buffer: c.Buffer, at: Index, store: bool, lane: Var | None, count: float, here: _Here
) -> None:
    if buffer.space in ("global", "local"):
        lanes = lane.count if lane is not None and _varies(at, lane) else 1
        size, rolled = buffer.scalar.size, not all(here.kinds.values())
        if lane is not None and lanes > 1 and at.coefficient(lane) != 1:
            total.accesses.append(Access(buffer, at, size, count * lanes, store, here.loops, lane, rolled))
        else:
            total.accesses.append(Access(buffer, at, size * lanes, count, store, here.loops, lane, rolled))


def _reads(value: c.Value, buffer: c.Buffer) -> bool:
    match value:
        case c.Load(b, _):
            return b is buffer
        case c.Call(_, args, _):
            return any(_reads(a, buffer) for a in args)
        case c.Guarded(_, _, inside, outside):
            return _reads(inside, buffer) or _reads(outside, buffer)
    return False


def _depth(value: c.Value, profile: Profile) -> float:
    """Dependent operations from the accumulator's old value to its new one (at least one)."""
    match value:
        case c.Call(op, _, _):
            return max(1.0, min(profile.op_costs.get(op, 1.0), 4.0))
        case _:
            return 1.0
