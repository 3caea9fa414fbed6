"""Symmetric stages by halves: blocks on and above the diagonal are computed, the others are these, transposed.

    [ sum_2 A[0,2] * A[1,2]  for 0 < n, for 1 < n ]
    ->  blocks = [ sum_3 X[0,1,3] * Y[0,2,3]  for 0 < T (T + 1) / 2, for 1 < m, for 2 < m ]
        [ where row[0] <= column[1] then upper[0,1] else lower[0,1] ],    T = n / m blocks each way

X and Y are blocks of m rows, gathered by the places of the T (T + 1) / 2 blocks; `upper` lays the blocks out as they
are, `lower` transposed.  Where m does not divide n, the last rows are repeated, and dropped in the result.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.stage import Dim, Read, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import I32, Array, Scalar


def can_mirror(stage: Stage, pair: tuple[Dim, Dim]) -> bool:
    """Is every number that is read at one index of these dimensions at most, and is each result one number?"""
    once = all(sum(d in pair for d in r.dims) < 2 for r in reads_of(stage.names, stage.body))
    return once and isinstance(type_of(stage.body), Scalar)


def mirrored(stage: Stage, pair: tuple[Dim, Dim], side: int) -> tuple[Stage, Stage]:
    """The stage of blocks of `side` x `side`, and the stage that lays them out.  pair: dimensions that may be
    exchanged (symmetry.py), and that `can_mirror`."""
    blocks = _blocks(stage, pair, side)
    return blocks, _laid_out(stage, pair, blocks, side)


def said(stage: Stage, pair: tuple[Dim, Dim], side: int) -> str:
    """What is done, in a sentence."""
    first, second = (stage.dims.index(d) for d in pair)
    computed, count = len(_places(_count(pair[0], side))), _count(pair[0], side)
    return (
        f"{stage.name.lstrip('%')} is the same with dimensions {first} and {second} exchanged: "
        f"{computed} of {count * count} blocks of {side} x {side} are computed, the others are these, transposed"
    )


def _blocks(stage: Stage, pair: tuple[Dim, Dim], side: int) -> Stage:
    i, j = pair
    names, places = stage.names, _places(_count(i, side))
    t, row, column = names.dim(len(places)), names.dim(side), names.dim(side)
    rows, columns = (_table(place[k] for place in places) for k in (0, 1))

    def gathered(read: Read) -> Read:
        read = read.along(i, lambda x: p.Gather(rows, _cut(x, i, side)), (t, row))
        return read.along(j, lambda x: p.Gather(columns, _cut(x, j, side)), (t, column))

    dims = (*(d for d in stage.dims if d not in pair), t, row, column)
    return Stage(f"{stage.name}.blocks", dims, names.with_reads(stage.body, gathered), names)


def _laid_out(stage: Stage, pair: tuple[Dim, Dim], blocks: Stage, side: int) -> Stage:
    i, j = pair
    names, count = stage.names, _count(i, side)
    numbers = {place: k for k, place in enumerate(_places(count))}
    table = _table(numbers[min(r, c), max(r, c)] for r in range(count) for c in range(count))
    others = tuple(d for d in stage.dims if d not in pair)

    def whole(transposed: bool) -> Expr:
        def of(x: Expr) -> Expr:
            x = p.Gather(table, x)
            x = p.Split(count, at_depth(1, x, p.Transpose) if transposed else x)
            x = at_depth(0, permuted(x, "RCrc", "RrCc"), p.Join)
            return p.Take(number(i), at_depth(1, at_depth(1, x, p.Join), lambda e: p.Take(number(j), e)))

        return names.read(Read(at_depth(len(others), p.Input(blocks.name, blocks.type), of), (*others, i, j)))

    above = p.Apply("le", (names.read(Read(_row_of(i, side), (i,))), names.read(Read(_row_of(j, side), (j,)))))
    return Stage(stage.name, stage.dims, p.Apply("where", (above, whole(False), whole(True))), names)


def _count(d: Dim, side: int) -> int:
    return -(-number(d) // side)


def _places(count: int) -> list[tuple[int, int]]:
    """The rows and columns of the blocks on and above the diagonal."""
    return [(r, c) for r in range(count) for c in range(r, count)]


def _cut(x: Expr, d: Dim, side: int) -> Expr:
    return p.Split(side, x if number(d) % side == 0 else p.PadUp(side, x))


def _row_of(d: Dim, side: int) -> Expr:
    """The block that each index lies in."""
    count = _count(d, side)
    return p.Take(number(d), p.Join(p.Map(p.Fill(side, p.Arg(I32)), p.Iota(count, I32))))


def _table(numbers: Iterable[int]) -> p.Constant:
    data = array("i", numbers)
    return p.Constant(Array(len(data), I32), data.tobytes())
