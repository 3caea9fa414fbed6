"""Rows that stay in the registers of a team's items, from the first pass to the last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.held_choices import held_choices
from egglift.egraph.schedules.held_rows import held_row, in_registers
from egglift.egraph.schedules.row_teams import Sizes
from egglift.egraph.schedules.rows import Row, rows_of
from egglift.egraph.stages.given import NotGiven
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.egraph.stages.stage import number
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from tests.egraph.staged import exact_inputs, result, same, whole
from tests.egraph.stages.programs import add_up, arr, softmax
from tests.fuzz.guarded import outputs_of
from tests.oclgrind import LIMITS, examine

pytestmark = pytest.mark.short

H200 = presets()["nvidia_h200"]


def standardised(x: Any, axis: int | tuple[int, ...] = -1) -> Any:
    apart = x - x.mean(axis=axis, keepdims=True)
    return apart / el.sqrt((apart * apart).mean(axis=axis, keepdims=True) + 1)


PROGRAMS: dict[str, Callable[[], Any]] = {
    "softmax": lambda: arr("A", 5, 50).map(softmax),
    "softmax of columns": lambda: arr("A", 50, 5).T.map(softmax).T,
    "its logarithm": lambda: (lambda A: A - el.log(el.exp(A).sum(axis=1, keepdims=True)))(arr("A", 7, 33)),
    "standardised and scaled": lambda: standardised(arr("A", 6, 40)) * arr("g", 40) + arr("b", 40),
    "of a sum with another": lambda: standardised(arr("A", 6, 40) + arr("B", 6, 40)),
    "of a batch of matrices": lambda: standardised(arr("A", 2, 3, 24)),
    "over two axes": lambda: standardised(arr("A", 4, 6, 8), axis=(1, 2)),
    "two passes, the second of the first": lambda: arr("A", 5, 21).map(
        lambda r: r.map(lambda v: v * add_up(r.map(lambda w: el.abs(w - add_up(r)))))
    ),
    "tuples of elements": lambda: arr("A", 5, 21).map(
        lambda r: r.map(lambda v: el.tuple(v / add_up(r), v - add_up(r)))
    ),
}
#: more elements than items, and fewer; teams of a group; rows that are left over
SIZES = (Sizes(0, 8, 1), Sizes(0, 64, 1), Sizes(0, 20, 1, 4), Sizes(0, 4, 2, 2))


def rows(program: Any) -> tuple[Stages, list[Row]]:
    stages = stages_of(as_program(program))
    return stages, list(rows_of(stages))


def held(program: Any, sizes: Sizes) -> Expr:
    """A program whose rows are held."""
    stages, found = rows(program)
    row = next(r for r in found if not r.last.reductions)
    term = in_registers(row, held_row(row), sizes)
    return whole(Stages(row.left(stages.stages), stages.result), {row.last.name: term})


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("sizes", SIZES)
def test_what_is_made_of_held_rows_is_the_same(name: str, sizes: Sizes) -> None:
    program = as_program(PROGRAMS[name]())
    assert same(program, held(program, sizes), exact_inputs(program), 1e-4)


@pytest.mark.parametrize("sizes", SIZES)
def test_a_kernel_of_held_rows_computes_the_same(sizes: Sizes) -> None:
    programs = [as_program(make()) for make in PROGRAMS.values()]
    inputs = [exact_inputs(program) for program in programs]
    launch, limits = Launch(sizes.items * sizes.teams), open_device("pocl").limits
    plans = [compile_term(held(program, sizes), launch, limits) for program in programs]
    assert {len(plan.kernels) for plan in plans} == {1}
    given = [(plan, {k: flatten(v) for k, v in own.items()}) for plan, own in zip(plans, inputs, strict=True)]
    for name, program, own, got in zip(PROGRAMS, programs, inputs, outputs_of(given), strict=True):
        for array, want in zip(got, result(program, own), strict=True):
            np.testing.assert_allclose(array, np.ravel(want), 1e-4, 1e-4, err_msg=name)


def test_teams_that_hold_rows_have_no_races() -> None:
    program = as_program(PROGRAMS["softmax"]())
    plan = compile_term(held(program, SIZES[3]), Launch(8), LIMITS)
    (report,) = examine([(plan, {k: flatten(v) for k, v in exact_inputs(program).items()})])
    assert report.clean, f"{report}\n{plan.source}"


def test_an_element_is_read_and_its_exponential_taken_once() -> None:
    term = held(arr("A", 4096, 1024).map(softmax), Sizes(4096, 64, 4))
    (kernel,) = compile_term(term, Launch(64), DeviceLimits()).kernels
    assert kernel.source.count("&A[") == 1
    assert kernel.source.count("exp(") == 1


@pytest.mark.parametrize(
    "program",
    (
        arr("A", 7, 31).map(lambda r: add_up(r.map(lambda v: el.abs(v - add_up(r))))),  # a number of each row
        arr("A", 7, 31).map(lambda r: arr("x", 31).map(lambda v: v / add_up(r))),  # another row
    ),
)
def test_rows_whose_elements_are_not_read_again_are_not_held(program: Any) -> None:
    for row in rows(program)[1]:
        with pytest.raises(NotGiven):
            held_row(row)


def test_sizes_leave_each_item_a_few_elements_of_long_rows() -> None:
    _, (row,) = rows(arr("A", 8192, 4096).map(softmax))
    found = held_choices(row, H200, H200.limits)
    assert found and [c.seconds for c in found] == sorted(c.seconds for c in found)
    assert all(8 <= 4096 / dict(c.sizes)["items"] <= 32 for c in found)
    assert held_choices(row, H200, H200.limits, several=False) == found[:1]


def test_rows_that_no_group_can_hold_are_not_offered() -> None:
    _, (row,) = rows(arr("A", 4, 1 << 18).map(softmax))
    assert number(held_row(row).columns) == 1 << 18
    assert not held_choices(row, H200, H200.limits)


@pytest.mark.parametrize("shape", ((8192, 4096), (1001, 1000)))
def test_the_search_holds_rows_where_that_is_cheapest(shape: tuple[int, int]) -> None:
    found = scheduled(as_program(arr("A", *shape).map(softmax)), H200, H200.limits, True)
    assert found[0].sign == "held rows"
    assert any(c.sign.startswith("row") for c in found)  # how it is for other lengths, too


def test_sums_of_a_fixed_order_are_not_held() -> None:
    found = scheduled(as_program(arr("A", 64, 512).map(softmax)), H200, H200.limits, False)
    assert not any(c.sign == "held rows" for c in found)


def test_a_program_that_wants_more_than_the_held_rows_has_both() -> None:
    A = arr("A", 6, 40)
    program = as_program(el.tuple(A.map(softmax), A.map(lambda r: r.reduce(el.maximum, float("-inf")))))
    stages, found = rows(program)
    for row in found:
        left = Stages(row.left(stages.stages), stages.result)
        term = in_registers(row, held_row(row), Sizes(6, 8, 1))
        assert same(program, whole(left, {row.last.name: term}), exact_inputs(program), 1e-4)
    assert isinstance(stages.result, p.Tup)
