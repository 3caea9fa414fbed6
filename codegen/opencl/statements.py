"""Imperative kernels as OpenCL C, meant to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.accesses import Access, accesses, loads
from egglift.codegen.kernel.conditions import has_lane
from egglift.codegen.kernel.imperative import Buffer, Statement
from egglift.codegen.kernel.index import Index, Remainder, Var
from egglift.codegen.kernel.unroll_register_loops import UNROLLED
from egglift.codegen.opencl.atomic_functions import atomic_addition
from egglift.codegen.opencl.copy_functions import asynchronous_copy, await_copies, close_copies
from egglift.codegen.opencl.expressions import Alias, Hidden, int_type
from egglift.codegen.opencl.fragment_functions import fragment_load, fragment_product, registers
from egglift.codegen.opencl.look_back import look_back
from egglift.codegen.opencl.natives import Natives
from egglift.codegen.opencl.scalar_functions import MASKS, memory_type, stripped, unaligned, value_type, vector_store
from egglift.codegen.opencl.vectors import FRAGMENT, WIDEST, Lanes, VectorText, parts_of
from egglift.codegen.opencl.warp_group_functions import (
    await_products,
    group_product,
    show_units,
    tile_place,
)
from egglift.ir.deadline import require_time
from egglift.ir.lengths import surely_less
from egglift.ir.types import BOOL, U32

INDENT = "  "
WORD = 4  # bytes of what a GPU's registers and instructions move as one


class KernelText(VectorText):
    """Prints the statements of one kernel."""

    def __init__(self, body: tuple[Statement, ...], cpu: bool, natives: Natives) -> None:
        super().__init__(cpu, natives)
        self.lines: list[str] = []
        self.depth = 1
        self.body = body
        self.seen = accesses(body)
        self.used = {a.buffer for a in self.seen}
        self.alignment = _alignments(self.seen)

    def line(self, text: str) -> None:
        """Add a line at the present depth."""
        self.lines.append(INDENT * self.depth + text)

    def block(self, head: str, body: Iterable[Statement]) -> None:
        """Add `head { body }`."""
        self.line(head + " {")
        self.depth += 1
        self.statements(tuple(body))
        self.depth -= 1
        self.line("}")

    # ------------------------------------------------------------------------------------ statements

    def statements(self, body: tuple[Statement, ...]) -> None:
        """Print a block.  A declaration waits for the assignment that starts the variable, where there is one."""
        starts = _starts(body)
        for position, s in enumerate(body):
            require_time()
            match s:
                case im.Declare(buffer):
                    if buffer in self.used and buffer not in starts.values():
                        self.line(f"{self._declaration(buffer)};")
                case im.Comment(text):
                    self.line(f"// {text}")
                case im.Barrier(space):
                    self.line(f"barrier({_fence(space)});")
                case im.Let():
                    self._let(s)
                case im.Store():
                    self._store(s, position in starts)
                case im.FragmentProduct():
                    self._fragment_product(s)
                case im.FragmentLoad():
                    self._fragment_load(s)
                case im.AwaitProducts(totals):
                    rows = self._rows_of_totals(totals)
                    self.line(f"{await_products(len(totals) // 2, self.helpers)}({rows});")
                case im.LookBack():
                    look_back(self, s)
                case im.CloseCopies():
                    self.line(f"{close_copies(self.helpers)}();")
                case im.AwaitCopies(count):
                    self.line(f"{await_copies(count, self.helpers)}();")
                case im.ShowUnits():
                    self.line(f"{show_units(self.helpers)}();")
                case im.Loop():
                    self._loop(s)
                case im.If():
                    self._if(s)

    def _declaration(self, buffer: Buffer) -> str:
        width = min(buffer.lanes, WIDEST)
        size = int(buffer.size * (buffer.lanes // width))
        scalar = MASKS[1] + str(width) if buffer.scalar == BOOL and width > 1 else memory_type(buffer.scalar, width)
        if size == 1:
            t = value_type(buffer.scalar) if buffer.scalar == BOOL and width == 1 else scalar
            return f"{t} {buffer.name}"
        return f"{scalar} {buffer.name}[{size}]{self.aligned(buffer)}"

    def aligned(self, buffer: Buffer) -> str:
        """The attribute that the buffer's vector accesses need."""
        n = max(self.alignment.get(buffer, 1), buffer.start)
        return f" __attribute__((aligned({n})))" if n > buffer.scalar.size else ""

    def _let(self, s: im.Let) -> None:
        t, value = s.value.type, s.value
        if s.lane is None:
            self.line(f"const {value_type(t)} {s.name} = {stripped(self.scalar(value))};")
            return
        size = self.mask_size(value) if t == BOOL else 0
        for lanes in parts_of(s.lane):
            text = self.mask(value, lanes, size) if size else self.number(value, lanes)
            name = f"{MASKS[size]}{lanes.width}" if size else memory_type(t, lanes.width)
            self.line(f"const {name} {self._part_name(s.name, lanes)} = {stripped(text)};")
        self.kinds[s.name] = size

    def _store(self, s: im.Store, declares: bool) -> None:
        if s.atomic:
            return self._atomic(s)
        if s.asynchronous:
            return self._asynchronous(s)
        if s.lane is None:
            head = self._declaration(s.buffer) if declares else self.place(s.buffer, s.at)
            return self._assignment(head, s, self.scalar)
        for lanes in parts_of(s.lane):
            self._vector_store(s, lanes, declares)

    def _fragment_product(self, s: im.FragmentProduct) -> None:
        if s.lying:
            return self._group_product(s, s.lying)
        totals = [f"&{self.place(x.buffer, x.at)}" for x in s.totals]
        factors = [x for side in (s.rows, s.columns) for x in self._factors(s.unit, side)]
        self.line(f"{fragment_product(s.unit, self.helpers)}({', '.join(totals + factors)});")

    def _group_product(self, s: im.FragmentProduct, lying: tuple[im.Lying, im.Lying]) -> None:
        firsts = [x for x in (*s.rows, *s.columns) if isinstance(x, im.Load)]
        places = [
            tile_place(x, self._local_address(first.buffer, first.at), self.helpers)
            for x, first in zip(lying, firsts, strict=True)
        ]
        arguments = ", ".join([self._rows_of_totals(s.totals), *places])
        self.line(f"{group_product(s.unit, lying, self.helpers)}({arguments});")

    def _rows_of_totals(self, totals: Sequence[im.Load]) -> str:
        """Where the totals of a lane's two rows begin."""
        return ", ".join(f"&{self.place(x.buffer, x.at)}" for x in (totals[0], totals[2]))

    def _factors(self, unit: im.Unit, factors: Sequence[im.ScalarValue]) -> list[str]:
        """What a product's function is given for factors: registers as they are, or numbers in registers."""
        texts = [stripped(self.scalar(x)) for x in factors]
        return registers(unit, texts, loaded=factors[0].type == U32)

    def _fragment_load(self, s: im.FragmentLoad) -> None:
        registers = [f"&{self.place(x.buffer, x.at)}" for x in s.into]
        row = self._local_address(s.source.buffer, Lanes(s.lane, 0, s.lane.count).first(s.source.at))
        name = fragment_load(len(registers), s.transposed, self.helpers)
        self.line(f"{name}({', '.join(registers)}, {row});")

    def _asynchronous(self, s: im.Store) -> None:
        assert isinstance(s.value, im.Load)
        lanes = Lanes(s.lane or Var("?", 1, "lane"), 0, s.lane.count if s.lane else 1)
        into, source = (
            self._local_address(s.buffer, lanes.first(s.at)),
            self.place(s.value.buffer, lanes.first(s.value.at)),
        )
        name = asynchronous_copy(s.buffer.scalar.size * lanes.width, self.helpers)
        self.line(f"{name}({into}, &{source});")

    def _local_address(self, buffer: Buffer, at: Index) -> str:
        """An address as instructions take it, 32 bits wide: compilers do more for pointers to local memory."""
        return f"(uint)(ulong){buffer.name} + {self.index(at * buffer.scalar.size)}"

    def _atomic(self, s: im.Store) -> None:
        assert isinstance(s.value, im.Call) and s.value.op == "add"
        name = atomic_addition(s.buffer.scalar, s.buffer.space, self.helpers)
        self.line(f"{name}(&{self.place(s.buffer, s.at)}, {stripped(self.scalar(s.value.args[1]))});")

    def _assignment(self, head: str, s: im.Store, text: Callable[[im.ScalarValue], str]) -> None:
        """`head = value`, or `head += rest` where that is the value."""
        match s.value:
            case im.Call("add" | "mul" as op, (im.Load(buffer, at), rest), t) if t.is_float:
                if buffer is s.buffer and at == s.at:
                    return self.line(f"{head} {'+' if op == 'add' else '*'}= {stripped(text(rest))};")
        self.line(f"{head} = {stripped(text(s.value))};")

    def _vector_store(self, s: im.Store, lanes: Lanes, declares: bool) -> None:
        buffer = s.buffer
        if (words := self._copied_words(s, lanes)) is not None:
            if declares:
                self.line(f"{self._declaration(buffer)};")
            self.line(words)
        elif buffer.lanes > 1 and not has_lane(s.at):
            head = self._declaration(buffer) if declares else self._register(buffer, s.at, lanes)
            if buffer.scalar == BOOL:
                return self.line(f"{head} = {stripped(self.mask(s.value, lanes, 1))};")
            self._assignment(head, s, lambda v: self.number(v, lanes))
        elif buffer.lanes == 1 and s.at.coefficient(lanes.var) == 1 and not _is_fragment(s, lanes, s.buffer):
            text = self.stored_bool(s.value, lanes) if buffer.scalar == BOOL else self.number(s.value, lanes)
            if isinstance(s.value, im.Load) and _is_fragment(s, lanes, s.value.buffer):
                text = self.gathered(s.value, lanes)
            if (into := self._stored_words(s, lanes)) is not None:
                return self.line(f"{into[0]} = as_{into[1]}({stripped(text)});")
            place, aligned = self.address(buffer, s.at, lanes)
            t, n = buffer.scalar, lanes.width
            if not aligned and not self.cpu:
                return self.line(f"{vector_store(t, n, stripped(text), buffer.space, place, self.helpers)};")
            vector = memory_type(t, n) if aligned else unaligned(t, n, self.helpers)
            self.line(f"*({buffer.space} {vector}*){place} = {stripped(text)};")
        else:
            self._scattered([s], lanes, ())

    def _copied_words(self, s: im.Store, lanes: Lanes) -> str | None:
        """`s` by words of 4 bytes, if it only copies numbers of 1 or 2: GPUs' compilers take vectors of those apart.

        r0[i] = *(const global ushort8*)&x[k]   ->   *(private uint4*)&r0[i] = *(const global uint4*)&x[k]
        """
        if not isinstance(s.value, im.Load) or s.value.buffer.scalar != s.buffer.scalar:
            return None
        into, taken = self._words(s.buffer, s.at, lanes), self._words(s.value.buffer, s.value.at, lanes, "const ")
        return None if into is None or taken is None else f"{into} = {taken};"

    def _stored_words(self, s: im.Store, lanes: Lanes) -> tuple[str, str] | None:
        """Where `s` stores numbers of 2 bytes as words, and their type: rounded in pairs, they stay together."""
        if not s.buffer.scalar.is_narrow or (into := self._words(s.buffer, s.at, lanes)) is None:
            return None
        count = s.buffer.scalar.size * lanes.width // WORD
        return into, f"uint{count if count > 1 else ''}"

    def _words(self, buffer: Buffer, at: Index, lanes: Lanes, const: str = "") -> str | None:
        """A GPU's vector of numbers of 1 or 2 bytes in memory, or in registers, as words; None where it is no aligned
        one, of 1, 2 or 4 words."""
        size = buffer.scalar.size * lanes.width
        if self.cpu or buffer.scalar.size >= WORD or size not in (WORD, 2 * WORD, 4 * WORD):
            return None
        if buffer.lanes > 1 and not has_lane(at):
            place, aligned = f"&{self._register(buffer, at, lanes)}", True
        elif buffer.lanes == 1 and buffer.space != "private" and at.coefficient(lanes.var) == 1:
            place, aligned = self.address(buffer, at, lanes)
        else:
            return None
        count = size // WORD
        return f"*({const}{buffer.space} uint{count if count > 1 else ''}*){place}" if aligned else None

    def _scattered(self, stores: list[im.Store], lanes: Lanes, guard: tuple[tuple[Index, int], ...]) -> None:
        """Stores to elements that are not neighbours, or not all there: one by one, from named vectors."""
        names = [f"{lanes.var.name}_{j}" for j in range(len(stores))]
        self.line("{")
        self.depth += 1
        for s, name in zip(stores, names, strict=True):
            text = self.stored_bool(s.value, lanes) if s.value.type == BOOL else self.number(s.value, lanes)
            self.line(f"const {memory_type(s.value.type, lanes.width)} {name} = {stripped(text)};")
        for k in range(lanes.width):
            with self.lane(lanes, k):
                ends = [(*self.known(e).range, n) for e, n in guard]
                if any(surely_less(n - 1, low) for low, _, n in ends):
                    continue
                open_ = [
                    self.condition(e, n)
                    for (e, n), (_, high, _) in zip(guard, ends, strict=True)
                    if not surely_less(high, n)
                ]
                head = f"if ({' && '.join(open_)}) " if open_ else ""
                for s, name in zip(stores, names, strict=True):
                    self.line(f"{head}{self._component_store(s, lanes, k, f'{name}.s{k:x}')};")
        self.depth -= 1
        self.line("}")

    def _component_store(self, s: im.Store, lanes: Lanes, k: int, value: str) -> str:
        if s.buffer.lanes == 1:
            return f"{self.place(s.buffer, s.at)} = {value}"
        sign = "-" if s.buffer.scalar == BOOL else ""  # kept as a mask
        return f"{self._register(s.buffer, s.at, lanes)}.s{k:x} = {sign}{value}"

    # ------------------------------------------------------------------------------------ control

    def _loop(self, s: im.Loop) -> None:
        if s.unroll:
            self.line("#pragma unroll" + ("" if s.trips <= UNROLLED else " 16"))
        name, t = s.var.name, int_type(s.trips)
        if s.until is None:
            ends = "" if s.ends is None else f" && {self.condition(*s.ends)}"
            return self._counted_loop(f"for ({t} {name} = 0; {name} < {s.trips}{ends}; ++{name})", s)
        at, n = s.until
        step = at.coefficient(s.var) or 0
        position, helpers, kinds = len(self.lines), dict(self.helpers), dict(self.kinds)
        depth = self.depth
        self.aliases.append(Alias(at, s.var, step, Var(name, n, s.var.role)))
        try:
            first = self.index(at.substitute({s.var: 0}))
            head = f"for ({int_type(n + step)} {name} = {first}; {name} < {n}; {name} += {step})"
            return self.block(head, s.body)
        except Hidden as hidden:
            if hidden.args != (name,):
                raise
            del self.lines[position:]
            self.helpers, self.kinds, self.depth = helpers, kinds, depth
        finally:
            self.aliases.pop()
        self.block(f"for ({t} {name} = 0; {self.condition(at, n)}; ++{name})", s.body)

    def _counted_loop(self, head: str, s: im.Loop) -> None:
        """A loop; buffers that it uses in turn are counted beside, as remainders take longer.

        for (int i = 0; i < n; ++i) {   ->   int i_2 = 2;
          s0[256*((i + 2) % 3)] = ...        for (int i = 0; i < n; ++i) {
        }                                      s0[256*i_2] = ...
                                               i_2 = i_2 < 2 ? i_2 + 1 : 0;
                                             }
        """
        turns = [] if self.cpu or s.unroll else _turns(s)
        for a in turns:
            self.counters[a] = f"{s.var.name}_{a.x.constant}"
            self.line(f"int {self.counters[a]} = {a.x.constant % a.divisor};")
        self.block(head, s.body)
        if turns:
            end, self.depth = self.lines.pop(), self.depth + 1
            for name, a in ((self.counters[a], a) for a in turns):
                self.line(f"{name} = {name} < {a.divisor - 1} ? {name} + 1 : 0;")
            self.lines.append(end)
            self.depth -= 1

    def _if(self, s: im.If) -> None:
        if any(has_lane(e) for e, _ in s.conditions):
            stores = [b for b in s.body if isinstance(b, im.Store)]
            var = next(v for e, _ in s.conditions for v in e.variables() if v.role == "lane")
            for lanes in parts_of(var):
                self._scattered(stores, lanes, s.conditions)
            return
        condition = " && ".join(self.condition(e, n) for e, n in s.conditions)
        self.block(f"if ({condition})", s.body)
        if s.otherwise:
            self.lines.pop()
            self.block("} else", s.otherwise)


