"""A pass over statements for devices whose compiler goes wrong behind branches in which a group waits."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from egglift.codegen.kernel.imperative import Barrier, If, Statement
from egglift.codegen.kernel.walk import walk, with_blocks


def join_branches(body: Iterable[Statement]) -> tuple[Statement, ...]:
    """`body` with a barrier behind each branch that has one, where more follows.

    if (w0 < 3) { a; barrier(...); b; }   ->   if (w0 < 3) { a; barrier(...); b; }
    c;                                         barrier(...);
                                               c;

    The group takes the branch together, so either is right; of the left one PoCL (3.0) may make a kernel that never
    ends, if both `b` and `c` have branches or loops of their own.
    """
    inner = [with_blocks(s, join_branches) for s in body]
    result = inner[:1]
    for before, s in pairwise(inner):
        if isinstance(before, If) and _waits(before) and not isinstance(s, Barrier):
            result.append(Barrier("local"))
        result.append(s)
    return tuple(result)


def _waits(s: Statement) -> bool:
    return any(isinstance(t, Barrier) for t in walk((s,)))
