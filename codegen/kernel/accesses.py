"""What statements read and write, and what values and indices depend on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from egglift.codegen.kernel.imperative import (
    Buffer,
    Call,
    Guarded,
    If,
    IndexValue,
    Let,
    Load,
    Loop,
    Statement,
    Store,
    Value,
)
from egglift.codegen.kernel.index import Choice, Data, Index, Var

SHORT = 32  # loops over private arrays are unrolled up to this many trips: only then are they registers


@dataclass(frozen=True)
class Access:
    """A read or write of an element by `statement`.  path: the loops around it; block and position: where it stands."""

    buffer: Buffer
    at: Index
    write: bool
    path: tuple[Loop, ...]
    block: int
    position: int
    lane: Var | None
    statement: Statement


def accesses(statements: Iterable[Statement]) -> list[Access]:
    """Every access to memory in `statements`, in order."""
    found: list[Access] = []
    blocks = 0

    def values(vs: Iterable[Value], path: tuple[Loop, ...], block: int, lane: Var | None, s: Statement) -> None:
        for load in loads(vs):
            found.append(Access(load.buffer, load.at, False, path, block, len(found), lane, s))

    def walk(body: Iterable[Statement], path: tuple[Loop, ...]) -> None:
        nonlocal blocks
        blocks += 1
        block = blocks
        for s in body:
            match s:
                case Let(_, value, lane):
                    values((value,), path, block, lane, s)
                case Store(buffer, at, value, lane):
                    values((value, *index_values(at)), path, block, lane, s)
                    found.append(Access(buffer, at, True, path, block, len(found), lane, s))
                case Loop():
                    walk(s.body, (*path, s))
                case If(conditions, inner):
                    values((v for e, _ in conditions for v in index_values(e)), path, block, None, s)
                    walk(inner, path)
                    walk(s.otherwise, path)

    walk(statements, ())
    return found


def loads(values: Iterable[Value]) -> list[Load]:
    """The loads in `values`, those in indices included."""
    found: list[Load] = []
    seen: set[int] = set()
    stack = list(values)
    while stack:
        v = stack.pop()
        if id(v) in seen:
            continue
        seen.add(id(v))
        match v:
            case Load(_, at):
                found.append(v)
                stack.extend(index_values(at))
            case Call(_, args, _):
                stack.extend(args)
            case Guarded(at, _, a, b):
                stack.extend((a, b, *index_values(at)))
            case IndexValue(at, _):
                stack.extend(index_values(at))
    return found


def index_values(at: Index) -> list[Value]:
    """The loaded numbers in an index."""
    found: list[Value] = []
    for a, _ in at.terms:
        match a:
            case Data(value):
                found.append(value)  # type: ignore[arg-type]
            case Choice(test, _, inside, outside):
                found.extend(v for x in (test, inside, outside) for v in index_values(x))
            case Var():
                pass
            case _:
                found.extend(index_values(a.x))
    return found


def value_variables(value: Value) -> frozenset[Var]:
    """The variables that the indices in `value` depend on."""
    match value:
        case Load(_, at) | IndexValue(at, _):
            return at.variables()
        case Call(_, args, _):
            return frozenset(v for a in args for v in value_variables(a))
        case Guarded(at, _, inside, outside):
            return at.variables() | value_variables(inside) | value_variables(outside)
        case _:
            return frozenset()


def indexes_registers(body: Iterable[Statement], var: Var) -> bool:
    """Does a loop's body choose an element of private memory by the loop's variable?"""
    return any(a.buffer.space == "private" and a.buffer.size > 1 and var in a.at.variables() for a in accesses(body))
