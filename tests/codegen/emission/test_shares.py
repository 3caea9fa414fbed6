"""How far apart neighbours lie in global memory decides in which order items copy."""

from __future__ import annotations

import pytest

from egglift.codegen.emission.shares import FAR, _distance
from egglift.codegen.kernel.imperative import Buffer, Load
from egglift.codegen.kernel.index import ZERO, Data, Index, Quotient, Remainder, Var, index
from egglift.ir.types import I32

I, J = Var("i", 4, "loop"), Var("j", 256, "loop")
ROWS = index(Quotient(index(J), 64)) * 66 + index(Remainder(index(J), 64))
LOADED = index(Data(Load(Buffer("x", I32, 9, "global"), ZERO), 0, 8))


@pytest.mark.parametrize(
    ("at", "far"),
    [
        (index(J) * 5 + index(I) * 7, 5),
        (ROWS, 1),  # within a row, of which there are several
        (index(Quotient(index(J) * 128, 64)), 2),
        (index(Remainder(index(J) * -3, 64)), 3),
        (index(I), 0),
    ],
)
def test_neighbours_within_a_row_decide(at: Index, far: int) -> None:
    assert _distance(at, J) == far


def test_what_is_loaded_is_far() -> None:
    assert _distance(LOADED, J) == 0
    moving = index(Data(Load(Buffer("x", I32, 999, "global"), index(J)), 0, 8, frozenset({J})))
    assert _distance(moving, J) == FAR
