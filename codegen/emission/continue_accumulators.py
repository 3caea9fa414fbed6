"""A pass over statements: accumulators of a work-group that follow each other share their registers."""

from __future__ import annotations

from collections.abc import Sequence

from egglift.codegen.emission.builder import Builder
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.accesses import Access, accesses
from egglift.codegen.kernel.imperative import Buffer, Statement
from egglift.codegen.kernel.rewrite import redirected


def continue_accumulators(em: Builder, statements: Sequence[Statement]) -> Sequence[Statement]:
    """`statements` where an accumulator that starts as a copy of one that is not used again goes on in its memory.

    float acc0[4], acc1[4];
    for (...) acc0[i0] += x[...];                float acc0[4];
    for (...) acc1[i1] = acc0[i1];         ->    for (...) acc0[i0] += x[...];
    for (...) acc1[i2] *= y[...];                for (...) acc0[i2] *= y[...];

    What the accumulators that are registers take of private memory is known then, and counted.
    """
    names = set(em.registers)
    while (pair := _continues([a for a in accesses(statements) if a.buffer.name in names])) is not None:
        new, old = pair
        statements = redirected(statements, {new: old})
    if names:
        em.take_private(_bytes(statements, names), next(iter(em.registers.values())))
    return statements


def _continues(seen: list[Access]) -> tuple[Buffer, Buffer] | None:
    """(new, old) where `new` may go on in the memory of `old`."""
    firsts: dict[Buffer, Access] = {}
    lasts: dict[Buffer, Access] = {}
    for a in seen:
        firsts.setdefault(a.buffer, a)
        lasts[a.buffer] = a
    for new, first in firsts.items():
        old = _copied(first)
        if old is None or old not in firsts or old is new or (old.size, old.scalar) != (new.size, new.scalar):
            continue
        # nothing repeats the copy while `old` lasts, and nothing looks at `old` after it
        again = [loop for loop in first.path if loop not in firsts[old].path and loop.var not in first.at.variables()]
        if lasts[old].statement is first.statement and not again:
            return new, old
    return None


def _copied(a: Access) -> Buffer | None:
    """The array that the write `a` copies an element of to the same place."""
    value = a.statement.value if a.write and isinstance(a.statement, im.Store) else None
    return value.buffer if isinstance(value, im.Load) and value.at == a.at else None


def _bytes(statements: Sequence[Statement], names: set[str]) -> int:
    """The private memory that the accumulators in `names` take; of two branches, one has its own at a time."""
    total = 0
    for s in statements:
        match s:
            case im.Declare(buffer) if buffer.name in names:
                total += buffer.bytes
            case im.Loop():
                total += _bytes(s.body, names)
            case im.If():
                total += max(_bytes(s.body, names), _bytes(s.otherwise, names))
    return total
