"""Totals of rows that need what is reduced of themselves: the rows first, by whom has read them, then their total."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.schedules.rows import row_structures, rows_of
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, result, whole
from tests.egraph.stages.programs import arr

A, B = arr("A", 5, 7), arr("B", 5, 7)


def logs(x: Any) -> Any:
    below = x - x.max(axis=1, keepdims=True)
    return below - el.log(el.exp(below).sum(axis=1, keepdims=True))


LOSSES: dict[str, Callable[[], Any]] = {
    "of one array": lambda: (logs(A) * B).sum(),
    "of two arrays": lambda: (el.exp(logs(B)) * (logs(B) - logs(A))).sum() / 5,
    "of columns": lambda: (logs(A.T) * B.T).sum(),
    "two totals": lambda: el.tuple((logs(A) * B).sum(), abs(logs(A)).sum()),
}
OTHERS: dict[str, Callable[[], Any]] = {
    "of nothing but elements": lambda: (A * B).sum(),
    "of one number for all": lambda: ((A - A.mean()) * B).sum(),
    "of rows and of columns": lambda: (A / A.sum(axis=1, keepdims=True) / A.sum(axis=0, keepdims=True)).sum(),
    "of each row": lambda: (logs(A) * B).sum(axis=1),
}


def stages(program: Any) -> Stages:
    return stages_of(program, True, Partitioning(totals=True))


@pytest.mark.parametrize("name", LOSSES)
def test_totals_are_of_rows_that_start_what_they_need(name: str) -> None:
    program = as_program(LOSSES[name]())
    found = stages(program)
    assert any(".rows" in text_of(s) for s in found.stages)
    assert [row for row in rows_of(found) if list(row_structures(row, True))]
    values = exact_inputs(program)
    expected, got = (result(t, values) for t in (program, whole(found)))
    np.testing.assert_allclose(np.ravel(got), np.ravel(expected), rtol=1e-4)


@pytest.mark.parametrize("name", OTHERS)
def test_other_reductions_stay_as_they_are(name: str) -> None:
    program = as_program(OTHERS[name]())
    assert list(map(text_of, stages(program).stages)) == list(map(text_of, stages_of(program).stages))
