"""Rows that are read once for what they need and for what they add to a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, Plan
from egglift.costmodel.measurement.expected_results import NdArray, flatten
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.again import arranged
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.one_reading import one_readings
from egglift.egraph.schedules.readings import readings
from egglift.egraph.schedules.row_teams import Sizes
from egglift.egraph.schedules.rows_in_turn import in_parts
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.stage import number
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from tests.egraph.staged import exact_inputs, result, same
from tests.egraph.stages.programs import Value, add_up, arr, dot, softmax
from tests.fuzz.guarded import Inputs, outputs_of
from tests.oclgrind import LIMITS, examine

pytestmark = pytest.mark.short

A, x, G = arr("A", 37, 50), arr("x", 50), arr("G", 37, 50)


def normalised(row: Value) -> Value:
    return row.map(lambda v: v / el.sqrt(dot(row, row) + 1))


READ_ONCE: dict[str, Callable[[], Any]] = {
    "a product with both": lambda: A.T @ (A @ x),
    "softmax added up": lambda: el.sum(A.map(softmax), axis=0),
    "rows by their norms": lambda: el.sum(A.map(normalised), axis=0),
    "deviations times others": lambda: el.sum(
        el.map(lambda r, g: el.map(lambda v, w: w * (v - add_up(r) / 50), r, g), A, G), axis=0
    ),
    "deviations by their variance": lambda: el.sum(
        (A - A.mean(axis=1, keepdims=True)) / A.var(axis=1, keepdims=True), 0
    ),
    "with factors of another matrix": lambda: A.T @ ((A @ x) * (arr("B", 37, 20) @ arr("v", 20))),
    "what follows both": lambda: (A.T @ (A @ x).map(el.tanh)).map(el.tanh),
}


def wanted(n: int, m: int) -> dict[str, Callable[[], Any]]:
    """Programs that want what rows need, too: groups of a GPU write it."""
    A, x, t = arr("A", n, m), arr("x", m), arr("t", n)
    return {
        "a gradient and its loss": lambda: (lambda r: el.tuple(el.sum(r * r), A.T @ r))(A @ x - t),
        "both scalings": lambda: (lambda u: el.tuple(u, x * (A.T @ u)))(t / ((A @ x) * (A @ x) + 1)),
        "sums that are scaled by all": lambda: (lambda y: (A.T @ y).map(lambda z: z / (1 + dot(y, y))))(A @ x),
        "softmax added up, and the largest of rows": lambda: el.tuple(
            el.sum(A.map(softmax), axis=0), A.map(lambda r: r.reduce(el.maximum, float("-inf")))
        ),
        "sums of columns, and the largest of rows": lambda: el.tuple(A.sum(axis=0), A.max(axis=1)),
        "less the means of rows and of columns": lambda: A - A.mean(axis=1, keepdims=True) - A.mean(axis=0),
        "a product, and another one": lambda: el.tuple(A.T @ t, A @ x),
    }


PROGRAMS = {"gpu": READ_ONCE | wanted(37, 50), "cpu": READ_ONCE}


def whole_of(program: Expr, sizes: Sizes, kind: str) -> Expr:
    """A program with its last reductions over rows that are read once."""
    whole = stages_of(program)
    (reading,) = one_readings(whole)
    made = in_parts(reading, sizes, kind)
    terms = {s.name: as_pattern(made.added if s.name == reading.last.name else s) for s in whole.stages}
    return arranged(whole, terms, made.arrays)


#: of parts; of the last, teams of items are beside each other in a group
SIZES = (
    Sizes(4, 8, 2),
    Sizes(3, 5, 1),
    Sizes(37, 16, 4),
    Sizes(3, 4, 2, 4, held=False),
    Sizes(2, 25, 1, 2, beside=True),
)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in PROGRAMS.items() for name in names])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_result_of_rows_read_once_is_the_same(name: str, kind: str, sizes: Sizes) -> None:
    program = as_program(PROGRAMS[kind][name]())
    assert same(program, whole_of(program, sizes, kind), exact_inputs(program), 1e-4)


def plans(sizes: Sizes, kind: str, limits: DeviceLimits) -> list[tuple[str, Plan, Inputs, list[NdArray]]]:
    """Kernels of all programs, with inputs and what they are to yield."""
    found = []
    for name, make in PROGRAMS[kind].items():
        program = as_program(make())
        inputs = exact_inputs(program)
        launch = Launch(sizes.items * sizes.teams if kind == "gpu" else 4)
        plan = compile_term(whole_of(program, sizes, kind), launch, limits)
        wanted = [np.ravel(array) for array in result(program, inputs)]
        found.append((name, plan, {k: flatten(v) for k, v in inputs.items()}, wanted))
    return found


@pytest.mark.parametrize(("kind", "sizes"), (("gpu", SIZES[0]), ("gpu", SIZES[3]), ("cpu", SIZES[2])))
def test_kernels_that_read_rows_once_compute_the_same(sizes: Sizes, kind: str) -> None:
    made = plans(sizes, kind, open_device("pocl").limits)
    for (name, _, _, want), got in zip(made, outputs_of([(plan, i) for _, plan, i, _ in made]), strict=True):
        for own, other in zip(got, want, strict=True):
            np.testing.assert_allclose(own, other, 1e-4, 1e-4, err_msg=name)


def test_teams_of_a_group_have_no_races() -> None:
    made = plans(SIZES[4], "gpu", LIMITS)
    for (name, plan, _, want), report in zip(made, examine([(plan, i) for _, plan, i, _ in made]), strict=True):
        assert report.clean, f"{name}: {report}\n{plan.source}"
        for own, other in zip(report.outputs, want, strict=True):
            np.testing.assert_allclose(own, other, 1e-4, 1e-4, err_msg=name)


@pytest.mark.parametrize(
    "program",
    (
        A.T @ (arr("B", 37, 50) @ x),  # another matrix
        A.map(add_up).map(lambda v: v * v),  # no rows are added up
        (lambda y: A.T @ y.map(lambda v: v / (v + dot(y, y))))(A @ x),  # what rows need, together, is needed by each
        el.tuple(A.sum(axis=0), arr("B", 37, 50).sum(axis=1)),  # two matrices
        el.tuple(A.sum(axis=1), arr("B", 50, 37).T.sum(axis=1)),  # both are sums of rows
    ),
)
def test_what_is_not_read_again_is_no_reading(program: Any) -> None:
    assert list(one_readings(stages_of(as_program(program)))) == []


def test_each_step_of_an_iteration_reads_once() -> None:
    step = lambda z: A.T @ (A @ z).map(el.tanh)  # noqa: E731
    whole = stages_of(as_program(step(step(x))))
    by_rows = [r.last.name for r in one_readings(whole) if number(r.columns) == 50]
    assert by_rows == [s.name for s in whole.stages if number(s.dims[0]) == 50]


def test_a_row_is_in_registers_of_a_gpus_items() -> None:
    big = arr("A", 4096, 1024)
    (reading,) = one_readings(stages_of(as_program(big.T @ (big @ arr("x", 1024)))))
    made = in_parts(reading, Sizes(32, 128, 4), "gpu")
    (kernel,) = compile_term(made.kernel, Launch(128), DeviceLimits()).kernels
    assert kernel.source.count("&A[") == 1  # by vectors
    assert "A[" not in kernel.source.replace("&A[", "")


@pytest.mark.parametrize("kind", ("nvidia_h200", "pocl_cpu"))
def test_the_best_sizes_are_found_for_a_device(kind: str) -> None:
    profile = presets()[kind]
    big = arr("A", 4096, 4096)
    (reading,) = one_readings(stages_of(as_program(big.T @ (big @ arr("x", 4096)))))
    found = readings(reading, profile, profile.limits)
    assert len(found) > 1
    assert [r.estimate.seconds for r in found] == sorted(r.estimate.seconds for r in found)


@pytest.mark.parametrize("name", wanted(1100, 300))
def test_kernels_that_the_search_offers_compute_the_same(name: str) -> None:
    profile, program = presets()["nvidia_h200"], as_program(wanted(1100, 300)[name]())
    found = [c for c in scheduled(program, profile, profile.limits, True) if "one reading" in c.sign][:1]
    assert found
    inputs = exact_inputs(program)
    plans = [compile_term(c.term, c.launch, open_device("pocl").limits) for c in found]
    own = {k: flatten(v) for k, v in inputs.items()}
    for c, got in zip(found, outputs_of([(plan, own) for plan in plans]), strict=True):
        for array, want in zip(got, result(program, inputs), strict=True):
            np.testing.assert_allclose(array, np.ravel(want), 1e-4, 1e-4, err_msg=c.sign)


def test_the_search_offers_one_reading_where_it_pays() -> None:
    profile, big = presets()["nvidia_h200"], arr("A", 4096, 4096)
    found = scheduled(as_program(big.T @ (big @ arr("x", 4096))), profile, profile.limits, True)
    assert found[0].sign.startswith("one reading")
    assert "each of 4096 rows is read once" in str(found[0].account)
    strict = scheduled(as_program(big.T @ (big @ arr("x", 4096))), profile, profile.limits, False)
    assert not any(c.sign.startswith("one reading") for c in strict)
