"""Whole programs put together from schedules of their stages."""

from __future__ import annotations

from collections import Counter

import pytest

import egglift as el
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.choices import scheduled
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, same
from tests.egraph.stages.programs import PROGRAMS, add_up, arr


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("product of 7 5 33", "nvidia_h200"),
        ("softmax of rows", "pocl_cpu"),
        ("tuple of sums", "pocl_cpu"),
        ("sum and place of a row", "pocl_cpu"),
    ],
)
def test_chosen_programs_mean_what_was_given(name: str, profile: str) -> None:
    program = as_program(PROGRAMS[name]())
    found = scheduled(program, presets()[profile], DeviceLimits(), True)
    assert found
    assert [c.seconds for c in found] == sorted(c.seconds for c in found)
    for choice in found:
        assert same(program, choice.term, exact_inputs(program), 1e-4), choice.sign


def test_a_long_sum_is_shared_by_two_kernels() -> None:
    program = as_program(add_up(arr("x", 1 << 16)))
    found = scheduled(program, presets()["nvidia_h200"], DeviceLimits(), True)
    parts = Counter("parts" in c.sign for c in found)
    assert parts[True]
    assert same(program, found[0].term, exact_inputs(program), 1e-4)


def test_what_has_no_stages_has_no_choices() -> None:
    program = as_program(el.iterate(2, lambda v: v.map(lambda e: e * 2), arr("x", 7)))
    assert scheduled(program, presets()["pocl_cpu"], DeviceLimits(), True) == []
