"""May an array accumulator be updated in place?  Decided on the statements of one step.

A step computes `next` from `acc`.  Writing to `acc` at once is right when every element that the step reads is one
that it writes, in the same statement group and before the write, and no element is written twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from egglift.codegen.imperative import (
    Buffer,
    Call,
    Declare,
    Guarded,
    If,
    IndexValue,
    Let,
    Load,
    Loop,
    Statement,
    Store,
    Value,
)  # fmt: skip
from egglift.codegen.index import Choice, Data, Index, Var


@dataclass(frozen=True)
class Access:
    """A read or write of an element.  path: the loops around it; block and position: where in the program."""

    buffer: Buffer
    at: Index
    write: bool
    path: tuple[Loop, ...]
    block: int
    position: int
    lane: Var | None


def accesses(statements: Iterable[Statement]) -> list[Access]:
    """Every access to memory in `statements`, in order."""
    found: list[Access] = []
    blocks = 0

    def values(vs: Iterable[Value], path: tuple[Loop, ...], block: int, lane: Var | None) -> None:
        for load in loads(vs):
            found.append(Access(load.buffer, load.at, False, path, block, len(found), lane))

    def walk(body: Iterable[Statement], path: tuple[Loop, ...]) -> None:
        nonlocal blocks
        blocks += 1
        block = blocks
        for s in body:
            match s:
                case Let(_, value, lane):
                    values((value,), path, block, lane)
                case Store(buffer, at, value, lane):
                    values((value, *index_values(at)), path, block, lane)
                    found.append(Access(buffer, at, True, path, block, len(found), lane))
                case Loop():
                    walk(s.body, (*path, s))
                case If(conditions, inner):
                    values((v for e, _ in conditions for v in index_values(e)), path, block, None)
                    walk(inner, path)

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


def pointwise(statements: list[Statement], pairs: list[tuple[Buffer, Buffer]]) -> bool:
    """Do `statements` compute each (acc, next) of `pairs` element by element, so that next may be acc?"""
    seen = accesses(statements)
    return all(_pair_is_pointwise(seen, acc, new) for acc, new in pairs)


def _pair_is_pointwise(seen: list[Access], acc: Buffer, new: Buffer) -> bool:
    reads = [a for a in seen if a.buffer is acc]
    writes = [a for a in seen if a.buffer is new]
    if not reads:
        return True
    if len(writes) != 1 or any(a.write for a in reads):
        return False
    (write,) = writes
    return _injective(write) and all(
        a.at == write.at and a.block == write.block and a.position < write.position and a.lane == write.lane
        for a in reads
    )


def _injective(write: Access) -> bool:
    """Does the step write every element at most once?"""
    inner = {loop.var for loop in write.path}
    if write.lane is not None and write.buffer.lanes == 1:
        inner.add(write.lane)
    digits = []
    for a, k in write.at.terms:
        if isinstance(a, Var):
            if a in inner or a.role == "local":
                digits.append((abs(k), a.count))
                inner.discard(a)
        elif not inner.isdisjoint(a.variables()):
            return False
    reach = 0
    for k, count in sorted(digits):
        if k <= reach:
            return False
        reach += k * (count - 1)
    return not inner


def redirected(statements: Iterable[Statement], buffers: Mapping[Buffer, Buffer]) -> list[Statement]:
    """`statements` with other buffers in place of some, whose declarations vanish."""
    result: list[Statement] = []
    for s in statements:
        match s:
            case Declare(buffer) if buffer in buffers:
                continue
            case Store(buffer, at, value, _) if buffer in buffers:
                kept = isinstance(value, Load) and value.buffer is buffers[buffer] and value.at == at
                if not kept:
                    result.append(replace(s, buffer=buffers[buffer]))
            case Loop() | If():
                body = tuple(redirected(s.body, buffers))
                if body:
                    result.append(replace(s, body=body))
            case _:
                result.append(s)
    return result
