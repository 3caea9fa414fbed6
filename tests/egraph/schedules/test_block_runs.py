"""Accumulators of stages whose blocks are taken in turn."""

from __future__ import annotations

import pytest

from egglift.egraph.schedules.block_runs import InRuns
from egglift.egraph.schedules.lower import Lowering
from egglift.egraph.schedules.schedule import Loop, Schedule
from egglift.egraph.stages.stage import Stage
from egglift.ir import patterns as p
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Level
from egglift.ir.types import F32
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import arr


def sums() -> Stage:
    """Sums of the columns of a block of 16 rows."""
    return only_stage(arr("A", 16, 6).sum(axis=0))


def steps(stage: Stage, shared: bool) -> tuple[Loop, ...]:
    (columns,), (rows,) = stage.dims, stage.reductions[0].dims
    items = Loop(columns, 0, "item", Level("local", 0))
    if not shared:
        return items, Loop(rows, 0, "sequential")
    return Loop(rows, 0, "item", Level("local", 1)), items, Loop(rows, 1, "sequential")


def runs(shared: bool, block: int = 4) -> InRuns:
    stage = sums()
    own = steps(stage, shared)
    cuts = ((stage.reductions[0].dims[0], (block,)),) if shared else ()
    return InRuns(Lowering(stage, Schedule(own, cuts)), own)


def test_there_is_an_accumulator_for_each_result() -> None:
    assert runs(shared=False).begun() == p.Fill(6, p.Literal(0.0, F32))


def test_items_that_share_a_reduction_have_accumulators_each() -> None:
    assert runs(shared=True).begun() == p.Fill(4, p.Fill(6, p.Literal(0.0, F32)))


def test_what_items_share_leaves_nothing_of_a_block() -> None:
    with pytest.raises(CodegenError, match="left over"):
        runs(shared=True, block=5)
