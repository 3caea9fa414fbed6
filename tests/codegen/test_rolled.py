"""Periodic shifts as kernels: of any length, by any distance, and by vectors where nothing goes round."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.ir.lifting import as_program
from tests.fuzz.guarded import outputs_of
from tests.harness import NdArray, run

pytestmark = pytest.mark.short


def whole(*shape: int) -> NdArray:
    """Small whole numbers: floats stay exact."""
    return np.random.default_rng(1).integers(-8, 9, shape).astype(np.float32)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 70), st.integers(-80, 80), st.integers(-80, 80))
@example(1, 1, -1)
def test_a_shift_by_any_distance_goes_round_as_numpys(n: int, a: int, b: int) -> None:
    x = el.array("x", el.f32, n)
    program = as_program(x.roll(a) - (2 * x).roll(b).map(lambda v: v + 1).roll(1))
    (got,) = run(compile_term(program, Launch(16)), {"x": (given := whole(n))})
    assert got.tolist() == (np.roll(given, a) - np.roll(np.roll(2 * given, b) + 1, 1)).tolist()


@pytest.mark.parametrize("shape", [(5, 7), (16, 33)])
def test_grids_go_round_in_both_dimensions(shape: tuple[int, int]) -> None:
    A = el.array("A", el.f32, shape)
    up, left = A.roll(1), A.map(lambda row: row.roll(-1))
    (got,) = run(compile_term(as_program(up - 3 * left), Launch(16)), {"A": (given := whole(*shape)).reshape(-1)})
    assert got.tolist() == (np.roll(given, 1, 0) - 3 * np.roll(given, -1, 1)).reshape(-1).tolist()


@pytest.mark.parametrize("shift", [3, -2])
def test_candidates_read_by_vectors_where_nothing_goes_round(shift: int) -> None:
    x = el.array("x", el.f32, 1000)
    kernel = el.optimize(x + x.roll(shift), "pocl", measure="none", cache=False)
    given = whole(1000)
    want = given + np.roll(given, shift)
    for candidate, (got,) in zip(
        kernel.candidates, outputs_of([(c.plan, {"x": [given]}) for c in kernel.candidates]), strict=True
    ):
        assert got.tolist() == want.tolist(), candidate.structure
    assert re.search(r"float\d+_any\*\)&x\[[^?]*[-+] \d\]", kernel.source)
