"""The state of one kernel's generation: blocks, names, memory, values, and who executes what is being emitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.accesses import value_variables
from egglift.codegen.kernel.conditions import Condition, has_lane, share
from egglift.codegen.kernel.distribution import WARP, Distribution, Shape
from egglift.codegen.kernel.folding import chosen, known
from egglift.codegen.kernel.imperative import Buffer, DeviceLimits, ScalarValue, Statement
from egglift.codegen.kernel.index import ZERO, Data, Index, Var, assuming, index
from egglift.codegen.kernel.index_values import in_i32, of_indices
from egglift.codegen.kernel.ownership import Layout
from egglift.codegen.kernel.unroll_register_loops import SHORT, indexes_registers
from egglift.codegen.kernel.views import EXCHANGED, LINE, PATTERN, View, memory
from egglift.codegen.opencl.names import Names
from egglift.ir.errors import CodegenError
from egglift.ir.inner_program import WRITTEN
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.types import I32, U64, Scalar, Type, leaves

SHARED = 2  # times the local memory that there is may be asked for, as tiles may share it (kernel/shared_tiles.py)
ALONE = 16  # times the private memory of a work-item for one that has its group to itself


@dataclass
class Block:
    """Statements under construction, and what was known before them of what is remembered for them."""

    statements: list[Statement] = field(default_factory=list)
    before: list[tuple[Any, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Target:
    """Where a value goes: an acceptor and the memory space of its places."""

    view: View
    space: str


class NotVector(Exception):
    """What is emitted cannot be a vector statement; the lanes are then executed one after the other."""


class Builder:
    """Everything of a kernel that is neither the translation of a pattern nor its text."""

    def __init__(self, shape: Shape, limits: DeviceLimits, taken: tuple[str, ...] = ()) -> None:
        self.shape, self.limits = shape, limits
        self.names = Names(taken)
        self._largest: Expr | None = None  # what was given local memory last
        self.states: list[Buffer] = []
        self.constant_names = self.names  # of a plan's kernels, shared: their literal arrays are one program's
        self.distribution = Distribution()
        self.blocks = [Block()]
        self._known: dict[Any, Any] = {}  # views that are computed, in the block under construction or around it
        self.params: list[Buffer] = []
        self.locals: list[Buffer] = []
        self.constants: dict[Any, Buffer] = {}
        self.free_locals: list[Buffer] = []
        self.private_bytes = 0
        #: accumulators of the work-group whose memory is decided at the end (emission/register_accumulators.py), and
        #: what they are of
        self.undecided: dict[Buffer, Expr] = {}
        self.spread: dict[Buffer, Layout] = {}
        self.registers: dict[str, Expr] = {}  # those that came to be private memory, by name
        self.varying: set[int] = set()  # ids of values that differ between the lanes of a vector
        self._pool: dict[Any, Any] = {}
        self._data = 0

    # ------------------------------------------------------------------------------------ blocks

    def put(self, *statements: Statement) -> None:
        """Append to the block under construction."""
        self.blocks[-1].statements.extend(statements)

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """A block of its own: what is emitted inside goes into the list given."""
        self.blocks.append(Block())
        try:
            yield self.blocks[-1].statements
        finally:
            for key, value in reversed(self.blocks.pop().before):
                if value is None:
                    del self._known[key]
                else:
                    self._known[key] = value

    def known(self, key: Any) -> Any:
        """What was remembered under `key` by this block or one around it, or None."""
        return self._known.get(key)

    def remember(self, key: Any, value: Any) -> None:
        """Keep `value` under `key` for the rest of this block."""
        self.blocks[-1].before.append((key, self._known.get(key)))
        self._known[key] = value

    @contextmanager
    def probe(self) -> Iterator[list[Statement]]:
        """A block that is thrown away: to see what a view looks like."""
        before = self.private_bytes, list(self.locals), list(self.free_locals)
        try:
            with self.block() as statements:
                yield statements
        finally:
            self.private_bytes, self.locals, self.free_locals = before

    @contextmanager
    def scratch(self) -> Iterator[None]:
        """Local memory allocated inside may be used again afterwards."""
        before = len(self.locals), list(self.free_locals)
        yield
        taken = [b for b in before[1] if b not in self.free_locals]
        self.free_locals.extend(taken + [b for b in self.locals[before[0] :] if b not in self.free_locals])

    @contextmanager
    def running(self, **changes: Any) -> Iterator[None]:
        """Emit for a distribution of work that differs from the present one by `changes`."""
        before = self.distribution
        self.distribution = replace(before, **changes)
        try:
            yield
        finally:
            self.distribution = before

    # ------------------------------------------------------------------------------------ control

    def loop(
        self,
        n: int,
        body: Callable[[Index], None],
        unroll: bool = False,
        stem: str = "i",
        matrix: bool = False,
        ends: Callable[[Index], Condition | None] = lambda i: None,
    ) -> None:
        """`body(i)` for i = 0 .. n-1, in order.  A length that a call says is looped through, whatever it is.

        ends: where the loop may end, if something says so.
        """
        fixed = not isinstance(n, Length)
        if fixed and n == 1:
            body(ZERO)
        if fixed and n <= 1:
            return
        var = Var(self.names.numbered(stem), n, "loop")
        with self.block() as inner:
            body(index(var))
        if inner:
            unroll = fixed and (unroll or (n <= SHORT and indexes_registers(inner, var)))
            self.put(im.Loop(var, n, tuple(inner), unroll, matrix=matrix, ends=ends(index(var))))

    def strided(
        self, me: Index, team: int, n: int, body: Callable[[Index], None], inside: bool, unroll: bool = False
    ) -> None:
        """`body(i)` for i = me, me + team, ... below n: how `team` executors share n elements.

        inside: the executors go their own ways in the body (a guard may be an `if` around it); otherwise all of
        a group enter the body, and its steps are guarded one by one.  unroll: the number of trips is the same for
        all, and the last one is guarded.
        """
        if n <= 0:
            return
        if (team == 1 and n == 1) or (n == 1 and not me.terms):
            return body(ZERO)
        trips = -(-n // team)
        if trips == 1:
            return self._guarded(me, n, body, inside)
        var = Var(self.names.numbered("i"), trips, "loop")
        at = me + index(var) * team
        with self.block() as inner:
            if n % team == 0:
                body(at)
            elif inside and unroll:
                self._guarded(at, n, body, inside)
            elif inside:
                with assuming((at, 0, n - 1)):
                    body(at)
            else:
                self._guarded(at, n, body, False)
        if inner:
            until = (at, n) if n % team and inside and not unroll else None
            self.put(im.Loop(var, trips, tuple(inner), unroll, until))

    def _guarded(self, at: Index, n: int, body: Callable[[Index], None], inside: bool) -> None:
        if at.range[1] < n:
            body(at)
        elif inside:
            with self.when((at, n)):
                body(at)
        else:  # who has no element goes along with the last one, but takes no step
            last = at.clamp(n)
            with self.running(guards=(*self.distribution.guards, (at, n))):
                body(last)

    @contextmanager
    def when(self, *conditions: Condition) -> Iterator[None]:
        """An `if` around what is emitted inside; conditions that always hold are dropped."""
        open_ = tuple((e, n) for e, n in conditions if e.range[1] >= n)
        facts = tuple((e, e.range[0], n - 1) for e, n in open_)
        with self.block() as inner, assuming(*facts):
            yield
        match inner:
            case [im.If(more, body, _, ())] if open_ and more:  # one `if` for both
                self.put(im.If(open_ + more, body, share(open_ + more)))
            case [_, *_] if open_:
                self.put(im.If(open_, tuple(inner), share(open_)))
            case _:
                self.put(*inner)

    @contextmanager
    def step(self) -> Iterator[None]:
        """A step of the work-group, inside which its work-items go their own ways and exchange nothing.

        Kept as an `If` without conditions until the barriers are in place (codegen/kernel/barriers.py).
        """
        if self.distribution.inside:
            yield
            return
        guards = self.distribution.guards
        with self.block() as inner, self.running(inside=True, guards=()), self.when(*guards):
            yield
        if inner:
            self.put(im.If((), tuple(inner)))

    # ------------------------------------------------------------------------------------ ids

    def local_id(self, d: int) -> Index:
        """The work-item's id in dimension `d` of its group."""
        if d == 0 and self.shape.warps:
            return self.warp_id() * WARP + self.lane_id()
        return _id(f"l{d}", self.shape.local[d], "local", d)

    def warp_id(self) -> Index:
        """The number of the work-item's warp in its group."""
        return _id("warp", self.warps, "warp", 0)

    @property
    def warps(self) -> int:
        """How many warps a group has."""
        return self.shape.local[0] // WARP

    def lane_id(self) -> Var:
        """The number of the work-item in its warp."""
        return Var("lane", WARP, "local")

    def group_id(self, d: int) -> Index:
        """The group's id in dimension `d`."""
        return _id(f"w{d}", self.shape.groups[d], "workgroup", d)

    def global_id(self, d: int) -> Index:
        """The work-item's id in dimension `d` of the whole grid."""
        return _id(f"g{d}", self.shape.groups[d] * self.shape.local[d], "global", d)

    def free_items(self) -> list[tuple[Index, int]]:
        """The ids within the group that do not distribute work yet, fastest first, with their counts."""
        found = []
        for d in range(3):
            if d == 0 and self.distribution.warp and d not in self.distribution.locals:
                found.append((index(self.lane_id()), WARP))
            elif d not in self.distribution.locals and self.shape.local[d] > 1:
                found.append((self.local_id(d), self.shape.local[d]))
        return found

    def free_groups(self) -> list[tuple[Index, int]]:
        """The ids of groups that do not distribute work yet."""
        return [
            (self.group_id(d), n)
            for d, n in enumerate(self.shape.groups)
            if n > 1 and d not in self.distribution.groups
        ]

    def team(self, space: str) -> tuple[Index, int]:
        """A flat id of the executors that could share work whose result goes to `space`, and their number."""
        me, count = ZERO, 1
        if space != "private":
            for i, n in self.free_items() + (self.free_groups() if space == "global" else []):
                me, count = me + i * count, count * n
        return me, count

    def alone_of_items(self, space: str) -> tuple[Condition, ...]:
        """Conditions under which exactly one of a group's free work-items writes to `space`."""
        return () if space == "private" else tuple((i, 1) for i, _ in self.free_items())

    def alone_of_groups(self, space: str) -> tuple[Condition, ...]:
        """Conditions under which exactly one of the free work-groups writes to `space`."""
        return tuple((i, 1) for i, _ in self.free_groups()) if space == "global" else ()

    def alone(self, space: str) -> tuple[Condition, ...]:
        """Conditions under which exactly one of the free executors writes to `space`."""
        return self.alone_of_items(space) + self.alone_of_groups(space)

    # ------------------------------------------------------------------------------------ values (hash-consed)

    def _cons(self, key: Any, make: Callable[[], Any]) -> Any:
        found = self._pool.get(key)
        if found is None:
            found = self._pool[key] = make()
        return found

    def const(self, value: bool | int | float, t: Scalar) -> im.Const:
        """A number of type `t`."""
        bits = value.hex() if isinstance(value, float) else value
        made: im.Const = self._cons(("const", bits, t), lambda: im.Const(value, t))
        return made

    def load(self, buffer: Buffer, at: Index) -> im.Load:
        """An element of memory; a global buffer becomes a parameter of the kernel."""
        if buffer.space == "global" and buffer not in self.params:
            self.params.append(buffer)
        made: im.Load = self._cons(("load", id(buffer), at), lambda: im.Load(buffer, at))
        if buffer.lanes > 1 or has_lane(at):
            self.varying.add(id(made))
        return made

    def number(self, at: Index, t: Scalar) -> ScalarValue:
        """An index as a number of type `t`."""
        made: im.IndexValue = self._cons(("index", at, t), lambda: im.IndexValue(at, t))
        if has_lane(at):
            self.varying.add(id(made))
        return made

    def call(self, op: str, args: tuple[ScalarValue, ...], t: Scalar) -> ScalarValue:
        """A scalar function's value, of type `t`."""
        self.require(t)
        if (number := known(op, args, t)) is not None:
            return self.const(number, t.computed)
        if (choice := chosen(op, args, t)) is not None:
            return choice
        if (at := of_indices(op, args, t)) is not None:
            return self.number(at, t)
        if (narrow := in_i32(op, args, t)) is not None:
            args = tuple(self.number(i, I32) if i.terms else self.const(i.constant, I32) for i in narrow)
        made: im.Call = self._cons((op, tuple(map(id, args)), t), lambda: im.Call(op, args, t))
        if any(id(a) in self.varying for a in args):
            self.varying.add(id(made))
        return made

    def guarded(self, at: Index, n: int, inside: ScalarValue, outside: ScalarValue) -> ScalarValue:
        """`0 <= at < n ? inside : outside`."""
        key = ("guarded", at, n, id(inside), id(outside))
        made: im.Guarded = self._cons(key, lambda: im.Guarded(at, n, inside, outside))
        if has_lane(at) or id(inside) in self.varying or id(outside) in self.varying:
            self.varying.add(id(made))
        return made

    def bind(self, value: ScalarValue) -> im.Name:
        """`const T name = value;`, and the name."""
        name = im.Name(self.names.numbered("t"), value.type)
        lane = self.distribution.lane if id(value) in self.varying else None
        self.put(im.Let(name.name, value, lane))
        self._pool[("name", name.name)] = name
        if lane is not None:
            self.varying.add(id(name))
        return name

    def data(self, value: ScalarValue, low: int, high: int) -> Index:
        """A loaded number as an index."""
        self._data += 1
        depends = value_variables(value)
        if id(value) in self.varying and self.distribution.lane is not None:
            depends |= {self.distribution.lane}
        serial = self._data
        made: Data = self._cons(("data", id(value), low, high), lambda: Data(value, low, high, depends, serial))
        return index(made)

    # ------------------------------------------------------------------------------------ memory

    def require(self, t: Scalar) -> None:
        """Does the device have numbers of type `t`?"""
        if t.name == "f64" and not self.limits.float64:
            raise CodegenError(f"this device has no {t}; cast the program's values to f32")

    def allocate(self, type: Type, space: str, stem: str, of: Expr, pad: int = 0, swizzle: int = 0) -> Target:
        """New memory for a value of `type`, with rows `pad` apart, or rotated; `of` is named if there is not enough."""
        sizes = [(_volume(_padded(shape, pad)), scalar) for shape, scalar in leaves(type)]
        start = PATTERN if swizzle == EXCHANGED else LINE if swizzle else 1
        buffers = [self._buffer(space, scalar, size, stem, of, start) for size, scalar in sizes]
        at = ZERO
        if space == "local" and self.distribution.warp:
            at = self.warp_id()  # every warp has a copy of its own
        return Target(memory(type, iter(buffers), self.load, at, pad, swizzle), space)

    def accumulator(self, type: Type, of: Expr) -> Target:
        """An array that the work-group updates together, for now in local memory (register_accumulators.py)."""
        buffers = []
        for shape, scalar in leaves(type):
            self.require(scalar)
            buffers.append(Buffer(self.names.numbered("acc"), "local", scalar, _volume(shape)))
        self.undecided.update(dict.fromkeys(buffers, of))
        self.put(*map(im.Declare, buffers))
        return Target(memory(type, iter(buffers), self.load), "local")

    def _buffer(self, space: str, scalar: Scalar, size: int, stem: str, of: Expr, start: int = 1) -> Buffer:
        self.require(scalar)
        if space == "local":
            return self._local(scalar, size, stem, of, start)
        lane = self.distribution.lane
        buffer = Buffer(self.names.numbered(stem), "private", scalar, size, lane.count if lane else 1)
        self.keep(buffer, of)
        return buffer

    def _local(self, scalar: Scalar, size: int, stem: str, of: Expr, start: int = 1) -> Buffer:
        if self.distribution.inside:
            raise CodegenError(
                f"{brief(of)}: local memory is filled by a whole work-group, but here each work-item goes its own "
                "way; use toPrivate, or move toLocal out of the local or global map"
            )
        size *= self.warps if self.distribution.warp else 1
        for buffer in self.free_locals:
            if (buffer.scalar, buffer.size, buffer.start) == (scalar, size, start):
                self.free_locals.remove(buffer)
                return buffer
        buffer = Buffer(self.names.numbered(stem), "local", scalar, size, start=start)
        self.keep(buffer, of)
        return buffer

    def keep(self, buffer: Buffer, of: Expr) -> None:
        """Take the memory for a private or local buffer; `of` is named if there is not enough."""
        if buffer.space == "private":
            self.take_private(buffer.bytes, of)
            return self.put(im.Declare(buffer))
        self.locals.append(buffer)
        self._largest = of
        if self.local_bytes > SHARED * max(self.limits.local_bytes, self.limits.group_unit_bytes):
            self.require_local()

    def require_local(self, in_warp_groups: bool = False) -> None:
        """Has the device as much local memory as the group takes?  in_warp_groups: do its warps multiply together?"""
        if self.local_bytes > (self.limits.group_unit_bytes if in_warp_groups else self.limits.local_bytes):
            assert self._largest is not None
            raise CodegenError(
                f"{brief(self._largest)}: {self.local_bytes} bytes of local memory, the device has "
                f"{self.limits.local_bytes}; choose a smaller tile"
            )

    def state(self, size: int) -> Buffer:
        """Words in global memory that are 0 when the kernel starts."""
        buffer = Buffer(self.constant_names.numbered("state"), "global", U64, size)
        self.states.append(buffer)
        self.params.append(buffer)
        return buffer

    def take_private(self, size: int, of: Expr) -> None:
        """Count the bytes of private memory."""
        self.private_bytes += size
        most = self.limits.private_bytes * (ALONE if prod(self.shape.local) == 1 else 1)
        if self.private_bytes > most:
            raise CodegenError(
                f"{brief(of)}: {self.private_bytes} bytes of private memory, the limit is {most}; "
                "keep the value in global memory (toGlobal), or do not store it: use a map without a level"
            )

    @property
    def local_bytes(self) -> int:
        """The local memory that the group takes so far."""
        return sum(b.bytes for b in self.locals)

    def constant(self, scalar: Scalar, values: bytes, of: Expr) -> Buffer:
        """A program-scope array of literals."""
        size = len(values) // scalar.size
        if (scalar, values) not in self.constants:
            if len(values) > WRITTEN:
                raise CodegenError(f"{brief(of)}: a constant of {len(values)} bytes; pass it as an input")
            self.require(scalar)
            name = self.constant_names.numbered("c")
            self.constants[scalar, values] = Buffer(name, "constant", scalar, size, values=values)
        return self.constants[scalar, values]


def _id(name: str, count: int, role: str, d: int) -> Index:
    return index(Var(name, count, role, d)) if count > 1 else ZERO


def _padded(shape: tuple[Any, ...], pad: int) -> tuple[Any, ...]:
    """The dimensions of an array whose rows are `pad` elements longer; an array of scalars has no rows."""
    return (*shape[:-1], shape[-1] + pad) if pad and len(shape) > 1 else shape


def _volume(shape: tuple[Any, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size
