"""What a loop's step reads a second time."""

from __future__ import annotations

from egglift.codegen.kernel.imperative import Buffer
from egglift.codegen.kernel.index import Index, Var, index
from egglift.costmodel.model.counted_accesses import CountedAccess
from egglift.costmodel.model.read_again import read_again
from egglift.ir.types import F32

I, J, K = Var("i", 100, "loop"), Var("j", 64, "loop"), Var("k", 64, "loop")
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
