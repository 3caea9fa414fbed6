"""Lines of fragments, rows or columns, and how a warp reads them from local memory as matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import TypeAlias

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import is_aligned
from egglift.codegen.kernel.imperative import FragmentLoad, Load, ScalarValue, Unit
from egglift.codegen.kernel.index import Index, Var, choose, index
from egglift.codegen.kernel.views import CHUNK
from egglift.ir.errors import CodegenError

#: lanes along the columns, and along the rows, of a unit's totals
ACROSS, DOWN = 4, 8
Pair: TypeAlias = tuple[ScalarValue, ScalarValue]
#: the element of one of eight lines, at a step
Lines: TypeAlias = Callable[[Index], ScalarValue]


def refused(why: str) -> CodegenError:
    """The error for a loop that no matrix unit can do."""
    return CodegenError(f"a fold for matrix units {why}; use reduceSeqUnroll there")


def rows_of(row: ScalarValue, ids: tuple[Var, Var]) -> Lines:
    """The rows of a warp that are what its lanes call `row`, eight."""
    return lambda line: moved(row, {ids[1]: index(ids[1]) // DOWN * DOWN + line})


def columns_of(pair: Pair, ids: tuple[Var, Var]) -> Lines:
    """The columns of a warp, eight: neighbours have them in pairs."""
    return lambda line: _Columns(ids[0], line).either(*pair)


def moved(v: ScalarValue, to: Mapping[Var, Index | int]) -> ScalarValue:
    """`v` at other values of some variables."""
    match v:
        case Load(buffer, at):
            return Load(buffer, at.substitute(to))
        case im.IndexValue(at, _):
            return replace(v, at=at.substitute(to))
        case im.Call(_, args, _):
            return replace(v, args=tuple(moved(a, to) for a in args))
    return v


@dataclass(frozen=True)
class _Columns:
    """Which of the columns that neighbours have in pairs is taken: its pair is `across`, and it is `column`."""

    across: Var
    column: Index

    def either(self, first: ScalarValue, second: ScalarValue) -> ScalarValue:
        """The first of a pair or the second, of another work-item, if they are made alike."""
        match first, second:
            case Load(buffer, i), Load(other, j) if buffer is other:
                return Load(buffer, self._at(i, j))
            case im.IndexValue(i, t), im.IndexValue(j, u) if t == u:
                return replace(first, at=self._at(i, j))
            case im.Call(op, args, t), im.Call(name, others, u) if (op, t, len(args)) == (name, u, len(others)):
                return replace(first, args=tuple(self.either(x, y) for x, y in zip(args, others, strict=True)))
            case im.Const(), im.Const() if first == second:
                return first
        raise refused("has columns that are not alike")

    def _at(self, i: Index, j: Index) -> Index:
        apart = j - i
        if not apart.terms and i.coefficient(self.across) == 2 * apart.constant:  # columns lie one after the other
            return i.substitute({self.across: 0}) + self.column * apart.constant
        pair = {self.across: self.column // 2}
        return _either(self.column % 2, i.substitute(pair), j.substitute(pair))


# ---------------------------------------------------------------------------------------- matrices


def matrix_loads(unit: Unit, step: Var, ids: tuple[Var, Var], lines: Sequence[tuple[Lines, ...]]) -> MatrixLoads | None:
    """How lines are read as matrices: along their steps, or along the lines and transposed; None where they cannot be.

    They must be in local memory, 16 bytes of a row together.  What is transposed is 2 bytes at a time, so no numbers of
    1 byte, nor of 4.
    """
    if unit.scalar.size > 4:
        return None
    ways = [
        MatrixLoads(CHUNK // unit.scalar.size, step, ids, transposed) for transposed in (False, unit.scalar.size == 2)
    ]
    return next((way for way in ways if all(map(way.fits, lines))), None)


@dataclass(frozen=True)
class MatrixLoads:
    """chunk: steps of a matrix, or lines, those that lie together in memory.

    Lane l of a warp, which is l0 + 4 (l1 % 8), gives the address of row l % 8 of matrix l / 8.
    """

    chunk: int
    step: Var
    ids: tuple[Var, Var]
    transposed: bool

    def fits(self, lines: Sequence[Lines]) -> bool:
        """Do chunks of these lines lie together in the same local memory, aligned?"""
        lane, first = Var("?", self.chunk, "lane"), Var("?c", self.step.count // self.chunk, "loop")
        rows = [self._row(x, index(first) * self.chunk, index(lane)) for x in lines]
        near = [x.buffer for x in rows if x is not None and self._is_chunk(x, lane)]
        return len(near) == len(rows) and len({*near}) == 1

    def _is_chunk(self, row: Load, lane: Var) -> bool:
        if row.buffer.space != "local" or row.buffer.scalar.size * self.chunk != CHUNK:
            return False
        return row.at.coefficient(lane) == 1 and is_aligned(row.at.substitute({lane: 0}), self.chunk)

    def read(self, into: Sequence[Load], lines: Sequence[Lines], start: Index) -> FragmentLoad:
        """Matrices, two or four, of steps that follow each other from `start` on; of several lines in turn."""
        number, lane = index(self.ids[1]) % DOWN // 2 % len(into), Var("e", self.chunk, "lane")
        step = start + number // len(lines) * self.chunk
        rows = [row for x in lines if (row := self._row(x, step, index(lane))) is not None]
        at = _either(number % len(lines), rows[0].at, rows[-1].at)
        return FragmentLoad(tuple(into), Load(rows[0].buffer, at), lane, self.transposed)

    def _row(self, lines: Lines, start: Index, lane: Index) -> Load | None:
        """The row of a matrix that this lane gives."""
        own = index(self.ids[0]) + index(self.ids[1]) % 2 * ACROSS
        line, step = (lane, own) if self.transposed else (own, lane)
        found = moved(lines(line), {self.step: start + step})
        return found if isinstance(found, Load) else None


def _either(which: Index, first: Index, second: Index) -> Index:
    """The first index where `which` is 0, the second where it is 1; what they share stays in sight, factors too."""
    if not (second - first).terms:
        return first + which * (second - first).constant
    shared = Index(tuple(term for term in first.terms if term in second.terms))
    parts = first - shared, second - shared
    factor = gcd(*(k for x in parts for k in (x.constant, *(k for _, k in x.terms))))
    return shared + choose(which, 1, parts[0] // factor, parts[1] // factor) * factor
