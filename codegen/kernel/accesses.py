"""What statements read and write, and what values and indices depend on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from egglift.codegen.kernel.imperative import (
    AwaitProducts,
    Buffer,
    FragmentLoad,
    FragmentProduct,
    Guarded,
    If,
    IndexValue,
    Let,
    Load,
    LookBack,
    Loop,
    ScalarValue,
    Statement,
    Store,
)
from egglift.codegen.kernel.index import ZERO, Index, Var
from egglift.codegen.kernel.walk import index_values, operands, subvalues
from egglift.ir.deadline import require_time


class Access(NamedTuple):
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

    def values(vs: Iterable[ScalarValue], path: tuple[Loop, ...], block: int, lane: Var | None, s: Statement) -> None:
        for load in loads(vs):
            found.append(Access(load.buffer, load.at, False, path, block, len(found), lane, s))

    def walk(body: Iterable[Statement], path: tuple[Loop, ...]) -> None:
        nonlocal blocks
        blocks += 1
        block = blocks
        for s in body:
            require_time()
            match s:
                case Let(_, value, lane):
                    values((value,), path, block, lane, s)
                case Store(buffer, at, value, lane):
                    values((value, *index_values(at)), path, block, lane, s)
                    found.append(Access(buffer, at, True, path, block, len(found), lane, s))
                case FragmentProduct():
                    values((*s.rows, *s.columns, *s.totals), path, block, None, s)
                    for total in s.totals:
                        found.append(Access(total.buffer, total.at, True, path, block, len(found), None, s))
                case AwaitProducts(totals):
                    values(totals, path, block, None, s)
                    for total in totals:
                        found.append(Access(total.buffer, total.at, True, path, block, len(found), None, s))
                case FragmentLoad(into, source, lane):
                    values((source,), path, block, lane, s)
                    for place in into:
                        found.append(Access(place.buffer, place.at, True, path, block, len(found), None, s))
                case LookBack():
                    values((*s.total, *s.init), path, block, None, s)
                    walk(s.combine, path)
                    own = [*s.carried, *(Load(b, ZERO) for b in (s.window, s.going, *s.operands[0], *s.operands[1]))]
                    values(own, path, block, None, s)
                    for place in (*own, Load(s.state, ZERO)):
                        found.append(Access(place.buffer, place.at, True, path, block, len(found), None, s))
                case Loop():
                    walk(s.body, (*path, s))
                case If(conditions, inner):
                    values((v for e, _ in conditions for v in index_values(e)), path, block, None, s)
                    walk(inner, path)
                    walk(s.otherwise, path)

    walk(statements, ())
    return found


def loads(values: Iterable[ScalarValue]) -> list[Load]:
    """The loads in `values`, those in indices included."""
    match values:
        case (value,):
            return list(_loads(value))
        case ():
            return []
    found = dict[int, Load]()
    for value in reversed(tuple(values)):  # as they are found in all of them together
        found |= {id(v): v for v in _loads(value) if id(v) not in found}
    return list(found.values())


def _loads(value: ScalarValue) -> tuple[Load, ...]:
    """The loads in one value.  Kept with it: each pass over statements asks again."""
    memo = value.__dict__
    found: tuple[Load, ...] | None = memo.get("_loads")
    if found is None:
        found = memo["_loads"] = tuple([v for v in subvalues((value,)) if isinstance(v, Load)])
    return found


def value_variables(value: ScalarValue) -> frozenset[Var]:
    """The variables that the indices in `value` depend on."""
    inside = [v for v in subvalues((value,), operands) if isinstance(v, Load | IndexValue | Guarded)]
    return frozenset(variable for v in inside for variable in v.at.variables())
