"""Accumulators of a work-group, spread over the private memories of its work-items.

While it is emitted, such an accumulator is an array in local memory like any other.  Where it then turns out that
every work-item touches its own elements only, each work-item keeps them in private memory; else the array stays
in local memory.  Which elements are whose is read off the flat index of the accesses: its terms in the work-item's
ids are the work-item's part, the other terms are digits that count through the elements of one work-item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from egglift.codegen.emission.builder import Builder
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.accesses import SHORT, Access, accesses, indexes_registers
from egglift.codegen.kernel.imperative import Buffer, Statement
from egglift.codegen.kernel.index import Index
from egglift.codegen.kernel.ownership import Layout, layout_of
from egglift.codegen.kernel.rewrite import Rewriter, redirected


def recognise(em: Builder, statements: list[Statement], buffers: list[Buffer]) -> bool:
    """Find out how the steps in `statements` share `buffers` out; False if they do not share out all of them."""
    ids = frozenset(v for i, _ in em.free_items() for v in i.variables())
    seen = accesses(statements)
    found: dict[Buffer, Layout] = {}
    for buffer in buffers:
        own = [a for a in seen if a.buffer is buffer]
        layout = next((layout_of(a.at, buffer.size, ids) for a in own if a.write), None)
        if layout is None or any(layout.slot(a.at) is None for a in own):
            return False
        found[buffer] = layout
    em.spread.update(found)
    return True


def settle(em: Builder, statements: list[Statement]) -> list[Statement]:
    """`statements` with the accumulators of the group where they belong: in private memory if that is possible."""
    seen = accesses(statements)
    used = {a.buffer for a in seen}
    apart = {a.buffer for a in seen if a.buffer in em.spread and em.spread[a.buffer].slot(a.at) is None}
    layouts = {b: layout for b, layout in em.spread.items() if b in used - apart}
    result = _privately(em, statements, layouts)
    if within := {a.buffer for a in accesses(result)} & set(layouts):  # loaded as an index
        layouts = {b: layout for b, layout in layouts.items() if b not in within}
        result = _privately(em, statements, layouts)
    names = {b.name for b in layouts}
    result = _continued(result, names)
    for buffer, term in em.undecided.items():
        if buffer in layouts:
            em.take_private(_bytes(result, names), term)
            names = set()  # all of them are counted
        elif buffer in used:
            em.keep(buffer, term)
    return result


def _bytes(statements: Sequence[Statement], names: set[str]) -> int:
    """The private memory that the accumulators in `names` take; of two branches, one has its own at a time."""
    total = 0
    for s in statements:
        match s:
            case im.Declare(buffer) if buffer.name in names:
                total += buffer.size * buffer.scalar.size
            case im.Loop():
                total += _bytes(s.body, names)
            case im.If():
                total += max(_bytes(s.body, names), _bytes(s.otherwise, names))
    return total


def _continued(statements: list[Statement], names: set[str]) -> list[Statement]:
    """`statements` where an accumulator that starts as a copy of one that is not used again goes on in its memory."""
    while (pair := _continues([a for a in accesses(statements) if a.buffer.name in names])) is not None:
        new, old = pair
        statements = redirected(statements, {new: old})
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


def _privately(em: Builder, statements: list[Statement], layouts: dict[Buffer, Layout]) -> list[Statement]:
    """`statements` with the buffers that have a layout in private memory, the other undecided ones in local memory."""
    if not em.undecided:
        return statements
    own = {b: replace(b, space="private", size=layout.size) for b, layout in layouts.items()}
    slots: dict[tuple[Buffer, Index], Index] = {}

    def place(buffer: Buffer, at: Index) -> tuple[Buffer, Index]:
        if buffer not in own:
            return buffer, at
        if (buffer, at) not in slots:
            slot = layouts[buffer].slot(at)
            assert slot is not None
            slots[buffer, at] = slot
        return own[buffer], slots[buffer, at]

    declared = {b: own.get(b) for b in em.undecided}
    return _unrolled(Rewriter(place, declared).statements(statements))


def _unrolled(statements: Sequence[Statement]) -> list[Statement]:
    """Short loops that choose among registers by their variable are unrolled: only then are these registers."""
    result: list[Statement] = []
    for s in statements:
        if isinstance(s, im.Loop):
            short = s.until is None and s.trips <= SHORT
            s = replace(s, body=tuple(_unrolled(s.body)))
            if short and not s.unroll and indexes_registers(s.body, s.var):
                s = replace(s, unroll=True)
        elif isinstance(s, im.If):
            s = replace(s, body=tuple(_unrolled(s.body)), otherwise=tuple(_unrolled(s.otherwise)))
        result.append(s)
    return result
