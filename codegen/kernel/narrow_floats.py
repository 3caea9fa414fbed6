"""A pass over statements: f16 and bf16 are kept in memory, and computed in f32.

After it, a value of such a type is 16 bits in memory, a literal, or what a cast makes for a store; all that is
computed is f32, which memory's values are cast to where they are read.  Private arrays hold f32.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.accesses import loads
from egglift.codegen.kernel.imperative import Buffer, Load, ScalarValue, Statement, Store
from egglift.codegen.kernel.walk import subvalues, walk, with_blocks
from egglift.ir.conversions import rounded
from egglift.ir.scalars import FUNCTIONS
from egglift.ir.types import BOOL, F32, Scalar

#: functions whose value is one of their arguments, but for its sign
CHOOSING = ("minimum", "maximum", "abs", "neg", "where")


def compute_narrow_in_f32(body: Iterable[Statement]) -> tuple[Statement, ...]:
    """`body` with arithmetic on f16 and bf16 in f32: rounded where it is stored to memory, cast, or decides something.

    half y[], x[], s[];  half t;             ->  float t;
    s[i] = x[i];                             ->  s[i] = x[i];                                  16 bits are copied
    t = s[i] * 2h;                           ->  t = (float)s[i] * 2.0f;
    y[i] = t > x[i] ? x[i] : t;              ->  y[i] = (float)(half)t > (float)x[i] ? x[i] : (half)t;
    """
    statements = tuple(body)
    if not any(b.scalar.is_narrow for b in _buffers(statements)) and not _computes(statements):  # nearly always
        return statements
    return _Pass(_moved(statements)).block(statements)


def _moved(body: tuple[Statement, ...]) -> frozenset[Buffer]:
    """Private arrays of narrow numbers that are only copied on, or given to matrix units: they stay as they are."""
    found, computed = set[Buffer](), set[Buffer]()
    for s in walk(body):
        match s:
            case Store(buffer, _, Load(source)) if buffer.space != "private" and source.scalar == buffer.scalar:
                found.add(source)
            case Store(value=value) | im.Let(value=value):
                computed |= {load.buffer for load in loads((value,))}
            case im.FragmentProduct():
                found |= {load.buffer for load in loads((*s.rows, *s.columns))}
                computed |= {load.buffer for load in s.totals}
    return frozenset(b for b in found - computed if b.space == "private" and b.scalar.is_narrow)


def _buffers(body: tuple[Statement, ...]) -> Iterable[Buffer]:
    for s in walk(body):
        match s:
            case im.Declare(buffer) | Store(buffer):
                yield buffer
            case im.FragmentProduct() | im.AwaitProducts():
                yield s.totals[0].buffer


def _computes(body: tuple[Statement, ...]) -> bool:
    values = [s.value for s in walk(body) if isinstance(s, Store | im.Let)]
    return any(v.type.is_narrow for v in subvalues(values))


@dataclass
class _Pass:
    """What private arrays have become, but for those of `moved`, which stay.

    copies, exact: names of values that are copied bits, and of others that need no rounding.
    """

    moved: frozenset[Buffer]
    private: dict[Buffer, Buffer] = field(default_factory=dict)
    copies: set[str] = field(default_factory=set)
    exact: set[str] = field(default_factory=set)
    done: dict[int, tuple[ScalarValue, ScalarValue]] = field(default_factory=dict)

    def block(self, body: Iterable[Statement]) -> tuple[Statement, ...]:
        return tuple(self.statement(s) for s in body)

    def statement(self, s: Statement) -> Statement:
        match s:
            case im.Declare(buffer):
                return im.Declare(self.kept(buffer))
            case im.Let(name, value):
                made = self.value(value)
                if value.type.is_narrow and _is_copy(made):
                    made = self.bits(made, value.type)
                    self.copies.add(name)
                elif value.type.is_narrow and self.is_exact(made):
                    self.exact.add(name)
                return replace(s, value=made)
            case Store(buffer, _, value):
                into, made = self.kept(buffer), self.value(value)
                return replace(s, buffer=into, value=self.bits(made, into.scalar) if into.scalar.is_narrow else made)
            case im.FragmentProduct() | im.AwaitProducts():
                totals = tuple(Load(self.kept(x.buffer), x.at) for x in s.totals)
                return replace(s, totals=totals)
            case _:
                return with_blocks(s, self.block)

    def kept(self, buffer: Buffer) -> Buffer:
        """Where the elements of `buffer` are kept."""
        if buffer.space != "private" or not buffer.scalar.is_narrow or buffer in self.moved:
            return buffer
        return self.private.setdefault(buffer, replace(buffer, scalar=buffer.scalar.computed))

    def value(self, v: ScalarValue) -> ScalarValue:
        """`v` as it is computed; what values share stays shared."""
        found = self.done.get(id(v))
        if found is None:
            found = self.done[id(v)] = (v, self._value(v))
        return found[1]

    def _value(self, v: ScalarValue) -> ScalarValue:
        t = v.type
        match v:
            case im.Const(number, _) if t.is_narrow:
                return im.Const(rounded(np.asarray(number), t).item(), F32)
            case Load(buffer, at):
                load = Load(self.kept(buffer), at)
                return im.Call("cast", (load,), F32) if load.type.is_narrow else load
            case im.Call("cast", (x,), _):
                return self._cast(x, t)
            case im.Call(op, args, _):
                made = tuple(self.value(a) for a in args)
                if op in FUNCTIONS and FUNCTIONS[op].decides and (narrow := _narrow(args)) is not None:
                    made = tuple(self.rounded(a, narrow) for a in made)
                return replace(v, args=made, type=t.computed)
            case im.Guarded(_, _, inside, outside):
                return replace(v, inside=self.value(inside), outside=self.value(outside))
            case im.Name(name, _) if name in self.copies:
                return im.Call("cast", (v,), F32)
            case im.Name() | im.IndexValue():
                return replace(v, type=t.computed)
        return v

    def _cast(self, x: ScalarValue, t: Scalar) -> ScalarValue:
        made = self.value(x)
        if x.type.is_narrow and not t.is_float:
            made = self.rounded(made, x.type)
        if not t.is_narrow:
            return made if made.type == t else im.Call("cast", (made,), t)
        if x.type == BOOL or (x.type.is_integer and 8 * x.type.size - x.type.is_signed <= t.digits):
            return im.Call("cast", (made,), F32)
        if x.type.is_integer:
            made = im.Call("cast", (made,), F32)
        return self.rounded(made, t)

    def rounded(self, v: ScalarValue, t: Scalar) -> ScalarValue:
        """`v`, an f32 or f64, as the f32 that is a number of the narrow type `t`."""
        return v if self.is_exact(v) else im.Call("cast", (self.bits(v, t),), F32)

    def bits(self, v: ScalarValue, t: Scalar) -> ScalarValue:
        """A computed value as it is kept in memory as a `t`: as the bits that it was loaded from, where it was."""
        match v:
            case im.Const(number, _):
                return im.Const(number, t)
            case im.Call("cast", (x,), _) if x.type == t:
                return x
            case im.Guarded(_, _, inside, outside) if _is_copy(v):
                return replace(v, inside=self.bits(inside, t), outside=self.bits(outside, t))
            case im.Call("where", (test, a, b), _) if _is_copy(v):
                return im.Call("where", (test, self.bits(a, t), self.bits(b, t)), t)
        return im.Call("cast", (v,), t)

    def is_exact(self, v: ScalarValue) -> bool:
        """Is `v`, which stands for a number of a narrow type, one already?"""
        match v:
            case im.Const():
                return True
            case im.Name(name):
                return name in self.exact
            case im.Call("cast", (x,), _):
                return x.type.is_narrow or x.type == BOOL or (x.type.is_integer and x.type.size == 1)
            case im.Call(op, args, _) if op in CHOOSING:
                return all(map(self.is_exact, args[op == "where" :]))
            case im.Guarded(_, _, inside, outside):
                return self.is_exact(inside) and self.is_exact(outside)
        return False


def _narrow(values: Iterable[ScalarValue]) -> Scalar | None:
    return next((v.type for v in values if v.type.is_narrow), None)


def _is_copy(v: ScalarValue) -> bool:
    """Is `v`, which stands for a number of a narrow type, made of nothing but its bits?"""
    match v:
        case im.Call("cast", (x,), _):
            return x.type.is_narrow and not isinstance(x, im.Call)
        case im.Guarded(_, _, inside, outside):
            return _is_copy(inside) and (_is_copy(outside) or isinstance(outside, im.Const))
        case im.Call("where", (_, a, b), _):
            return _is_copy(a) and _is_copy(b)
    return False
