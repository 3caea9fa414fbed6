"""Schedules: loops, cuts and blocks."""

from __future__ import annotations

from egglift.egraph.schedules.schedule import Keep, Loop, Schedule
from egglift.ir.patterns import Level
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import PROGRAMS

STAGE = only_stage(PROGRAMS["product with a transposed"]())
(I, J), (K,) = STAGE.dims, STAGE.reductions[0].dims
GRID = Level("global", 0)
PLAIN = Schedule((Loop(I, 0, "grid", GRID), Loop(J, 0, "own", Level("seq")), Loop(K, 0, "sequential")), ())
CUT = Schedule((Loop(K, 0, "sequential"), Keep(1, "local"), Loop(K, 1, "unrolled")), ((K, (4,)),))


def test_a_dimension_without_cuts_has_no_blocks() -> None:
    assert PLAIN.blocks(K) == () and CUT.blocks(K) == (4,)
    assert len(CUT.loops) == 2
