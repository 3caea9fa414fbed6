"""Loads that find in a cache what another load has brought in the same step of a loop around both.

for i:  for j: s += A[i,j];  for j: acc[j] += A[i,j] * s    ->    the second reads a row that the first has just read
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from egglift.codegen.kernel.index import Var, index
from egglift.costmodel.model.counted_accesses import CountedAccess


def read_again(loads: Sequence[CountedAccess]) -> dict[int, float]:
    """Of such loads, by their ids, the bytes that a work-item reads there in a step: those must still be there.

    loads: of global memory, in the order of the source.
    """
    first: dict[object, CountedAccess] = {}
    found: dict[int, float] = {}
    for a in loads:
        for depth in range(len(a.loops), 0, -1):
            if first.setdefault(_place(a, depth), a) is not a and id(a) not in found:
                found[id(a)] = a.bytes * prod((n for v, n in a.loops[depth:] if a.at.coefficient(v) != 0), start=1)
    return found


def _place(a: CountedAccess, depth: int) -> object:
    """What is read in a step of the loops around, so many of them: equal for loads in different loops inside."""
    inner = [*(v for v, _ in a.loops[depth:]), *([a.lane] if a.lane is not None else [])]
    new = {v: index(Var(f"%{i}", v.count, "loop")) for i, v in enumerate(inner)}
    trips = tuple(n for _, n in a.loops[depth:])
    return a.buffer, a.at.substitute(new), a.bytes, a.loops[:depth], trips
