"""Temporaries whose lives do not meet share memory: a chain of kernels takes two buffers, not one for each kernel."""

from __future__ import annotations

from collections.abc import Sequence

from egglift.codegen.kernel.imperative import Buffer

LaunchStep = tuple[int, tuple[Buffer, ...]]  # number of a kernel, what it is given
FEW = 4


def reused(
    steps: Sequence[LaunchStep], temporaries: Sequence[Buffer]
) -> tuple[tuple[LaunchStep, ...], tuple[Buffer, ...]]:
    """The launches with as few temporaries as are alive at a time, of each type and size; and these.

    A few temporaries are left apart: what a kernel fails to write shows the better.
    """
    if len(temporaries) <= FEW:
        return tuple(steps), tuple(temporaries)
    own = frozenset(b for b in temporaries if not b.zeroed)
    last = {b: i for i, (_, given) in enumerate(steps) for b in given}
    instead: dict[Buffer, Buffer] = {}
    free: dict[tuple[str, int], list[Buffer]] = {}
    ends: dict[int, list[Buffer]] = {}
    for i, (_, given) in enumerate(steps):
        for b in dict.fromkeys(given):
            if b in own and b not in instead:
                waiting = free.get((b.scalar.name, b.size))
                instead[b] = waiting.pop() if waiting else b
                ends.setdefault(last[b], []).append(instead[b])
        for b in ends.get(i, ()):  # what this launch still reads, it cannot write
            free.setdefault((b.scalar.name, b.size), []).append(b)
    found = tuple((k, tuple(instead.get(b, b) for b in given)) for k, given in steps)
    kept = [b if b.zeroed else instead[b] for b in temporaries if b.zeroed or b in instead]
    return found, tuple(dict.fromkeys(kept))
