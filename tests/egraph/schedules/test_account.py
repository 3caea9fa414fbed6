"""What is said of schedules."""

from __future__ import annotations

from egglift.egraph.schedules.account import account_of, joined, laws_of
from egglift.egraph.schedules.schedule import Keep, Loop, Schedule
from egglift.ir.patterns import Level
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import PROGRAMS

STAGE = only_stage(PROGRAMS["product with a transposed"]())
(I, J), (K,) = STAGE.dims, STAGE.reductions[0].dims
GRID = Level("global", 0)
PLAIN = Schedule((Loop(I, 0, "grid", GRID), Loop(J, 0, "own", Level("seq")), Loop(K, 0, "sequential")), ())
CUT = Schedule((Loop(K, 0, "sequential"), Keep(1, "local"), Loop(K, 1, "unrolled")), ((K, (4,)),))


def test_laws_are_those_that_a_schedule_takes() -> None:
    assert laws_of(PLAIN) == ()
    assert laws_of(CUT) == ("split", "interchange", "keep")


def test_an_account_names_stage_loops_and_sizes() -> None:
    text = account_of(STAGE, "cut", CUT, {"k2": 4}).text
    assert text.splitlines()[0].startswith("stage0[0 < 5, 1 < 6] = (add for 2 < 7 of ")
    assert "cut: k2 = 4" in text and "by 4: sequential" in text and "inside: unrolled" in text
    assert "keep operand 1 in local memory" in text


def test_joined_accounts_name_each_law_once() -> None:
    both = joined([account_of(STAGE, "a", CUT, {}), account_of(STAGE, "b", CUT, {})])
    assert both.laws == laws_of(CUT) and both.text.count("stage0[") == 2
