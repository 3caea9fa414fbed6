"""What reductions read, as arrays of fewer dimensions."""

from __future__ import annotations

from typing import Any

import egglift as el
from egglift.egraph.schedules.lower import operands
from egglift.egraph.stages.operands import operands_of
from egglift.egraph.stages.partition import stages_of
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.traverse import applied
from egglift.ir.types import F32, Tuple
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import PROGRAMS, arr


def test_what_is_computed_of_one_operand_is_one_operand() -> None:
    stage = only_stage(PROGRAMS["exp(A) @ B"]())
    found = operands(stage)
    assert len(found) == 2
    assert any(isinstance(o.at, p.Apply) and o.at.op == "exp" for o in found)


def test_one_array_read_at_two_places_is_two_operands() -> None:
    found = operands(only_stage(PROGRAMS["A^T A"]()))
    assert len(found) == 2
    assert found[0].array == found[1].array and found[0].dims != found[1].dims


def test_results_of_reductions_are_no_operands() -> None:
    stage = only_stage(PROGRAMS["uses a result several times"]())
    assert operands_of(stage.names, stage.body, stage.dims) == []
    stage = only_stage(PROGRAMS["layer"]())
    (bias,) = operands_of(stage.names, stage.body, stage.dims)
    assert bias.dims == stage.dims[1:]


def test_a_step_is_applied_without_tuples() -> None:
    arg = p.Arg(Tuple((F32, F32)))
    a, b = p.Input("a", F32), p.Input("b", F32)
    assert applied(p.Apply("sub", (p.Get(1, arg), p.Get(0, arg))), a, b) == p.Apply("sub", (b, a))


def test_what_steps_read_twice_is_looked_at_once() -> None:
    """Sixty steps are 2^60 paths."""
    x, z = arr("x", 8), arr("z", 60, 8)

    def path(start: Any, noise: Any) -> Any:
        for k in range(60):
            start = start + (0.5 - start) * 0.25 + noise[k]
        return start

    (stage,) = stages_of(as_program(el.map(path, x, z.T))).stages
    assert len(operands(stage)) == 61
