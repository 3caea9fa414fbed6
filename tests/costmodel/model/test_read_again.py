"""What a loop's step reads a second time."""

from __future__ import annotations

from dataclasses import replace

from egglift.codegen.kernel.imperative import Buffer
from egglift.codegen.kernel.index import Index, Var, index
from egglift.costmodel.model.counted_accesses import CountedAccess
from egglift.costmodel.model.read_again import read_again
from egglift.ir.types import F32

I, J, K = Var("i", 100, "loop"), Var("j", 64, "loop"), Var("k", 64, "loop")
ITEM = Var("g", 8, "global")
A = Buffer("A", "global", F32, 6400)


def load(at: Index, *loops: Var) -> CountedAccess:
    return CountedAccess(A, at, 4, 6400, False, tuple((v, v.count) for v in loops), None)


def test_a_row_that_is_gone_through_twice_is_read_again() -> None:
    first, second = load(index(I) * 64 + index(J), I, J), load(index(I) * 64 + index(K), I, K)
    assert read_again([first, second]) == {id(second): 64 * 4}


def test_other_rows_and_other_loops_are_read_anew() -> None:
    first = load(index(I) * 64 + index(J), I, J)
    transposed = load(index(K) * 100 + index(I), I, K)
    apart = load(index(Var("i2", 100, "loop")) * 64 + index(J), Var("i2", 100, "loop"), J)
    assert read_again([first, transposed, apart]) == {}


def block(*loops: tuple[Var, int, int], bytes: int = 4) -> CountedAccess:
    """A read at the sum of loops' variables times their steps: (variable, trips, step)."""
    at = index(ITEM) * 1024
    for v, _, step in loops:
        at = at + index(v) * step
    return replace(load(at), loops=tuple((v, n) for v, n, _ in loops), bytes=bytes)


def test_what_a_work_item_reads_is_a_set_of_places() -> None:
    """By rows, by columns or by vectors of four: of 8 rows of 16, 100 apart."""
    i, j = Var("i", 8, "loop"), Var("j", 16, "loop")
    rows, columns = block((i, 8, 100), (j, 16, 1)), block((j, 16, 1), (i, 8, 100))
    vectors = block((Var("k", 8, "loop"), 8, 100), (Var("m", 4, "loop"), 4, 4), bytes=16)
    assert read_again([rows, columns, vectors], alone=True) == {id(x): 8 * 16 * 4 for x in (columns, vectors)}
    assert read_again([rows, columns, vectors]) == {}


def test_other_blocks_are_read_for_the_first_time() -> None:
    i, j = Var("i", 8, "loop"), Var("j", 16, "loop")
    others = block((i, 8, 100), (j, 8, 1)), block((i, 8, 101), (j, 16, 1)), block((j, 16, 1))
    assert read_again([block((i, 8, 100), (j, 16, 1)), *others], alone=True) == {}
