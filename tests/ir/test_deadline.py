"""Work with a time by which it must be done."""

from __future__ import annotations

import math

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.accesses import accesses
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import presets
from egglift.ir.deadline import TooLate, granted, require_time, until
from egglift.ir.deep import deep
from tests.towers import squares

PAST = -math.inf  # by any clock


def test_without_an_end_there_is_time() -> None:
    require_time()


def test_what_is_not_done_in_time_is_given_up() -> None:
    with until(PAST), pytest.raises(TooLate):
        require_time()
    require_time()


def test_an_earlier_end_holds() -> None:
    with until(PAST), until(math.inf), pytest.raises(TooLate):
        require_time()


def test_work_on_a_stack_of_its_own_has_the_same_end() -> None:
    with until(PAST), pytest.raises(TooLate):
        deep(require_time)


def test_generating_and_pricing_kernels_ask_for_the_time() -> None:
    program = squares(3, 77)
    with until(PAST), pytest.raises(TooLate):
        compile_term(program)
    plan = compile_term(program)
    for work in (lambda: estimate(plan, presets()["pocl_cpu"]), lambda: accesses(plan.kernels[0].body)):
        with until(PAST), pytest.raises(TooLate):
            work()


def test_what_must_be_done_is_granted_time() -> None:
    with until(PAST), granted(60.0):
        require_time()
    with until(PAST), granted(0.0), granted(60.0), until(PAST), pytest.raises(TooLate):
        require_time()
