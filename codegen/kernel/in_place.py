"""May an array accumulator be updated in place?  Decided on the statements of one step.

A step computes `next` from `acc`.  Writing to `acc` at once is right when every element that the step reads is one
that it writes, in the same statement group and before the write, and no element is written twice; or when each
work-item has elements of its own, which it reads before it writes them; or when the step first copies `acc` to `next`,
each element to the same place, and looks at `next` alone from then on.
"""

from __future__ import annotations

from typing import TypeAlias

from egglift.codegen.kernel.accesses import Access, accesses
from egglift.codegen.kernel.imperative import (
    Buffer,
    Load,
    Statement,
    Store,
)
from egglift.codegen.kernel.index import Atom, Quotient, Remainder, Var, index
from egglift.codegen.kernel.ownership import layout_of
from egglift.codegen.kernel.rewrite import redirected

#: an array, and the one that a step writes in its place
Pair: TypeAlias = tuple[Buffer, Buffer]


def in_place(
    statements: list[Statement], parts: list[list[Pair]], ids: frozenset[Var] = frozenset()
) -> tuple[list[Statement], list[list[Pair]]]:
    """`statements` with acc in place of next, for each part, arrays (acc, next), where that is right for all of them;
    and the other parts.

    ids: of the work-items that share out what the statements do.
    """
    seen = accesses(statements)

    def right(acc: Buffer, new: Buffer) -> bool:
        return _pair_is_pointwise(seen, acc, new) or _pair_is_owned(seen, acc, new, ids)

    own = [pair for part in parts if all(right(*pair) for pair in part) for pair in part]
    changed = redirected(statements, {new: acc for acc, new in own})
    gone = {new for _, new in own}
    if any(a.buffer in gone for a in accesses(changed)):
        return statements, parts
    return changed, [part for part in parts if not all(pair in own for pair in part)]


def pointwise(statements: list[Statement], pairs: list[tuple[Buffer, Buffer]]) -> bool:
    """Do `statements` compute each (acc, next) of `pairs` element by element, so that next may be acc?"""
    seen = accesses(statements)
    return all(_pair_is_pointwise(seen, acc, new) for acc, new in pairs)


def _pair_is_owned(seen: list[Access], acc: Buffer, new: Buffer, ids: frozenset[Var]) -> bool:
    """Has each work-item elements of its own, all of which it reads of `acc` before it writes the first of `new`, or
    each just before it writes this one, and looks at `new` alone from then on?"""
    reads = [a for a in seen if a.buffer is acc]
    own = [a for a in seen if a.buffer is new]
    if not own or not own[0].write or any(a.write or a.position > own[0].position for a in reads):
        return False
    first, *later = own
    layout = layout_of(first.at, acc.size, ids)
    if layout is None or any(layout.slot(a.at) is None for a in (*reads, *later)):
        return False
    apart = [a for a in reads if (a.at, a.block, a.lane) != (first.at, first.block, first.lane)]
    begun, beside = {x for a in (first, *reads) for x in _loops(a)}, {x for a in apart for x in _loops(a)}
    return not _loops(first) & beside and not any(_loops(a) & begun for a in later)


def _loops(a: Access) -> set[int]:
    """The loops around an access."""
    return {id(loop) for loop in a.path}


def _pair_is_pointwise(seen: list[Access], acc: Buffer, new: Buffer) -> bool:
    copies = [a for a in seen if a.write and a.buffer is new and _keeps(a, acc)]
    kept = {id(a.statement) for a in copies}
    reads = [a for a in seen if a.buffer is acc and id(a.statement) not in kept]
    writes = [a for a in seen if a.buffer is new and a.write and id(a.statement) not in kept]
    if copies and (reads or any(w.position < copies[-1].position for w in writes)):
        return False
    if not reads:
        return True
    if len(writes) != 1 or any(a.write for a in reads):
        return False
    (write,) = writes
    return _injective(write) and all(
        a.at == write.at and a.block == write.block and a.position < write.position and a.lane == write.lane
        for a in reads
    )


def _keeps(a: Access, acc: Buffer) -> bool:
    """Does the write `a` copy an element of `acc` to the same place?"""
    value = a.statement.value if isinstance(a.statement, Store) else None
    return isinstance(value, Load) and value.buffer is acc and value.at == a.at


def _injective(write: Access) -> bool:
    """Does the step write every element at most once?"""
    inner = {loop.var for loop in write.path}
    if write.lane is not None and write.buffer.lanes == 1:
        inner.add(write.lane)
    digits = []
    atoms = {a for a, _ in write.at.terms}
    for a, k in write.at.terms:
        own = inner & a.variables()
        if isinstance(a, Var):
            inner -= own
            counts = own or a.role == "local"
        else:
            counts = bool(own)
            if counts and not (len(a.variables()) == 1 and _is_digit(a, atoms)):
                return False
        if counts:
            low, high = a.range
            digits.append((abs(k), high - low + 1))
    reach = 0
    for k, count in sorted(digits):
        if k <= reach:
            return False
        reach += k * (count - 1)
    return not any(v for v in inner if not _is_told(v, atoms))


def _is_digit(a: Atom, atoms: set[Atom]) -> bool:
    """Is `a` the quotient or the remainder of a variable whose other part is there too?"""
    match a:
        case Quotient(x, d):
            return Remainder(x, d) in atoms
        case Remainder(x, d):
            return Quotient(x, d) in atoms
    return False


def _is_told(v: Var, atoms: set[Atom]) -> bool:
    """Do a quotient and a remainder in `atoms` determine `v`?"""
    return any(isinstance(a, Quotient) and a.x == index(v) and Remainder(a.x, a.divisor) in atoms for a in atoms)
