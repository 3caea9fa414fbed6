"""Loads that find in a cache what another load has brought in the same step of a loop around both.

for i:  for j: s += A[i,j];  for j: acc[j] += A[i,j] * s    ->    the second reads a row that the first has just read

What loops read is compared as a set of places: by rows, by columns, or by vectors, it is the same block.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from egglift.codegen.kernel.index import Var, index
from egglift.costmodel.model.counted_accesses import CountedAccess


def read_again(loads: Sequence[CountedAccess], alone: bool = False) -> dict[int, float]:
    """Of such loads, by their ids, the bytes that a work-item reads there in a step: those must still be there.

    loads: of global memory, in the order of the source.  alone: does a work-item do all that it does before another
    one does?  Then all of that is a step too.
    """
    first: dict[object, CountedAccess] = {}
    found: dict[int, float] = {}
    for a in loads:
        for depth in range(len(a.loops), -1 if alone else 0, -1):
            if first.setdefault(_place(a, depth), a) is not a and id(a) not in found:
                found[id(a)] = a.bytes * prod((n for v, n in a.loops[depth:] if a.at.coefficient(v) != 0), start=1)
    return found


def _place(a: CountedAccess, depth: int) -> object:
    """What is read in a step of the loops around, so many of them: equal for loads in different loops inside."""
    inner = [*a.loops[depth:], *([(a.lane, a.lane.count)] if a.lane is not None else [])]
    steps = [(a.at.coefficient(v), n) for v, n in inner]
    if any(step is None or step < 0 for step, _ in steps):
        new = {v: index(Var(f"%{i}", v.count, "loop")) for i, (v, _) in enumerate(inner)}
        return a.buffer, a.at.substitute(new), a.bytes, a.loops[:depth], tuple(n for _, n in inner)
    begin = a.at.substitute({v: index(0) for v, _ in inner})
    lanes = a.lane.count if a.lane is not None and a.at.coefficient(a.lane) else 1
    together = max(1, a.bytes // a.buffer.scalar.size // lanes)
    return a.buffer, begin, a.loops[:depth], _runs([(1, together), *((s, n) for s, n in steps if s)])


def _runs(steps: Sequence[tuple[int | None, int]]) -> tuple[tuple[int, int], ...]:
    """Steps as far apart as what they are around is long, as one: (1, 4), (4, 8), (100, 3) -> (1, 32), (100, 3)."""
    found = list[tuple[int, int]]()
    for step, n in sorted((s, n) for s, n in steps if s is not None and n > 1):
        if found and step == found[-1][0] * found[-1][1]:
            found[-1] = found[-1][0], found[-1][1] * n
        else:
            found.append((step, n))
    return tuple(found)
