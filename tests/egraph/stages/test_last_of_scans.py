"""The last value of a scan as a reduction, where the scan is read otherwise, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import egglift as el
from egglift.egraph.stages.partition import stages_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, same, texts, whole
from tests.egraph.stages.programs import arr

A, x = arr("A", 5, 12), arr("x", 30)

PROGRAMS: dict[str, Callable[[], Any]] = {
    "of rows, beside their largest": lambda: (lambda s: s.max(axis=1) + s[:, 11])(el.cumsum(A, axis=1)),
    "of one, beside its least": lambda: (lambda s: el.tuple(s.min(), s[29]))(el.cumsum(x)),
    "of running maxima, beside their sum": lambda: (lambda s: s.sum(axis=1) - s[:, 11])(
        A.map(lambda r: el.scan(el.maximum, float("-inf"), r))
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_last_of_a_scan_is_a_reduction_beside_it(name: str) -> None:
    program = as_program(PROGRAMS[name]())
    stages = stages_of(program)
    scans = [s for s in stages.stages if s.scan is not None]
    assert [s.name for s in scans if s.name.endswith(".combined")] == [s.name for s in scans]  # nothing writes the scan
    (last,) = [s for s in stages.stages if s.scan is None and s.reductions]
    assert last.name.endswith(".last") or last is stages.stages[-1]  # computed with what goes on with it
    assert same(program, whole(stages), exact_inputs(program), 1e-4)


@pytest.mark.parametrize(
    "program",
    (
        el.cumsum(A, axis=1)[:, 10] + el.cumsum(A, axis=1).max(axis=1),  # the last but one
        el.cumsum(A, axis=1),  # all of them
        el.cumsum(A[:, ::-1], axis=1)[:, ::-1][:, 11] + el.cumsum(A[:, ::-1], axis=1).max(axis=1),  # the first
    ),
)
def test_other_values_of_a_scan_are_read_from_it(program: Any) -> None:
    assert not any(".last" in text for text in texts(program))


def test_sums_of_a_fixed_order_stay_in_their_scan() -> None:
    program = PROGRAMS["of one, beside its least"]()
    assert not any(".last" in text for text in texts(program, reassociate=False))
    integers = el.cumsum(el.array("i", el.i32, 30))
    assert any(".last" in text for text in texts(el.tuple(integers.min(), integers[29]), reassociate=False))
