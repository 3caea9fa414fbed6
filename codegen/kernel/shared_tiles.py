"""A pass over statements: a tile that is computed from another, place by place, for the last time, takes its memory.

{ t = acc + s0[9*l0 + i]; s1[9*l0 + i] = t; }   ->   { t = acc + s0[9*l0 + i]; s0[9*l0 + i] = t; }
out[l0] = s1[8*l0 % 64];                             out[l0] = s0[8*l0 % 64];
"""

from __future__ import annotations

from collections.abc import Sequence

from egglift.codegen.kernel.accesses import Access, accesses
from egglift.codegen.kernel.imperative import Buffer, Statement
from egglift.codegen.kernel.index import Index, Var
from egglift.codegen.kernel.rewrite import redirected
from egglift.ir.lengths import Length


def share_tiles(body: Sequence[Statement], items: Sequence[int]) -> tuple[Sequence[Statement], tuple[Buffer, ...]]:
    """Statements in which tiles of local memory share it, and the tiles that need none of their own any more.

    items: work-items of a group, in each dimension.
    """
    dims = frozenset(d for d, n in enumerate(items) if n > 1)
    gone: list[Buffer] = []
    while pair := _pair(body, dims):
        first, second = pair
        body = redirected(body, {second: first})
        gone.append(second)
    return body, tuple(gone)


def _pair(body: Sequence[Statement], dims: frozenset[int]) -> tuple[Buffer, Buffer] | None:
    """A tile that is read for the last time, and one that is written for the first time, at the same places."""
    seen = [[a for a in accesses((s,)) if a.buffer.space == "local"] for s in body]
    first, last = dict[Buffer, int](), dict[Buffer, int]()
    for i, found in enumerate(seen):
        for access in found:
            first.setdefault(access.buffer, i)
            last[access.buffer] = i
    for b, i in first.items():
        for a in dict.fromkeys(x.buffer for x in seen[i]):
            alike = a is not b and (a.scalar, a.size) == (b.scalar, b.size) and a.start >= b.start
            if alike and first[a] < last[a] == i and _in_place(seen[i], (a, b), dims):
                return a, b
    return None


def _in_place(seen: Sequence[Access], tiles: tuple[Buffer, Buffer], dims: frozenset[int]) -> bool:
    """Is each place of the second tile written after the same one of the first is read, by who alone comes there?"""
    reads, writes = ([x for x in seen if x.buffer is buffer] for buffer in tiles)
    if any(x.write for x in reads) or not all(x.write for x in writes):
        return False
    (at, *others) = dict.fromkeys(x.at for x in (*reads, *writes))
    one_block = len({(x.block, x.path) for x in (*reads, *writes)}) == 1
    before = max(x.position for x in reads) < min(x.position for x in writes)
    items = {v for v in at.variables() if v.role == "local"}
    own = {loop.var for loop in reads[0].path} | items
    return (
        {v.dim for v in items} == dims
        and not others
        and one_block
        and before
        and reads[0].lane is None
        and _is_apart(at, own)
    )


def _is_apart(at: Index, own: set[Var]) -> bool:
    """Is an index another one for all different values of variables?"""
    places = sorted(((k, atom) for atom, k in at.terms), key=lambda term: term[0])
    if {atom for _, atom in places} != own or any(not isinstance(atom, Var) for _, atom in places):
        return False
    reach = 1
    for k, atom in places:
        assert isinstance(atom, Var)
        if k < reach or isinstance(atom.count, Length):
            return False
        reach += k * (atom.count - 1)
    return True
