"""OpenCL text of vector statements: all lanes of a mapVec at once, at most 16 in one register.

A bool in a vector is a *mask*: a signed integer, 0 or -1, as wide as the numbers that it was computed from.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import has_lane, is_aligned
from egglift.codegen.kernel.imperative import Buffer, ScalarValue
from egglift.codegen.kernel.index import Index, Var
from egglift.codegen.opencl.conversions import vector_cast
from egglift.codegen.opencl.expressions import Text, operand_type
from egglift.codegen.opencl.natives import Natives, instruction
from egglift.codegen.opencl.quotients import quotient
from egglift.codegen.opencl.scalar_functions import (
    COMPARISONS,
    MASKS,
    memory_type,
    scalar_call,
    stripped,
    unaligned,
    vector_call,
    vector_function,
    vector_load,
)
from egglift.ir.types import BOOL, I8, I16, I32, I64, Scalar

WIDEST = 16
HALVED = 4  # lanes, at least, of a vector that is put together of halves of two
FRAGMENT = 4  # registers, at most, that are named one by one where a vector does not lie where vectors do
MASK_SCALARS = {1: I8, 2: I16, 4: I32, 8: I64}  # the types of masks, by bytes


@dataclass(frozen=True)
class Lanes:
    """The lanes start .. start+width-1 of the lane variable `var`: one hardware vector."""

    var: Var
    start: int
    width: int

    @property
    def part(self) -> int:
        return self.start // self.width

    def first(self, at: Index) -> Index:
        """The index of the first of the lanes."""
        return at.substitute({self.var: self.start})

    @property
    def parts(self) -> int:
        return self.var.count // self.width


def parts_of(var: Var) -> list[Lanes]:
    """The hardware vectors that hold all lanes of `var`."""
    width = min(var.count, WIDEST)
    return [Lanes(var, start, width) for start in range(0, int(var.count), width)]


class VectorText(Text):
    """Prints vector expressions.  kinds: of the named vectors, the bytes of a mask, or 0 for numbers.

    A CPU reads and writes vectors through pointers wherever they start.
    """

    def __init__(self, cpu: bool, natives: Natives) -> None:
        super().__init__(cpu, natives)
        self.kinds: dict[str, int] = {}
        self._varies: dict[int, tuple[ScalarValue, bool]] = {}
        self._lane: tuple[Lanes, int] | None = None  # while the text of one component is made

    # ------------------------------------------------------------------------------------ components

    def known(self, at: Index) -> Index:
        if self._lane is None:
            return at
        lanes, k = self._lane
        return at.substitute({lanes.var: lanes.start + k})

    def index(self, at: Index) -> str:
        return super().index(self.known(at))

    @contextmanager
    def lane(self, lanes: Lanes, k: int) -> Iterator[None]:
        """Texts made inside are those of component `k`."""
        before, self._lane = self._lane, (lanes, k)
        texts, self._texts = self._texts, {}
        try:
            yield
        finally:
            self._lane, self._texts = before, texts

    def component(self, v: ScalarValue, lanes: Lanes, k: int) -> str:
        """Component `k` of a value, as a scalar expression."""
        with self.lane(lanes, k):
            return self.scalar(v)

    def scalar(self, v: ScalarValue) -> str:
        if self._lane is not None:
            lanes, k = self._lane
            if isinstance(v, im.Name) and v.name in self.kinds:
                text = f"{self._part_name(v.name, lanes)}.s{k:x}"
                return f"({text} != 0)" if self.kinds[v.name] else text
            if isinstance(v, im.Load) and v.buffer.lanes > 1:
                text = f"{self._register(v.buffer, v.at, lanes)}.s{k:x}"
                return f"({text} != 0)" if v.type == BOOL else text
        return super().scalar(v)

    def components(self, v: ScalarValue, lanes: Lanes) -> list[str]:
        return [self.component(v, lanes, k) for k in range(lanes.width)]

    def gathered(self, v: ScalarValue, lanes: Lanes) -> str:
        """A vector put together from its components."""
        texts = ", ".join(map(stripped, self.components(v, lanes)))
        return f"({memory_type(v.type, lanes.width)})({texts})"

    # ------------------------------------------------------------------------------------ vectors

    def varies(self, v: ScalarValue) -> bool:
        """Does `v` differ between lanes?"""
        known = self._varies.get(id(v))
        if known is None:
            match v:
                case im.Load(buffer, at):
                    differs = buffer.lanes > 1 or has_lane(at)
                case im.Name(name, _):
                    differs = name in self.kinds
                case im.IndexValue(at, _):
                    differs = has_lane(at)
                case im.Call(_, args, _):
                    differs = any(map(self.varies, args))
                case im.Guarded(at, _, a, b):
                    differs = has_lane(at) or self.varies(a) or self.varies(b)
                case _:
                    differs = False
            known = self._varies[id(v)] = (v, differs)
        return known[1]

    def number(self, v: ScalarValue, lanes: Lanes) -> str:
        """A value that is no bool, as a vector."""
        width = lanes.width
        if not self.varies(v):
            return f"({memory_type(v.type, width)})({stripped(self.scalar(v))})"
        match v:
            case im.Name(name, _):
                return self._part_name(name, lanes)
            case im.Load(buffer, at):
                return self._load(v, buffer, at, lanes)
            case im.IndexValue(at, t) if at.coefficient(lanes.var) is not None:
                return self._counted(at, t, lanes)
            case im.Guarded(at, n, a, b) if not has_lane(at):
                return f"({self._within(at, n)} ? {self.number(a, lanes)} : {self.number(b, lanes)})"
            case im.Call("cast", (x,), t):
                return self._cast(x, t, lanes)
            case im.Call("where", (c, a, b), t):
                mask = self.mask(c, lanes, t.size)
                return f"({mask} ? {self.number(a, lanes)} : {self.number(b, lanes)})"
            case im.Call(op, args, t):
                texts = [self.number(a, lanes) for a in args]
                if self.natives.instruction(v):
                    return instruction(op, list(map(stripped, texts)), width, self.helpers)
                if self.natives.quotient(v):
                    return quotient(op, list(map(stripped, texts)), width, self.helpers)
                return vector_call(op, t, texts, width, self.helpers) or self._by_components(v, lanes)
            case _:
                return self.gathered(v, lanes)

    def _counted(self, at: Index, t: Scalar, lanes: Lanes) -> str:
        """An index that grows with the lane: that of the first lane plus a constant vector."""
        step, target = at.coefficient(lanes.var), memory_type(t, lanes.width)
        first = im.IndexValue(at.substitute({lanes.var: lanes.start}), t)
        offsets = ", ".join(str((step or 0) * k) for k in range(lanes.width))
        return f"(({target})({stripped(self.scalar(first))}) + ({target})({offsets}))"

    def _by_components(self, v: im.Call, lanes: Lanes) -> str:
        texts = []
        for k in range(lanes.width):
            args = [self.component(a, lanes, k) for a in v.args]
            texts.append(scalar_call(v.op, operand_type(v), args, self.helpers))
        return f"({memory_type(v.type, lanes.width)})({', '.join(map(stripped, texts))})"

    def _cast(self, x: ScalarValue, t: Scalar, lanes: Lanes) -> str:
        target = memory_type(t, lanes.width)
        if x.type == BOOL:
            return f"({self.mask(x, lanes, t.size)} ? ({target})(1) : ({target})(0))"
        text = self.number(x, lanes)
        if x.type == t:
            return text
        return vector_cast(x.type, t, text, lanes.width, self.helpers, self.natives)

    def _load(self, v: im.Load, buffer: Buffer, at: Index, lanes: Lanes) -> str:
        if buffer.lanes > 1 and not has_lane(at):
            return self._register(buffer, at, lanes)
        if buffer.lanes == 1 and at.coefficient(lanes.var) == 2:
            return self._every_other(buffer, at, lanes) or self.gathered(v, lanes)
        if buffer.lanes > 1 or at.coefficient(lanes.var) != 1:
            return self.gathered(v, lanes)
        if buffer.space == "private" and lanes.width <= FRAGMENT and not is_aligned(lanes.first(at), lanes.width):
            return self.gathered(v, lanes)  # a compiler keeps no array in registers that vectors overlap in
        return self.chunk(buffer, at, lanes)

    def _every_other(self, buffer: Buffer, at: Index, lanes: Lanes) -> str | None:
        """One part of each of the pairs that lie one behind the other: halves of two vectors; None: there are none.

        (float4)(x[2*i + 1], x[2*i + 3], ...)  ->  (float4)((*(float4*)&x[2*i]).odd, (*(float4*)&x[2*i + 4]).odd)
        """
        first, n = lanes.first(at), lanes.width
        half = first.constant % 2
        start = first - half
        if n < HALVED or buffer.space == "private" or start.range[0] < 0 or start.range[1] + 2 * n > buffer.size:
            return None
        parts = (f"({self.chunk(buffer, start + k, lanes)}).{('even', 'odd')[half]}" for k in (0, n))
        return f"({memory_type(buffer.scalar, n)})({', '.join(parts)})"

    def chunk(self, buffer: Buffer, at: Index, lanes: Lanes) -> str:
        """Consecutive elements of memory, read: by pointer where they are aligned."""
        place, aligned = self.address(buffer, at, lanes)
        qualifier = ("const " if buffer.space == "global" else "") + buffer.space
        if aligned:
            return f"*({qualifier} {memory_type(buffer.scalar, lanes.width)}*){place}"
        if not self.cpu:
            return vector_load(buffer.scalar, lanes.width, place)
        return f"*({qualifier} {unaligned(buffer.scalar, lanes.width, self.helpers)}*){place}"

    def address(self, buffer: Buffer, at: Index, lanes: Lanes) -> tuple[str, bool]:
        """The address of the first of consecutive elements, and whether it is a vector's.

        On a CPU a caller's arrays begin anywhere, as NumPy's do; on other devices they are buffers of OpenCL's.
        """
        first = lanes.first(at)
        is_scalar = buffer.space == "private" and buffer.size == 1
        text = f"&{buffer.name}" if is_scalar else f"&{buffer.name}[{super().index(first)}]"
        return text, (buffer.aligned or not self.cpu) and is_aligned(first, lanes.width)

    def _register(self, buffer: Buffer, at: Index, lanes: Lanes) -> str:
        """The vector of a private buffer that is kept for every lane."""
        if buffer.size * lanes.parts == 1:
            return buffer.name
        return f"{buffer.name}[{super().index(self.known(at) * lanes.parts + lanes.part)}]"

    def _part_name(self, name: str, lanes: Lanes) -> str:
        return name if lanes.parts == 1 else f"{name}_{lanes.part}"

    # ------------------------------------------------------------------------------------ masks

    def mask_size(self, v: ScalarValue) -> int:
        """The bytes of the mask that comes out cheapest for the bool `v`."""
        match v:
            case im.Name(name, _) if name in self.kinds:
                return self.kinds[name]
            case im.Call(op, args, _) if op in COMPARISONS or op == "cast":
                return args[0].type.size if args[0].type != BOOL else max(map(self.mask_size, args))
            case im.Call(_, args, _):
                return max((self.mask_size(a) for a in args if self.varies(a)), default=1)
            case _:
                return 1

    def mask(self, v: ScalarValue, lanes: Lanes, size: int) -> str:
        """A bool as a mask of `size` bytes."""
        target = f"{MASKS[size]}{lanes.width}"
        if not self.varies(v):
            return f"({target})({self.scalar(v)} ? -1 : 0)"
        own = self.mask_size(v)
        if isinstance(v, im.Guarded):
            texts = ", ".join(f"{c} ? -1 : 0" for c in self.components(v, lanes))
            return f"({target})({texts})"
        text = self._mask(v, lanes, own)
        if own == size:
            return text
        args, (old, new) = [stripped(text)], (MASK_SCALARS[own], MASK_SCALARS[size])
        return vector_function(f"convert_{MASKS[size]}", old, new, args, lanes.width, self.helpers)

    def _mask(self, v: ScalarValue, lanes: Lanes, size: int) -> str:
        match v:
            case im.Name(name, _):
                return self._part_name(name, lanes)
            case im.Load(buffer, at) if buffer.lanes > 1 and not has_lane(at):
                return self._register(buffer, at, lanes)
            case im.Load(buffer, at) if buffer.lanes > 1:
                components = (f"{c} ? -1 : 0" for c in self.components(v, lanes))
                return f"({MASKS[size]}{lanes.width})({', '.join(components)})"
            case im.Load(buffer, at):
                return f"({self._load(v, buffer, at, lanes)} != (uchar{lanes.width})(0))"
            case im.Call("cast", (x,), _):
                return f"({self.number(x, lanes)} != ({memory_type(x.type, lanes.width)})(0))"
            case im.Call(op, args, _) if op in COMPARISONS and args[0].type != BOOL:
                texts = [self.number(a, lanes) for a in args]
                found = vector_call(op, args[0].type, texts, lanes.width, self.helpers)
                assert found is not None
                return found
            case im.Call(op, args, _):
                return _MASKS[op](*(self.mask(a, lanes, size) for a in args))
        raise AssertionError(v)

    def stored_bool(self, v: ScalarValue, lanes: Lanes) -> str:
        """A bool as it is kept in memory: uchar, 0 or 1."""
        n = lanes.width
        return f"as_uchar{n}({self.mask(v, lanes, 1)} & (char{n})(1))"


_MASK_TEXTS = {
    "logical_and": "({0} & {1})",
    "logical_or": "({0} | {1})",
    "logical_not": "(~{0})",
    "bitwise_and": "({0} & {1})",
    "bitwise_or": "({0} | {1})",
    "bitwise_xor": "({0} ^ {1})",
    "invert": "(~{0})",
    "popcount": "{0}",
    "left_shift": "{0}",
    "right_shift": "({0} & ~{1})",
    "where": "(({0} & {1}) | (~{0} & {2}))",
    "eq": "(~({0} ^ {1}))",
    "ne": "({0} ^ {1})",
    "lt": "(~{0} & {1})",
    "le": "(~{0} | {1})",
    "gt": "({0} & ~{1})",
    "ge": "({0} | ~{1})",
}
_MASKS = {op: text.format for op, text in _MASK_TEXTS.items()}
