"""Counting what a kernel does: an abstract interpretation of its statements, no device needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import frexp, inf, prod

from egglift.codegen.kernel import imperative as c
from egglift.codegen.kernel.accesses import accesses
from egglift.codegen.kernel.index import OWN, Index, Var
from egglift.codegen.kernel.index_numbers import Lanes
from egglift.codegen.kernel.walk import operands, subvalues, walk
from egglift.codegen.opencl.vectors import HALVED
from egglift.costmodel.model.coalescing import DIVERGED, diverged, ids, varying
from egglift.costmodel.model.counted_accesses import CountedAccess, leap, side_by_side, together
from egglift.costmodel.model.dead_registers import Places, needed, read_places
from egglift.costmodel.model.rows_of_lanes import waiting
from egglift.costmodel.model.usual_trips import usual_trips
from egglift.costmodel.profiles.profile import Profile
from egglift.ir.deadline import require_time
from egglift.ir.types import Scalar

MOST_STEPS = 4096  # of unrolled loops that are looked at
FIRST_CACHE = 128 << 10  # bytes that stay with the unit of a GPU while its groups work
LEAP = 8.0  # instructions' worth of waiting where a loop of a CPU's work-item goes on by a page
LOOKS = 4  # barriers, and rounds of loads, until a group knows what precedes it
COPIED_AHEAD = 0.5  # of a wait for memory that is left where one step is copied ahead; of several half as much
MATRIX_ROWS = 8  # of a matrix that a warp reads into fragments
FRAGMENT_CHAIN = 16.0  # dependent operations that a product of fragments takes as long as
EXCHANGED = 32.0  # instructions' worth of reading a place, and writing it where it is as it was read
NEAR = 1 / 16  # the latency of that cache, as a part of the memory's


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
    products: float = 0.0  # what matrix units multiply, in simple instructions that take as long
    fed: float = 0.0  # bytes of local memory that matrix units read on their own
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
    often: float = 1.0  # steps of that loop, of all work-items
    step: float = 0.0  # instructions of the longest part without rolled loops
    accesses: list[CountedAccess] = field(default_factory=list)


@dataclass(frozen=True)
class _Here:
    """Where the walk is: executions per work-item, the share of work-items that come here, enclosing loops."""

    times: float
    share: float
    loops: tuple[tuple[Var, int], ...]
    unrolled: tuple[Var, ...] = ()
    ahead: frozenset[c.Buffer] = frozenset()  # registers that the next step of a loop reads, not this one
    read: Mapping[c.Buffer, Places] = field(default_factory=dict)  # which elements of arrays of registers are read

    begun: Mapping[c.Buffer, int] = field(default_factory=dict)  # within how many loops an accumulator begins anew

    @property
    def kinds(self) -> dict[Var, bool]:
        """The enclosing loops; is each unrolled?"""
        return {v: v in self.unrolled for v, _ in self.loops}

    def steps(self, buffer: c.Buffer, at: Index) -> float:
        """How often one place is written, one after the other: the trips of the loops that `at` does not move with."""
        loops = self.loops[self.begun.get(buffer, 0) :]
        return prod((n for v, n in loops if at.coefficient(v) == 0), start=1.0)


def tally(kernel: c.PlannedKernel, profile: Profile) -> Tally:
    """What `kernel` does in one launch, in the units of `Tally`."""
    items = 1
    for n in kernel.global_size:
        items *= n
    total = Tally(fast=next((d for d, n in enumerate(kernel.local_size) if n > 1), 0))
    read = read_places(kernel.body)
    held = sum(b.scalar.size * b.size for b in read)
    total.unread = sum(b.scalar.size * int((~places).sum()) for b, places in read.items()) / max(1, held)
    total.held, total.share, often = _hottest(kernel.body)
    total.often = often * items
    here = _Here(1.0, 1.0, (), read=read)
    local = ids(kernel.local_size, profile.warp)
    counter = _Counter(total, items, profile, local, _read_apart(kernel.body) if profile.kind == "cpu" else frozenset())
    counter.wait(counter.block(kernel.body, here), here)
    total.step = max(total.step, (total.issue - counter.looped) / items)
    kinds: dict[bool, list[CountedAccess]] = {True: [], False: []}
    for a in total.accesses:
        kinds[profile.kind == "gpu" and a.buffer.space == "global" and not a.store].append(a)
    total.accesses = [*together(kinds[False]), *side_by_side(kinds[True])]
    if profile.kind == "cpu":
        total.issue += LEAP * sum(a.count * leap(a) for a in total.accesses if a.buffer.space == "global")
        total.issue += waiting(total.accesses, profile.line_bytes)
    return total


def _hottest(body: tuple[c.Statement, ...]) -> tuple[int, float, float]:
    """Of the innermost rolled loop that runs most often: bytes of private arrays in registers that it uses, its share
    of work-items, and its steps for each of them.

    Of the whole kernel, where it has no such loop.
    """
    often, hot, part = 0.0, body, 1.0
    stack: list[tuple[tuple[c.Statement, ...], float, float]] = [(body, 1.0, 1.0)]
    while stack:
        block, times, share = stack.pop()
        for s in block:
            match s:
                case c.Loop(_, _, inner, unroll):
                    trips = usual_trips(s)
                    if not unroll and times * trips * share > often and not _has_rolled(inner):
                        often, hot, part = times * trips * share, inner, share
                    stack.append((inner, times * trips, share))
                case c.If(_, inner, most, otherwise):  # with an otherwise, there is work either way
                    stack += [(inner, times, share if otherwise else share * most), (otherwise, times, share)]
    used = {a.buffer for a in accesses(hot) if a.buffer.space == "private"}
    used -= {a.buffer for a in accesses(body) if _is_walked(a.at, {loop.var: loop.unroll for loop in a.path})}
    return sum(b.size * b.lanes * b.scalar.size for b in used), part, max(often, 1.0)


def _is_walked(at: Index, unrolled: Mapping[Var, bool]) -> bool:
    """Does a loop that is not unrolled move an index?  An array with such an index is memory, not registers."""
    return any(not unrolled.get(v, True) for v in at.variables())


def _read_apart(body: tuple[c.Statement, ...]) -> frozenset[c.Buffer]:
    """Private arrays of scalars that are read, and never by lanes."""
    reads = [a for a in accesses(body) if a.buffer.space == "private" and a.buffer.lanes == 1 and not a.write]
    return frozenset(a.buffer for a in reads) - {a.buffer for a in reads if _varies(a.at, a.lane)}


def _has_rolled(body: tuple[c.Statement, ...]) -> bool:
    """Is there a loop in it that is not unrolled?"""
    return any(isinstance(s, c.Loop) and not s.unroll for s in walk(body))


@dataclass
class _Counter:
    """Adds up in `total` what a kernel of so many work-items does."""

    total: Tally
    items: int
    profile: Profile
    local: tuple[Lanes, ...]  # the local ids of a warp's lanes
    apart: frozenset[c.Buffer]  # arrays of registers whose elements are read one by one, not by lanes
    looped: float = 0.0  # what is issued in rolled loops

    def block(self, body: tuple[c.Statement, ...], here: _Here) -> _Loads:
        """Add the statements of a block; what it loads from global memory before it waits is returned."""
        chain, flight = 0.0, _Loads()
        if here.loops:
            here = replace(here, ahead=here.ahead | _ahead(body))
        for s in body:
            require_time()
            match s:
                case c.Let(_, value, lane):
                    flight += self._statement(value, None, lane, here)
                case c.Store(buffer, at, value, lane):
                    flight += self._store(s, here)
                    if buffer.space == "private" and _reads(value, buffer):
                        chain = max(chain, _depth(value, self.profile) * here.steps(buffer, at))
                    elif buffer.space == "private" and self.profile.kind == "cpu":  # goes on with what comes next
                        here = replace(here, begun={**here.begun, buffer: len(here.loops)})
                case c.FragmentProduct():
                    chain = max(chain, FRAGMENT_CHAIN * here.steps(s.totals[0].buffer, s.totals[0].at))
                    self._fragment_product(s, here)
                case c.FragmentLoad():
                    self._fragment_load(s, here)
                case c.Loop():
                    flight += self._loop(s, here)
                case c.If():
                    flight += self._branches(s, here)
                case c.Barrier():
                    self.total.barriers += here.times
                case c.LookBack():  # two rounds of words, mostly
                    self.total.barriers += LOOKS * here.times
                    self.total.waits += LOOKS * here.times
                case c.AwaitCopies(count):
                    self.total.waits += here.times * COPIED_AHEAD / min(2, count + 1)
        if here.loops:
            self.total.chain += chain
            self.total.chains += chain * here.share * self.items
        return flight

    def wait(self, loaded: _Loads, here: _Here) -> None:
        """A round of such loads every time that a work-item comes here."""
        if loaded.bytes:
            self.total.waits += here.times * loaded.far
            self.total.flight = max(self.total.flight, loaded.bytes)

    # ------------------------------------------------------------------------------------ statements

    def _fragment_product(self, s: c.FragmentProduct, here: _Here) -> None:
        count, unit = here.times * here.share * self.items, s.unit
        products = unit.rows * unit.columns * unit.steps / s.lanes  # of each lane
        self.total.issue += count
        self.total.products += count * products * matrix_cost(unit, self.profile)
        self.total.flops += 2 * count * products
        if s.lying:
            self.total.fed += count / s.lanes * (unit.rows + unit.columns) * unit.steps * unit.scalar.size

    def _fragment_load(self, s: c.FragmentLoad, here: _Here) -> None:
        """One instruction; the lanes that give addresses read rows of 16 bytes."""
        count = here.times * here.share * self.items
        self.total.issue += count * self._memory_issue(s.source.buffer, s.source.at, s.lane, here)
        rows = len(s.into) * MATRIX_ROWS / self.profile.warp
        self._access(s.source.buffer, s.source.at, False, s.lane, count * rows, here)

    def _store(self, s: c.Store, here: _Here) -> _Loads:
        part = needed(s, here.read)
        there = replace(here, times=here.times * part) if part < 1 else here
        loaded = self._statement(s.value, (s.buffer, s.at), s.lane, there)
        if s.atomic:
            self.total.issue += there.times * there.share * self.items * _atomic(s.buffer, self.profile.warp)
        if s.asynchronous:  # one instruction, past registers; the steps before the one that reads it do not wait
            self.total.issue -= there.times * there.share * self.items
            return _Loads(part * loaded.bytes, 0.0)
        if s.lane is not None and s.buffer in self.apart:  # each lane is taken out of the vector
            self.total.issue += there.times * there.share * self.items * s.lane.count
        # what the next step reads is on its way while this one computes: nothing waits for it
        return part * loaded if s.buffer not in here.ahead else _Loads(part * loaded.bytes, 0.0)

    def _loop(self, s: c.Loop, here: _Here) -> _Loads:
        trips = usual_trips(s)
        inside = replace(
            here,
            times=here.times * trips,
            loops=(*here.loops, (s.var, s.trips)),
            unrolled=(*here.unrolled, s.var) if s.unroll else here.unrolled,
        )
        before, around, self.looped = self.total.issue, self.looped, 0.0
        loaded = self.block(s.body, inside)
        if not s.unroll:
            body = self.total.issue - before
            steps = trips * here.times * here.share * self.items
            self.total.step = max(self.total.step, (body - self.looped) / max(steps, 1.0))
            self.looped = body
        self.looped += around
        if s.unroll:  # all trips' loads are on their way together
            return s.trips * loaded
        self.wait(loaded, inside)
        self.total.issue += 2 * s.trips * here.times * here.share * self.items
        return _Loads()

    def _branches(self, s: c.If, here: _Here) -> _Loads:
        self.total.issue += len(s.conditions) * here.times * here.share * self.items
        branches = (s.body, s.share), (s.otherwise, 1 - s.share)
        loads = [self.block(body, replace(here, share=here.share * part)) for body, part in branches]
        return max(loads, key=lambda x: x.bytes)

    def _statement(
        self, value: c.ScalarValue, target: tuple[c.Buffer, Index] | None, lane: Var | None, here: _Here
    ) -> _Loads:
        """Add one statement; what it loads from global memory for one work-item is returned."""
        count, flight = here.times * here.share * self.items, _Loads()
        if target:
            self.total.issue += count * self._memory_issue(*target, lane, here, store=True)
            self._access(*target, True, lane, count, here)
        for v in subvalues((value,), operands):
            match v:
                case c.Load(buffer, at) if buffer.space == "constant" and _is_uniform(at):
                    pass  # part of the instruction that uses it
                case c.Load():
                    flight += self._load(v, lane, count, here)
                case c.Call():
                    self._call(v, lane, count)
                case c.Guarded(at):
                    self.total.issue += count * (2 * lane.count if lane and _varies(at, lane) else 2)
        return flight

    def _load(self, v: c.Load, lane: Var | None, count: float, here: _Here) -> _Loads:
        buffer, at = v.buffer, v.at
        if buffer.space == "constant" and self.profile.kind == "gpu":
            lanes = lane.count if lane and _varies(at, lane) else 1
            self.total.issue += count * lanes * DIVERGED * diverged(at, self.local)
        again = _distinct(at, here) if buffer.space == "local" else 1.0
        self.total.issue += count * again * self._memory_issue(buffer, at, lane, here)
        self._access(buffer, at, False, lane, count * again, here)
        if buffer.space != "global":
            return _Loads()
        far = NEAR if buffer.scalar.size * buffer.size <= FIRST_CACHE else 1.0
        return _Loads(buffer.scalar.size * (lane.count if lane and _varies(at, lane) else 1), far)

    def _call(self, v: c.Call, lane: Var | None, count: float) -> None:
        lanes, profile = lane.count if lane else 1, self.profile
        self.total.issue += count * call_cost(v, profile) * _registers(lanes, v.type.computed.size, profile)
        self.total.flops += count * lanes * (v.op in ("add", "sub", "mul", "div", "fma"))

    def _memory_issue(self, buffer: c.Buffer, at: Index, lane: Var | None, here: _Here, store: bool = False) -> float:
        """Instructions of one access, its address included."""
        if buffer.space == "private" and not (self.profile.kind == "cpu" and _is_walked(at, here.kinds)):
            return 0.0  # a register
        if here.loops:  # what no rolled loop changes is computed once
            simple, other = varying(at, here.kinds)
            address = (0.5 * simple + 4 * other) / _offsets(at, here)
        else:
            address = 0.5 * len(at.terms) + 4 * sum(not isinstance(a, Var) for a, _ in at.terms)
        if lane is None or not _varies(at, lane):
            return 1.0 + address
        width = 16 if self.profile.kind == "gpu" else self.profile.simd_bytes
        vectors = -(-lane.count * buffer.scalar.size // width)
        if at.coefficient(lane) == 1:
            return vectors + address
        if at.coefficient(lane) == 2 and not store and lane.count >= HALVED:
            return 2 * vectors + vectors + address  # two for each, and their halves are put together
        return lane.count * (1.0 if here.loops else 1.5) + address

    def _access(self, buffer: c.Buffer, at: Index, store: bool, lane: Var | None, count: float, here: _Here) -> None:
        if buffer.space not in ("global", "local"):
            return
        lanes = lane.count if lane is not None and _varies(at, lane) else 1
        size, rolled = buffer.scalar.size, not all(here.kinds.values())
        if lane is not None and lanes > 1 and at.coefficient(lane) != 1:  # lane by lane
            count *= lanes
        else:
            size *= lanes
        self.total.accesses.append(
            CountedAccess(buffer, at, size, count, store, here.loops, lane, rolled, here.unrolled)
        )


def _offsets(at: Index, here: _Here) -> float:
    """How many places an unrolled loop accesses at constant distances from one address, which is computed once."""
    return prod((n for v, n in here.loops if v in here.unrolled and at.coefficient(v) is not None), start=1.0)


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
    return not any(v.role in OWN for v in at.variables())


def matrix_cost(unit: c.Unit, profile: Profile) -> float:
    """Simple instructions that a multiply-add on matrix units takes as long as: on those for numbers, if not known."""
    return profile.matrix_costs.get(unit.name, profile.type_costs.get(unit.total.name, 1.0))


#: simple instructions of a conversion of narrow types to f32, and of one from it; a profile's op_costs may say others
CONVERSIONS = {"f16": (2.0, 2.0), "bf16": (1.0, 6.0), "tf32": (0.0, 5.0)}


DIVISIONS = ("div", "floordiv", "mod")


def call_cost(v: c.Call, profile: Profile) -> float:
    """Simple instructions that an operation on numbers that fit a register takes."""
    if v.op == "cast" and (v.type.is_narrow or v.args[0].type.is_narrow):
        return _conversion(v.args[0], v.type, profile)
    return _op_cost(v.op, v.args, profile) * profile.type_costs.get(v.type.computed.name, 1.0)


def _conversion(x: c.ScalarValue, t: Scalar, profile: Profile) -> float:
    """What is in registers is converted already."""
    if isinstance(x, c.Load) and x.type.is_narrow and x.buffer.space == "private":
        return 0.0
    narrow = t if t.is_narrow else x.type
    return profile.op_costs.get(f"cast {narrow}", CONVERSIONS[narrow.name][t.is_narrow])


def _op_cost(op: str, args: tuple[c.ScalarValue, ...], profile: Profile) -> float:
    if op in ("add", "sub") and any(isinstance(a, c.Call) and a.op == "mul" for a in args):
        return 0.0  # contracted with its multiplication
    cost = profile.op_costs.get(op, 1.0)
    return min(cost, _by_constant(op, args[1])) if op in DIVISIONS else cost


def _by_constant(op: str, divisor: c.ScalarValue) -> float:
    """Instructions of a division by a constant: compilers multiply, or shift, instead."""
    if not isinstance(divisor, c.Const) or not divisor.value:
        return inf
    halves = abs(frexp(divisor.value)[0]) == 0.5  # a power of two
    return (1.0 if halves else inf) if op == "div" else 2.0 if halves else 6.0


def _atomic(places: c.Buffer, warp: int) -> float:
    """Instructions of an addition to some place, at which lanes meet one another: as many as there are for a place."""
    return (EXCHANGED if places.scalar.is_float else 1.0) * (1 + warp / max(1, places.size))


def _registers(lanes: int, size: int, profile: Profile) -> int:
    """Instructions that one operation on `lanes` values takes."""
    return -(-lanes * size // profile.simd_bytes) if lanes > 1 else 1


def _varies(at: Index, lane: Var | None) -> bool:
    return lane is not None and at.coefficient(lane) != 0


def _ahead(body: tuple[c.Statement, ...]) -> frozenset[c.Buffer]:
    """Registers loaded from global memory in a loop's body after their last use there: the next step waits for them."""
    loaded: dict[c.Buffer, int] = {}
    used: dict[c.Buffer, int] = {}
    for position, a in enumerate(accesses(body)):
        if a.buffer.space == "private":
            copied = isinstance(a.statement, c.Store) and isinstance(a.statement.value, c.Load)
            (loaded if a.write and copied else used)[a.buffer] = position
    return frozenset(b for b, last in loaded.items() if used.get(b, last) < last)


def _reads(value: c.ScalarValue, buffer: c.Buffer) -> bool:
    """Does a value depend on an element of the buffer, indices aside?"""
    return any(isinstance(v, c.Load) and v.buffer is buffer for v in subvalues((value,), operands))


def _depth(value: c.ScalarValue, profile: Profile) -> float:
    """Dependent operations from the accumulator's old value to its new one (at least one)."""
    match value:
        case c.Call(op, _, _):
            return max(1.0, min(profile.op_costs.get(op, 1.0), 4.0))
        case _:
            return 1.0
