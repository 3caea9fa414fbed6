"""Temporaries share memory where their lives do not meet."""

from __future__ import annotations

import numpy as np

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.reuse import FEW
from egglift.costmodel.measurement.expected_results import sample_inputs
from tests.harness import compute
from tests.towers import lowered, prefix_sums


def test_a_chain_of_kernels_takes_two_temporaries() -> None:
    plan = compile_term(prefix_sums(20, 5000))
    assert len(plan.steps) == 20 and len(plan.temporaries) == 2


def test_a_launch_never_writes_what_it_reads() -> None:
    for program in (prefix_sums(12, 5000), lowered(9, 5000)):
        for _, given in compile_term(program).steps:
            assert len(set(given)) == len(given)


def test_numbers_and_arrays_do_not_share() -> None:
    plan = compile_term(lowered(9, 5000))
    assert {b.size for b in plan.temporaries} == {1, 5000}


def test_a_few_temporaries_are_left_apart() -> None:
    plan = compile_term(prefix_sums(FEW + 1, 5000))
    assert len(plan.temporaries) == FEW


def test_what_is_computed_in_shared_memory_is_right() -> None:
    for program in (prefix_sums(12, 5000), lowered(9, 5000)):
        inputs = sample_inputs(program)
        np.testing.assert_allclose(compute(program, **inputs), el.interpret(program, **inputs), rtol=1e-4, atol=1e-4)
