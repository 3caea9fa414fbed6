"""Elements that statements read and write, each with the conditions on iterators under which it happens.

y = i > 0 ? x[i - 1] : 0      reads x[i - 1] where i > 0
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from egglift.frontend.arithmetic import guards_of
from egglift.frontend.dependence import is_covered
from egglift.frontend.nest import Affine, Apply, CExpr, Read, Statement, parts
from egglift.frontend.places import refused
from egglift.frontend.variables import Variable
from egglift.ir.types import BOOL


@dataclass(frozen=True)
class Access:
    """An element that a statement reads or writes; the statement's guards are those of the access."""

    read: Read
    statement: Statement


def accesses(statements: Iterable[Statement]) -> list[Access]:
    """All, in the order of the text."""
    return [a for s in statements for a in (*read_by(s), Access(s.target, s))]


def read_by(s: Statement) -> list[Access]:
    """What a statement reads."""
    found = dict.fromkeys(x for e in (s.value, *s.target.at) for x in _under(e, ()))
    return [Access(r, replace(s, guards=(*s.guards, *guards))) for r, guards in found]


def _under(e: CExpr, guards: tuple[Affine, ...]) -> Iterator[tuple[Read, tuple[Affine, ...]]]:
    if isinstance(e, Read):
        yield e, guards
    match e:
        case Apply("where", (Apply("ne", sides), yes, no)):
            yield from _under(Apply("where", (Apply("eq", sides, BOOL), no, yes), e.type), guards)
        case Apply("where", (test, yes, no)):
            forms = guards_of(test)
            yield from _under(test, guards)
            yield from _under(yes, (*guards, *(forms or ())))
            for other in [()] if forms is None else [(f.scaled(-1) - Affine(1),) for f in forms]:
                yield from _under(no, (*guards, *other))
        case _:
            for x in parts(e):
                yield from _under(x, guards)


def refuse_unwritten(statements: Sequence[Statement], variables: Mapping[str, Variable], file: str) -> None:
    """An error at what is read of a local variable before it is written."""
    for a in accesses(statements):
        v = variables[a.read.array]
        if v.given or a.read == a.statement.target:
            continue  # a condition that keeps a value that nobody uses is no fault
        writes = [s for s in statements if s.target.array == v.name]
        if not is_covered(a.statement, a.read, writes, None):
            refused(a.read.place, f"{a.read} is read before it is written; give {v.title} a value first", file)
