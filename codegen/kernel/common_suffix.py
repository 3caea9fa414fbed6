"""Statements that are the same but for the names of what they declare themselves: loops, registers, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.imperative import Buffer, ScalarValue, Statement
from egglift.codegen.kernel.index import Index, Var, index


def common_end(a: Sequence[Statement], b: Sequence[Statement]) -> int:
    """How many statements at the end of block `a` are the same as those at the end of `b`.

    They use nothing that is declared in what comes before them in one block and not in the other.
    """
    most = 0
    while most < min(len(a), len(b)) and _one(a[-most - 1], b[-most - 1], _Names(loose=True)):
        most += 1
    count, names = most, _Names()
    for left in range(most, 0, -1):
        if not _one(a[-left], b[-left], names):  # it uses what is declared before it: the end begins behind it
            count, names = left - 1, _Names()
    return count


@dataclass
class _Names:
    """What `b` calls the things that `a` declares.  loose: whatever is not known yet is taken to be the same."""

    loose: bool = False
    variables: dict[Var, Index] = field(default_factory=dict)  # of b, in terms of a
    buffers: dict[Buffer, Buffer] = field(default_factory=dict)
    lets: dict[str, str] = field(default_factory=dict)


def _same(a: Sequence[Statement], b: Sequence[Statement], names: _Names) -> bool:
    return len(a) == len(b) and all(_one(s, t, names) for s, t in zip(a, b, strict=True))


def _one(a: Statement, b: Statement, names: _Names) -> bool:
    match a, b:
        case im.Comment(text), im.Comment(other):
            return text == other
        case im.Barrier(space), im.Barrier(other):
            return space == other
        case im.Declare(x), im.Declare(y):
            names.buffers[y] = x
            return _shape(x) == _shape(y)
        case im.Let(x, value, lane), im.Let(y, other_value, other):
            if not (_lanes(lane, other, names) and _values(value, other_value, names)):
                return False
            names.lets[y] = x
            return True
        case im.Store(x, at, value, lane), im.Store(y, place, other_value, other):
            return (
                (a.atomic, a.asynchronous) == (b.atomic, b.asynchronous)
                and _lanes(lane, other, names)
                and _buffers(x, y, names)
                and _at(at, place, names)
                and _values(value, other_value, names)
            )
        case im.Loop(), im.Loop():
            return _loops(a, b, names)
        case im.If(tests, body, _, otherwise), im.If(others, other_body, _, other_otherwise):
            return (
                _tests(tests, others, names)
                and _same(body, other_body, names)
                and _same(otherwise, other_otherwise, names)
            )
    return False


def _loops(a: im.Loop, b: im.Loop, names: _Names) -> bool:
    if (a.trips, a.unroll, a.until is None, a.ends) != (b.trips, b.unroll, b.until is None, None):
        return False
    names.variables[b.var] = index(a.var)
    if a.until is not None and b.until is not None and not _tests((a.until,), (b.until,), names):
        return False
    return _same(a.body, b.body, names)


def _tests(a: Sequence[tuple[Index, int]], b: Sequence[tuple[Index, int]], names: _Names) -> bool:
    return len(a) == len(b) and all(n == m and _at(e, f, names) for (e, n), (f, m) in zip(a, b, strict=True))


def _lanes(a: Var | None, b: Var | None, names: _Names) -> bool:
    if a is None or b is None:
        return a is b
    names.variables[b] = index(a)
    return a.count == b.count


def _buffers(a: Buffer, b: Buffer, names: _Names) -> bool:
    found = names.buffers.get(b, b)
    return found is a or (names.loose and _shape(a) == _shape(b))


def _shape(x: Buffer) -> tuple[object, ...]:
    return x.space, x.scalar, x.size, x.lanes, x.values


def _at(a: Index, b: Index, names: _Names) -> bool:
    return a == b.substitute(names.variables)


def _values(a: ScalarValue, b: ScalarValue, names: _Names) -> bool:
    match a, b:
        case im.Load(x, at), im.Load(y, place):
            return _buffers(x, y, names) and _at(at, place, names)
        case im.Name(x, t), im.Name(y, u):
            return t == u and (names.lets.get(y, y) == x or names.loose)
        case im.IndexValue(at, t), im.IndexValue(place, u):
            return t == u and _at(at, place, names)
        case im.Call(op, args, t), im.Call(other, others, u):
            same = op == other and t == u and len(args) == len(others)
            return same and all(_values(x, y, names) for x, y in zip(args, others, strict=True))
        case im.Guarded(at, n, x, y), im.Guarded(place, m, z, w):
            return n == m and _at(at, place, names) and _values(x, z, names) and _values(y, w, names)
        case im.Const(), im.Const():
            return a.type == b.type and repr(a.value) == repr(b.value)  # 0.0 == -0.0, and a NaN equals nothing
    return False
