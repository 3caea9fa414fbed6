"""Checking a part of a large result: some of its rows, computed by the same program on the same inputs.

A product of two matrices of 4096 rows takes the interpreter minutes and gigabytes; a few rows take a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from egglift.codegen.device.execute import Rows
from egglift.codegen.kernel.views import length, volume
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.sizes import evaluate as number
from egglift.ir.traverse import bodies, children
from egglift.ir.types import I64, Array

#: scalar operations that the interpreter may take for all of a result, which may have as many elements; and for the
#: rows of a sample together
WHOLE, PART = 1 << 26, 1 << 27
#: the same for rows that are computed together
AT_ONCE = 1 << 26
#: rows of a sample at most; its first ones are the first and the last of the result, and those around powers of two
MOST = 256


def sampled_rows(program: Expr, seed: int = 0) -> Rows | None:
    """Which rows of a large program's result to check; None: all of it."""
    t, work = type_of(program), operations(program)
    if max(work, volume(t)) <= WHOLE or not isinstance(t, Array) or restricted(program, (0,)) is None:
        return None
    n = number(t.length)
    count = max(2, min(MOST, n, PART * n // work))
    edges = [0, n - 1, *(k for power in range(3, 12) for k in ((1 << power) - 1, 1 << power) if k < n)]
    drawn = np.random.default_rng(seed).choice(n, count, replace=False).tolist()
    rows = list(dict.fromkeys([0, n - 1, *drawn[: count // 2], *edges, *drawn]))
    return Rows(tuple(sorted(rows[:count])), n)


def portions(program: Expr, rows: Rows) -> Iterator[Expr]:
    """The program for some of its rows, a few at a time: what the interpreter holds at once is bounded."""
    few = max(1, AT_ONCE * rows.of // max(1, operations(program)))
    for start in range(0, len(rows.indices), few):
        part = restricted(program, rows.indices[start : start + few])
        assert part is not None
        yield part


def restricted(program: Expr, rows: Sequence[int]) -> Expr | None:
    """The program for some rows of its result; None if it is neither a map nor a transposition.

    map f x -> map f (gather rows x); transpose x -> transpose (map (gather rows) x)
    """
    match program:
        case p.Transpose(x):
            t = type_of(x)
            assert isinstance(t, Array)
            return p.Transpose(p.Map(p.Gather(_places(rows), p.Arg(t.element)), x))
        case p.Map(body, x, level):
            return p.Map(body, p.Gather(_places(rows), x), level)
        case p.Zip(arrays):
            parts = [restricted(a, rows) for a in arrays]
            return None if any(q is None for q in parts) else p.Zip(tuple(q for q in parts if q is not None))
    return None


def _places(rows: Sequence[int]) -> Expr:
    return p.Constant(Array(len(rows), I64), np.array(rows, np.int64).tobytes())


@cache
def operations(e: Expr) -> int:
    """Scalar operations that the interpreter takes, roughly: every body once for every element."""
    return sum(map(_own, _scope(e)))


def _scope(e: Expr) -> Iterator[Expr]:
    """The nodes of `e` outside of bodies, each once: as often does the interpreter compute it."""
    stack, seen = [e], set[Expr]()
    while stack:
        t = stack.pop()
        if t not in seen:
            seen.add(t)
            yield t
            stack.extend(children(t))


def _own(e: Expr) -> int:
    """Operations of a node without those of its parts."""
    match e:
        case (
            p.Map(x=x) | p.Fold(x=x) | p.Tree(x=x) | p.Reduce(x=x) | p.Scan(x=x) | p.ScanSeq(x=x) | p.ScanDoubling(x=x)
        ):
            return length(type_of(x)) * sum(map(operations, bodies(e)))
        case p.Iterate(n, body, _):
            return number(n) * operations(body)
        case p.Apply() | p.Cast():
            return 1
        case p.Input() | p.Constant() | p.Arg():
            return 0
    return volume(type_of(e)) // 64
