"""Accumulators of a work-group, spread over the private memories of its work-items.

While it is emitted, such an accumulator is an array in local memory like any other.  Where it then turns out that
every work-item touches its own elements only, each work-item keeps them in private memory; else the array stays
in local memory.  Which elements are whose is read off the flat index of the accesses: its terms in the work-item's
ids are the work-item's part, the other terms are digits that count through the elements of one work-item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from egglift.codegen.emission import guards
from egglift.codegen.emission.builder import Builder
from egglift.codegen.kernel.accesses import accesses
from egglift.codegen.kernel.imperative import Buffer, Statement
from egglift.codegen.kernel.index import Index
from egglift.codegen.kernel.ownership import Layout, layout_of
from egglift.codegen.kernel.rewrite import Rewriter
from egglift.ir import patterns as p


def recognise(em: Builder, statements: list[Statement], buffers: list[Buffer]) -> bool:
    """Find out how the steps in `statements` share `buffers` out; False if they do not share out all of them."""
    ids = frozenset(v for i, _ in em.free_items() for v in i.variables())
    seen = accesses(statements)
    layouts: dict[Buffer, Layout] = {}
    for buffer in buffers:
        own = [a for a in seen if a.buffer is buffer]
        layout = next((layout_of(a.at, buffer.size, ids) for a in own if a.write), None)
        if layout is None or any(layout.slot(a.at) is None for a in own):
            return False
        layouts[buffer] = layout
    em.spread.update(layouts)
    return True


def accumulators_to_registers(em: Builder, statements: Sequence[Statement]) -> list[Statement]:
    """`statements` with the accumulators of the group where they belong: in private memory if that is possible.

    local float acc0[256];                              float acc0[4];
    for (int i0 = 0; i0 < 4; ++i0)                ->    for (int i0 = 0; i0 < 4; ++i0)
      acc0[64*i0 + l0] += x[64*i0 + l0];                  acc0[i0] += x[64*i0 + l0];
    """
    if not em.undecided:
        return list(statements)
    seen = accesses(statements)
    used = {a.buffer for a in seen}
    apart = {a.buffer for a in seen if a.buffer in em.spread and em.spread[a.buffer].slot(a.at) is None}
    layouts = {b: layout for b, layout in em.spread.items() if b in used - apart}
    result = _privately(em, statements, layouts)
    if within := {a.buffer for a in accesses(result)} & set(layouts):  # loaded as an index
        layouts = {b: layout for b, layout in layouts.items() if b not in within}
        result = _privately(em, statements, layouts)
    for buffer, term in em.undecided.items():
        if buffer in layouts:
            em.registers[buffer.name] = term
        elif buffer in used:
            if isinstance(term, p.To):
                guards.refuse_spread(em, term, term.x)
            em.keep(buffer, term)
    return result


def _privately(em: Builder, statements: Sequence[Statement], layouts: Mapping[Buffer, Layout]) -> list[Statement]:
    """`statements` with the buffers that have a layout in private memory, the other undecided ones in local memory."""
    own = {b: _own(b, layout) for b, layout in layouts.items()}
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
    return Rewriter(place, declared).statements(statements)


def _own(buffer: Buffer, layout: Layout) -> Buffer:
    """What a work-item keeps of a group's array."""
    return replace(buffer, space="private", size=layout.size)