def _is_fragment(s: im.Store, lanes: Lanes, private: Buffer) -> bool:
    """Does `s` copy between memory and a few elements of the array `private`, which are to be registers?"""
    if not isinstance(s.value, im.Load) or lanes.width > FRAGMENT or private.scalar == BOOL:
        return False
    spaces = {s.buffer.space, s.value.buffer.space}
    return private.space == "private" and private.lanes == 1 and len(spaces) == 2


def _starts(body: tuple[Statement, ...]) -> dict[int, Buffer]:
    """Positions of the stores in a block that start a variable declared before in it."""
    found: dict[int, Buffer] = {}
    for position, s in enumerate(body):
        if not isinstance(s, im.Declare) or s.buffer.size * max(s.buffer.lanes // WIDEST, 1) > 1:
            continue
        for later in range(position + 1, len(body)):
            t = body[later]
            if not isinstance(t, im.Comment | im.Declare | im.Barrier) and _mentions(t, s.buffer):
                if isinstance(t, im.Store) and t.buffer is s.buffer and _only_writes(t):
                    found[later] = s.buffer
                break
    return found


def _mentions(s: Statement, buffer: Buffer) -> bool:
    return any(a.buffer is buffer for a in accesses((s,)))


def _only_writes(s: im.Store) -> bool:
    return all(load.buffer is not s.buffer for load in loads((s.value,)))


def _turns(s: im.Loop) -> list[Remainder]:
    """The remainders of a loop's variable, by what is no power of two, that choose a part of a local buffer."""
    seen = [atom for a in accesses(s.body) if a.buffer.space == "local" for atom, _ in a.at.terms]
    own = [a for a in seen if isinstance(a, Remainder) and a.x.terms == ((s.var, 1),) and a.divisor & (a.divisor - 1)]
    return sorted(dict.fromkeys(own), key=lambda a: a.x.constant)


def _fence(space: str) -> str:
    fences = {"local": "CLK_LOCAL_MEM_FENCE", "global": "CLK_GLOBAL_MEM_FENCE"}
    return fences.get(space, "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE")


def _alignments(seen: list[Access]) -> dict[Buffer, int]:
    """The alignment in bytes that vector accesses need."""
    found: dict[Buffer, int] = {}
    for a in seen:
        if a.lane is not None and a.buffer.lanes == 1 and a.at.coefficient(a.lane) == 1:
            width = min(a.lane.count, WIDEST)
            found[a.buffer] = max(found.get(a.buffer, 1), width * a.buffer.scalar.size)
    return found
