"""Computed factors as arrays that several stages read."""

from __future__ import annotations

from typing import Any

import pytest

import egglift as el
from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.factors import with_factors
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, same, whole
from tests.egraph.stages.programs import Value, arr

X, W, Y = arr("X", 30, 6), arr("W", 30, 1), arr("Y", 30)
WEIGHTED: Value = X * W

PROGRAMS = {
    "products and sums of the same": el.tuple(WEIGHTED.T @ X, WEIGHTED.T @ Y),
    "sums of factors alone": el.tuple(WEIGHTED.T @ X, WEIGHTED.sum(axis=0)),
    "two factors": el.tuple((X + 1).T @ (X * 2), (X * 2).T @ Y),
}


def found(program: Any, least: int = 1) -> tuple[Stages, Stages]:
    before = stages_of(as_program(program))
    return before, Stages(tuple(with_factors(before.stages, least)), before.result)


@pytest.mark.parametrize("name", PROGRAMS)
def test_stages_that_read_factors_mean_the_same(name: str) -> None:
    program = as_program(PROGRAMS[name])
    before, after = found(program)
    assert before.stages != after.stages
    assert same(program, whole(after), exact_inputs(program))


def test_all_stages_read_the_factor_that_one_computes() -> None:
    _, after = found(PROGRAMS["products and sums of the same"])
    one, other = ({r.view for r in reads_of(s.names, s.body)} for s in after.stages)
    (factor,) = one & other
    assert not isinstance(factor, p.Input)


@pytest.mark.parametrize(
    "program", [el.tuple(X.T @ X, X.T @ Y), WEIGHTED.sum(axis=0), X + W], ids=["as they are", "sums", "elements"]
)
def test_what_is_not_multiplied_again_stays(program: Value) -> None:
    before, after = found(program)
    assert before == after


def test_short_factors_stay_where_they_are() -> None:
    before, after = found(PROGRAMS["two factors"], least=1000)
    assert before == after
