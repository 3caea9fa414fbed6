"""Elements of computed arrays that others read as numbers, at no dimension, beside what is read at each index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, result, same, whole
from tests.egraph.stages.programs import arr, softmax
from tests.fuzz.guarded import outputs_of

pytestmark = pytest.mark.short

x, y = arr("x", 40), arr("y", 15)
A, B, v = arr("A", 6, 30), arr("B", 9), arr("v", 30)


def powers_and_one() -> Any:
    powers = el.exp(A - A.max(axis=1, keepdims=True))
    sums = powers.sum(axis=1)
    return powers / sums[:, None] * sums[2]


PROGRAMS: dict[str, Callable[[], Any]] = {
    "the least of a scan": lambda: y + el.cumsum(x).min(),
    "the least of a scan, read twice": lambda: el.maximum(y, el.cumsum(x).min()) * (el.cumsum(x).min() + 1),
    "an element of a scan": lambda: y + el.cumsum(x)[3],
    "the last of a scan, and its largest": lambda: y + el.cumsum(x)[39] + el.cumsum(x).max(),
    "a scan, and one of its elements": lambda: el.cumsum(x) * el.cumsum(x)[5],
    "a scan of a scan, and an element": lambda: el.cumsum(el.cumsum(x)) * el.cumsum(x)[5],
    "a scan less its least": lambda: el.cumsum(x) - el.cumsum(x).min(),
    "a scan of counts less its least": lambda: (lambda s: s - s.min())(
        el.cumsum(el.bincount(el.array("i", el.i32, 300), 70))
    ),
    "a number, and a sum": lambda: el.tuple(x.sum(), x[3], A[2, 5] * 2),
    "two scans, and an element of one": lambda: el.cumsum(x) * el.cumsum(x * x) + el.cumsum(x)[7],
    "a scan that begins with one's element": lambda: el.cumsum(x * el.cumsum(y)[4]),
    "rows by their sums, and one sum": lambda: el.tuple(A / A.sum(axis=1)[:, None], B * A.sum(axis=1)[3]),
    "rows by their sums, times one of them": lambda: A / A.sum(axis=1)[:, None] * A.sum(axis=1)[3],
    "softmax times one of its sums": powers_and_one,
    "the largest of one row of many": lambda: A.map(softmax) * A.map(softmax)[2].max(),
    "a product with both, times one element": lambda: A.T @ (A @ v) * (A @ v)[3],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_stages_read_numbers_that_there_are(name: str) -> None:
    program = as_program(PROGRAMS[name]())
    stages = stages_of(program)
    assert same(program, whole(stages, {s.name: as_pattern(s) for s in stages.stages}), exact_inputs(program), 1e-3)


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_are_given_numbers_that_there_are(name: str) -> None:
    profile, program, limits = presets()["nvidia_h200"], as_program(PROGRAMS[name]()), open_device("pocl").limits
    inputs = exact_inputs(program)
    own = {k: flatten(a) for k, a in inputs.items()}
    found = scheduled(program, profile, profile.limits, True)[:5]
    assert found
    plans = [(compile_term(c.term, c.launch, limits), own) for c in found]
    for c, got in zip(found, outputs_of(plans), strict=True):
        for array, want in zip(got, result(program, inputs), strict=True):
            np.testing.assert_allclose(array, np.ravel(want), 1e-3, 1e-3, err_msg=c.sign)
