"""Several dimensions as one, and back."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

import egglift as el
from egglift.egraph.schedules.structures import structures
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.merging import merged_dims, merged_reductions, restored
from egglift.ir.lifting import as_program
from tests.egraph.staged import composed, exact_inputs, only_stage, same, sized
from tests.egraph.stages.programs import PROGRAMS, add_up, arr


@pytest.mark.parametrize("name", ["two batches", "rotation of 4", "repeated", "A^T A", "convolution"])
def test_merged_dimensions_are_restored(name: str) -> None:
    program = as_program(PROGRAMS[name]())
    stage, inputs = only_stage(program), exact_inputs(program)
    for count in (2, 3):
        for dims in list(permutations(stage.dims, count))[:6]:
            whole = merged_dims(stage, dims)
            assert len(whole.dims) == len(stage.dims) - count + 1
            assert same(program, restored(as_pattern(whole), stage.dims, dims), inputs, 1e-4)


@pytest.mark.parametrize("kind", ("gpu", "cpu"))
def test_sums_over_several_dimensions_are_sums_over_one(kind: str) -> None:
    program = as_program(arr("x", 3, 2, 5, 7).map(lambda m: m.map(lambda rows: add_up(rows))))
    stage = only_stage(program)
    merged = merged_reductions(stage)
    assert [d.extent for d in stage.reductions[0].dims] == [5, 7]
    assert [d.extent for d in merged.reductions[0].dims] == [35]
    assert same(program, as_pattern(merged), exact_inputs(program))
    for s in structures(stage, kind, True):
        assert same(program, sized(s, Random(1)), exact_inputs(program)), s.sign


def test_sums_that_keep_their_order_keep_it_as_one() -> None:
    x = el.array("x", (el.i64, el.i64), (3, 2, 4))
    program = as_program(x.map(lambda m: el.reduce(composed, (1, 0), el.join(m))))
    merged = merged_reductions(only_stage(program))
    assert same(program, as_pattern(merged), exact_inputs(program))


def test_sums_over_one_dimension_stay_as_they_are() -> None:
    stage = only_stage(arr("x", 3, 7).map(add_up))
    assert merged_reductions(stage) is stage
