"""Steps that are padded to whole lines add nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.schedules.whole_lines import in_whole_lines
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.stage import Stage, number
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.types import F16, F32
from tests.egraph.stages.programs import arr

A, B = arr("A", 5, 20, t=F16), arr("B", 7, 20, t=F16)


def product(program: Any) -> Stage:
    (stage,) = stages_of(as_program(program)).stages
    return stage


@pytest.mark.parametrize("t", (F16, F32), ids=str)
def test_steps_are_padded_to_lines_of_128_bytes(t: Any) -> None:
    stage = product(arr("A", 5, 20, t=t) @ arr("B", 7, 20, t=t).T)
    padded = in_whole_lines(stage)
    (r,) = padded.reductions
    assert number(r.dims[0]) == 128 // t.size
    rng = np.random.default_rng(0)
    inputs = {n: rng.integers(-4, 4, (k, 20)).astype(t.dtype) for n, k in (("A", 5), ("B", 7))}
    assert np.array_equal(evaluate(as_pattern(padded), inputs), evaluate(as_pattern(stage), inputs))


@pytest.mark.parametrize(
    "program",
    (
        lambda: arr("A", 5, 64, t=F16) @ arr("B", 7, 64, t=F16).T,  # whole lines
        lambda: (1 / A.astype(el.f32)) @ B.astype(el.f32).T,  # of zeros infinite
        lambda: el.max(A[:, None] * B[None], axis=2),  # no sum
    ),
)
def test_other_steps_are_left_as_they_are(program: Any) -> None:
    stage = product(program())
    assert in_whole_lines(stage) is stage
