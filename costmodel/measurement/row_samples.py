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
from egglift.ir.traverse import bodies, in_scope
from egglift.ir.types import I64, Array

#: scalar operations that the interpreter may take for all of a result, which may have as many elements; and for a
#: sample of it
WHOLE, PART = 1 << 26, 1 << 25
#: the same for rows that are computed together
AT_ONCE = 1 << 24
#: rows of a sample at most; its first ones are the first and the last of the result, and those around powers of two
MOST = 256
#: where parts of rows can be computed, too: rows, and elements of each of them, chosen alike
ROWS, ELEMENTS = 16, 128


def sampled_rows(program: Expr, seed: int = 0) -> Rows | None:
    """Which rows of a large program's result to check, or which rows of its rows; None: all of it."""
    t, work = type_of(program), operations(program)
    if max(work, volume(t)) <= WHOLE or not isinstance(t, Array) or restricted(program, (0,)) is None:
        return None
    n, rng = number(t.length), np.random.default_rng(seed)
    one = restricted(program, (0,), (0,))
    if one is None or not isinstance(t.element, Array):
        return Rows(_picked(n, max(2, min(MOST, PART * n // work)), rng), n)
    m = number(t.element.length)
    rows = _picked(n, max(4, min(ROWS, PART // operations(one))), rng)
    few = restricted(program, rows, (0, m - 1))
    assert few is not None
    elements = _picked(m, max(8, min(ELEMENTS, 2 * PART // operations(few))), rng)
    return Rows(tuple(i * m + j for i in rows for j in elements), n * m)


def _picked(n: int, most: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Some of n indices, rising: the first and the last, those around powers of two, and others at random."""
    edges = [0, n - 1, *(k for power in range(3, 12) for k in ((1 << power) - 1, 1 << power) if k < n)]
    drawn = rng.choice(n, min(most, n), replace=False).tolist()
    found = list(dict.fromkeys([0, n - 1, *drawn[: most // 2], *edges, *drawn]))
    return tuple(sorted(found[:most]))


def portions(program: Expr, rows: Rows) -> Iterator[Expr]:
    """The program for a sample of its result, a few rows at a time: what the interpreter holds at once is bounded."""
    t = type_of(program)
    assert isinstance(t, Array)
    m = rows.of // number(t.length)  # rows of each row, or 1
    outer = tuple(dict.fromkeys(i // m for i in rows.indices))
    elements = tuple(dict.fromkeys(i % m for i in rows.indices)) if m > 1 else None
    one = restricted(program, outer[:1], elements)
    assert one is not None
    few = max(1, AT_ONCE // max(1, operations(one)))
    for start in range(0, len(outer), few):
        part = restricted(program, outer[start : start + few], elements)
        assert part is not None
        yield part


def restricted(program: Expr, rows: Sequence[int], elements: Sequence[int] | None = None) -> Expr | None:
    """The program for some rows of its result, or for some elements of these; None if that is not so simple.

    map f x -> map f (gather rows x);  map (map f) x -> map (row -> map f (gather elements row)) (gather rows x)
    transpose x -> transpose (map (gather rows) x)
    """
    match program:
        case p.Transpose(x):
            t = type_of(x)
            assert isinstance(t, Array)
            some = x if elements is None else _gathered(elements, x)
            return p.Transpose(p.Map(p.Gather(_places(rows), p.Arg(t.element)), some))
        case p.Map(body, x, level):
            part = body if elements is None else restricted(body, elements)
            return None if part is None else p.Map(part, _gathered(rows, x), level)
        case p.Zip(arrays):
            parts = [restricted(a, rows, elements) for a in arrays]
            return None if any(q is None for q in parts) else p.Zip(tuple(q for q in parts if q is not None))
    return None


def _gathered(rows: Sequence[int], x: Expr) -> Expr:
    """Some rows of an array: of what is mapped, no others are computed."""
    match x:
        case p.Map(body, inner, level):
            return p.Map(body, _gathered(rows, inner), level)
        case p.Zip(arrays):
            return p.Zip(tuple(_gathered(rows, a) for a in arrays))
    return p.Gather(_places(rows), x)


def _places(rows: Sequence[int]) -> Expr:
    return p.Constant(Array(len(rows), I64), np.array(rows, np.int64).tobytes())


@cache
def operations(e: Expr) -> int:
    """Scalar operations that the interpreter takes, roughly: every body once for every element."""
    return sum(map(_own, in_scope(e)))  # as often does the interpreter compute them


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
