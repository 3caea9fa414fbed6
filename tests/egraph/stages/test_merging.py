"""Several dimensions as one, and back."""

from __future__ import annotations

from itertools import permutations

import pytest

from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.merging import merged_dims, restored
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, only_stage, same
from tests.egraph.stages.programs import PROGRAMS


@pytest.mark.parametrize("name", ["two batches", "rotation of 4", "repeated", "A^T A", "convolution"])
def test_merged_dimensions_are_restored(name: str) -> None:
    program = as_program(PROGRAMS[name]())
    stage, inputs = only_stage(program), exact_inputs(program)
    for count in (2, 3):
        for dims in list(permutations(stage.dims, count))[:6]:
            whole = merged_dims(stage, dims)
            assert len(whole.dims) == len(stage.dims) - count + 1
            assert same(program, restored(as_pattern(whole), stage.dims, dims), inputs, 1e-4)
