"""Registers that are filled and never read: which elements, and how much of a copy is for nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Buffer, Call, Const, If, Let, Load, Loop, ScalarValue, Statement, Store
from egglift.codegen.kernel.index import Data, Index, Var, index
from egglift.costmodel.model.dead_registers import MOST, needed, read_places
from egglift.costmodel.model.operation_counts import tally
from egglift.costmodel.profiles.profile import presets
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, I32
from tests.codegen.low import fmap, op, total, vector

X, OUT = Buffer("x", "global", F32, 9), Buffer("out", "global", F32, 9)
R, S = Buffer("r0", "private", F32, 9), Buffer("r1", "private", F32, 9)
I, J, LANE = Var("i0", 3, "loop"), Var("i1", 3, "loop"), Var("v0", 3, "lane")
G, L = Var("g0", 3, "global"), Var("l0", 3, "local")
ROW = index(I) * 3
CROSS = (1, 3, 4, 5, 7)


def read(*places: Index | int, lane: Var | None = None) -> list[Statement]:
    return [Store(OUT, index(0), Load(R, index(at)), lane) for at in places]


def loop(var: Var, *body: Statement) -> Loop:
    return Loop(var, var.count, body, unroll=True)


def elements(statements: list[Statement], buffer: Buffer = R) -> list[int]:
    return np.flatnonzero(read_places(statements)[buffer]).tolist()


# ---------------------------------------------------------------------------------------- what is read


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (read(*CROSS), [1, 3, 4, 5, 7]),
        (read(4, 4), [4]),
        ([loop(I, *read(index(I) * 2 + 1))], [1, 3, 5]),
        ([loop(I, loop(J, *read(ROW + J)))], [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ([loop(I, loop(J, *read(index(I) + J)))], [0, 1, 2, 3, 4]),
        ([loop(I, *read(index(8) - I))], [6, 7, 8]),
        (read(index(LANE) + 3, lane=LANE), [3, 4, 5]),
        ([loop(I, *read(index(I) * 4 - 1))], [3, 7]),  # a test keeps it from -1
        ([Let("t", Call("add", (Load(R, index(0)), Load(R, index(8))), F32))], [0, 8]),
        ([If(((index(G), 2),), tuple(read(2)), 1.0, tuple(read(6)))], [2, 6]),
        ([Store(OUT, index(Data(Load(R, index(5)), 0, 8)), Const(1.0, F32))], [5]),
    ],
)
def test_the_elements_that_are_read_are_known(statements: list[Statement], expected: list[int]) -> None:
    assert elements(statements) == expected


@pytest.mark.parametrize("at", [index(G), index(L) + 1, index(I) + G, (index(I) + 1).clamp(3), index(J) * 2 % 3])
def test_an_index_of_more_than_loops_and_lanes_tells_nothing(at: Index) -> None:
    assert R not in read_places([*read(0), loop(I, loop(J, *read(at))), *read(8)])


def test_writing_is_not_reading() -> None:
    assert R not in read_places([loop(I, Store(R, index(I), Const(0.0, F32)))])
    both: list[Statement] = [loop(I, Store(R, index(G), Load(R, index(I))))]
    assert elements(both) == [0, 1, 2]


def test_arrays_are_told_apart() -> None:
    copy = loop(I, Store(S, index(I), Load(R, index(I))))
    statements: list[Statement] = [copy, Store(OUT, index(0), Load(S, index(7)))]
    assert (elements(statements), elements(statements, S)) == ([0, 1, 2], [7])


@pytest.mark.parametrize(
    "buffer",
    [X, Buffer("s0", "local", F32, 9), Buffer("r", "private", F32, 1), Buffer("r", "private", F32, 9, lanes=4)],
    ids=str,
)
def test_only_arrays_of_registers_are_looked_at(buffer: Buffer) -> None:
    assert not read_places([Store(OUT, index(0), Load(buffer, index(0)))])


def test_too_many_accesses_are_not_looked_at() -> None:
    large, few = Var("i0", MOST + 1, "loop"), Var("i0", MOST, "loop")
    wide = Buffer("r", "private", F32, MOST + 1)
    assert wide not in read_places([loop(large, Store(OUT, index(0), Load(wide, index(large))))])
    assert int(read_places([loop(few, Store(OUT, index(0), Load(wide, index(few))))])[wide].sum()) == MOST


# ---------------------------------------------------------------------------------------- what is needed

READ = read_places(read(*CROSS))
TOP = read_places(read(0, 1))


def copied(at: Index, lane: Var | None = None, value: ScalarValue | None = None, to: Buffer = R) -> Store:
    return Store(to, at, Load(X, at) if value is None else value, lane)


def test_of_a_copy_only_what_is_read_is_needed() -> None:
    assert needed(copied(ROW + J), READ) == pytest.approx(5 / 9)
    assert needed(copied(index(I) * 4), READ) == pytest.approx(1 / 3)  # the diagonal
    assert needed(copied(index(I) * 2 + 1), READ) == 1
    assert needed(copied(index(I) * 8), TOP) == pytest.approx(1 / 3)  # two corners; the third is no element
    assert needed(copied(index(4)), READ) == 1
    assert needed(copied(index(8)), READ) == 0


def test_a_vector_is_needed_where_one_of_its_lanes_is_read() -> None:
    assert needed(copied(ROW + LANE, LANE), READ) == 1
    assert needed(copied(ROW + LANE, LANE), TOP) == pytest.approx(1 / 3)


def test_what_is_no_copy_is_needed() -> None:
    assert needed(copied(ROW + J, value=Call("neg", (Load(X, ROW + J),), F32)), READ) == 1
    assert needed(copied(ROW + J, value=Const(0.0, F32)), READ) == 1


def test_what_is_written_somewhere_is_needed() -> None:
    assert needed(copied(index(G)), READ) == needed(copied(ROW + G), READ) == 1
    assert needed(copied(index(Data(Load(Buffer("n", "global", I32, 9), index(I)), 0, 8))), READ) == 1


def test_a_copy_to_another_array_is_needed() -> None:
    assert needed(copied(ROW + J, to=S), READ) == needed(copied(ROW + J, to=OUT), READ) == 1


# ---------------------------------------------------------------------------------------- of kernels


def tiled(f: Callable[[Expr], Expr]) -> Expr:
    """`f` of windows of 3 x 3 within tiles of 4 x 4, each kept in the registers of a work-item."""

    def tile(t: Expr) -> Expr:
        windows = fmap(p.Transpose, p.Slide(3, 1, fmap(lambda row: p.Slide(3, 1, row), p.To("private", t))))
        return fmap(lambda row: fmap(f, row, "unroll"), windows, "unroll")

    return fmap(tile, vector("x", 64, 4, 4), "global")


def cross(w: Expr) -> Expr:
    def at(i: int, j: int) -> Expr:
        return p.At(j, p.At(i, w))

    return op("add", op("add", at(0, 1), at(2, 1)), op("add", at(1, 0), op("add", at(1, 1), at(1, 2))))


def test_a_cross_of_neighbours_leaves_its_tiles_corners_unread() -> None:
    part, whole = compile_term(tiled(cross)), compile_term(tiled(lambda w: total(p.Join(w))))
    assert tally(part.kernels[0], presets()["nvidia_h200"]).unread == pytest.approx(4 / 16)
    assert tally(whole.kernels[0], presets()["nvidia_h200"]).unread == 0
