"""Blocks of an array that stages of unlike shape read are read once, by groups and by a CPU's work-items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import Launch, Plan
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules import block_choices, block_readings
from egglift.egraph.schedules.again import arranged
from egglift.egraph.schedules.block_structures import inside
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.blocks import Cut, block_copy
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.stage import Dim, Names
from egglift.ir import patterns as p
from egglift.ir.errors import EggliftError
from egglift.ir.lifting import as_program
from tests.deep import every
from tests.egraph.staged import exact_inputs, result, same
from tests.egraph.staged import whole as whole_of
from tests.egraph.stages.programs import Value, arr
from tests.fuzz.guarded import run_all
from tests.oclgrind import LIMITS, examine

pytestmark = pytest.mark.short

#: few units, such that groups take blocks of short arrays in turn
PROFILES = {"gpu": replace(presets()["nvidia_h200"], compute_units=2), "cpu": presets()["pocl_cpu"]}


def matrix(rows: int, columns: int, t: el.Scalar = el.f32) -> Value:
    return arr("A", rows, columns, t=t)


SMALL: dict[str, Callable[[el.Scalar], Value]] = {
    "elements and their sum": lambda t: el.tuple(2 * arr("x", 1003, t=t), (2 * arr("x", 1003, t=t)).sum()),
    "an array shorter than a block": lambda t: el.tuple(arr("x", 5, t=t) + 1, arr("x", 5, t=t).max()),
    "elements of two arrays": lambda t: el.tuple(
        arr("x", 301, t=t) - arr("y", 301, t=t), (arr("x", 301, t=t) * arr("y", 301, t=t)).sum()
    ),
    "sums of rows and of columns": lambda t: el.tuple(matrix(37, 53, t).sum(axis=0), matrix(37, 53, t).sum(axis=1)),
    "elements and means of columns": lambda t: el.tuple(
        el.maximum(matrix(37, 53, t), 0), el.maximum(matrix(37, 53, t), 0).max(axis=0)
    ),
    "elements and norms of rows": lambda t: el.tuple(
        (matrix(16, 64, t) * 2).cast(el.i8), (matrix(16, 64, t) ** 2).sum(axis=1)
    ),
    "products either way": lambda t: el.tuple(
        matrix(40, 24, t) @ arr("v", 24, t=t), matrix(40, 24, t).T @ arr("w", 40, t=t)
    ),
    "squares and products of columns": lambda t: el.tuple(
        matrix(301, 6, t).T @ matrix(301, 6, t), matrix(301, 6, t).T @ arr("y", 301, t=t)
    ),
    "products and sums of weighted columns": lambda t: el.tuple(
        (matrix(300, 6, t) * arr("w", 300, 1, t=t)).T @ matrix(300, 6, t),
        (matrix(300, 6, t) * arr("w", 300, 1, t=t)).sum(axis=0),
    ),
    "images and their channels": lambda t: el.tuple(
        el.maximum(arr("I", 6, 5, 7, 8, t=t), 0), arr("I", 6, 5, 7, 8, t=t).sum(axis=(0, 2, 3))
    ),
    "points in rows of three, and extremes": lambda t: el.tuple(2 * matrix(301, 3, t), matrix(301, 3, t).max(axis=0)),
    "a cube along each axis": lambda t: el.tuple(
        arr("C", 9, 20, 33, t=t).max(axis=0), arr("C", 9, 20, 33, t=t).sum(axis=1), arr("C", 9, 20, 33, t=t).min(axis=2)
    ),
    "differences and their squares": lambda t: el.tuple(
        arr("x", 300, t=t)[1:] - arr("x", 300, t=t)[:-1],
        ((arr("x", 300, t=t)[1:] - arr("x", 300, t=t)[:-1]) ** 2).sum(),
    ),
    "places of the largest, and columns": lambda t: el.tuple(
        matrix(37, 53, t).argmax(axis=1), matrix(37, 53, t).sum(axis=0)
    ),
}
TYPES = {"f32": el.f32, "i32": el.i32}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of any length are cut, into blocks of a few hundred bytes."""
    monkeypatch.setattr(block_readings, "LONG", 1)
    monkeypatch.setattr(block_choices, "BYTES", {"gpu": (512,), "cpu": (1 << 10,)})
    monkeypatch.setattr(block_choices, "WIDTHS", {"gpu": (16,), "cpu": (16,)})
    monkeypatch.setattr(block_choices, "WHOLE", {"gpu": 32, "cpu": 32})
    monkeypatch.setattr(block_choices, "IN_TURN", (256,))
    monkeypatch.setattr(block_choices, "GROUPS", (1, 2))
    monkeypatch.setattr(block_choices, "CHOICES", 3)
    monkeypatch.setattr(block_choices, "NEAR", 100.0)


def terms(name: str, t: el.Scalar, kind: str) -> Iterator[p.Expr]:
    """Programs whose blocks are read once; what adds up what these have found, as its pattern."""
    whole, profile = stages_of(as_program(SMALL[name](t))), PROFILES[kind]
    for x in block_readings.block_readings(whole):
        for found in block_choices.block_choices(x, profile, profile.limits):
            others = {s.name: s for s in whole.stages if s not in x.stages} | dict(found.added)
            yield arranged(whole, {n: as_pattern(s) for n, s in others.items()}, found.arrays)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("kind", PROFILES)
def test_blocks_mean_the_program(name: str, kind: str) -> None:
    program = as_program(SMALL[name](el.i32))
    found = list(terms(name, el.i32, kind))
    assert found or name == "an array shorter than a block"
    for term in found:
        assert same(program, term, exact_inputs(program))


@pytest.mark.parametrize(("name", "kind", "t"), every(2, SMALL, PROFILES, TYPES))
def test_kernels_read_blocks_once(name: str, kind: str, t: str) -> None:
    device, program = open_device("pocl"), as_program(SMALL[name](TYPES[t]))
    inputs = exact_inputs(program)
    expected = result(program, inputs)
    made = [compile_term(term, Launch(64), device.limits) for term in terms(name, TYPES[t], kind)]
    for plan, actual in zip(made, run_all(device, made, {k: flatten(v) for k, v in inputs.items()}), strict=True):
        assert not isinstance(actual, EggliftError), f"{actual}\n{plan.source}"
        for a, e in zip(actual, expected, strict=True):
            np.testing.assert_array_equal(a.reshape(e.shape), e, err_msg=plan.source)


def test_a_group_copies_its_block_to_local_memory_once() -> None:
    for term in terms("sums of rows and of columns", el.f32, "gpu"):
        lines = compile_term(term, Launch(64), PROFILES["gpu"].limits).kernels[0].source.splitlines()
        reading = [line for line in lines if "A[" in line]
        assert reading and all("s0[" in line.split(" = ")[0] for line in reading)


def test_results_are_written_in_their_order_by_one_kernel() -> None:
    """Elements of blocks are no array of blocks that another kernel puts in order."""
    for term in terms("elements and norms of rows", el.f32, "gpu"):
        plan = compile_term(term, Launch(64), PROFILES["gpu"].limits)
        assert "out_0" in plan.kernels[0].source and all("out_0" not in k.source for k in plan.kernels[1:])


def cuts(names: Names, axes: Sequence[Dim]) -> list[Cut]:
    """Blocks of one row, of eight columns."""
    return [Cut(axes[0], names.dim(1 << 17), 1), Cut(axes[1], names.dim(2), 8)]


def found(program: Value) -> list[list[str]]:
    whole = stages_of(as_program(program))
    return [[s.name for s in x.stages] for x in block_readings.block_readings(whole)]


def test_stages_that_need_each_other_are_not_side_by_side() -> None:
    A = matrix(37, 53)
    assert found(el.tuple(A.sum(axis=1), A.sum(axis=0))) == [["%stage0", "%stage1"]]
    assert found(A - A.sum(axis=0)) == []


def test_stages_of_other_arrays_are_not_side_by_side() -> None:
    assert found(el.tuple(matrix(37, 53).sum(axis=1), arr("B", 37, 53).sum(axis=0))) == []


def test_what_takes_many_steps_for_each_element_is_left_alone() -> None:
    A = matrix(100, 100)
    assert found(el.tuple(A @ arr("B", 100, 100), A.sum(axis=0))) == []


def test_floats_are_not_reduced_in_another_order() -> None:
    profile, A = PROFILES["gpu"], matrix(37, 53)
    program = as_program(el.tuple(A.sum(axis=1), A.sum(axis=0)))
    exact, free = (scheduled(program, profile, profile.limits, reassociate) for reassociate in (False, True))
    assert not any("blocks" in c.sign for c in exact) and any("blocks" in c.sign for c in free)


@pytest.mark.parametrize("kind", PROFILES)
def test_large_arrays_of_unlike_results_are_read_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    profile, x = presets()[{"gpu": "nvidia_h200", "cpu": "pocl_cpu"}[kind]], arr("x", 1 << 14, 1 << 10)
    program = as_program(el.tuple(el.maximum(x, 0), el.maximum(x, 0).mean(axis=0)))
    best, *_ = scheduled(program, profile, profile.limits, True)
    assert best.sign.startswith("blocks ")


def test_results_of_one_shape_may_be_stages_apart() -> None:
    """Rows and columns of a square matrix: as one stage, elements are read at both indices."""
    A, v, w = matrix(70, 70), arr("v", 70), arr("w", 70)
    program = as_program(el.tuple(A @ v, A.T @ w))
    assert len(stages_of(program).stages) == 1
    apart = stages_of(program, by=Partitioning(unlike=True))
    assert [len(x.stages) for x in block_readings.block_readings(apart)] == [2]
    assert same(program, whole_of(apart), exact_inputs(program))


def test_many_blocks_are_along_the_first_dimension_of_a_grid() -> None:
    names = stages_of(as_program(matrix(8, 8) + 1)).stages[0].names
    stage = block_copy(
        [arr("A", 1 << 17, 16).expr], names, axes := [names.dim(1 << 17), names.dim(16)], cuts(names, axes)
    )
    for _, s in inside(stage, stage.dims[:2], "gpu"):
        assert [str(loop.level) for loop in s.schedule.loops[:2]] == ["workgroup0", "workgroup1"]


def test_going_through_a_block_again_and_again_is_no_race() -> None:
    jobs: list[tuple[Plan, dict[str, Any]]] = []
    for name in ("a cube along each axis", "sums of rows and of columns", "squares and products of columns"):
        inputs = {k: flatten(v) for k, v in exact_inputs(as_program(SMALL[name](el.f32))).items()}
        jobs += [(compile_term(term, Launch(64), LIMITS), inputs) for term in terms(name, el.f32, "gpu")]
    for (plan, _), report in zip(jobs, examine(jobs), strict=True):
        assert report.clean, f"{report}\n{plan.source}"


@pytest.mark.parametrize("name", ["squares and products of columns", "products and sums of weighted columns"])
def test_groups_take_blocks_in_turn_where_all_is_reduced(name: str) -> None:
    """What they have found stays in registers: one part a group is written, and not one for each block."""
    whole, profile = stages_of(as_program(SMALL[name](el.f32))), PROFILES["gpu"]
    (x,) = block_readings.block_readings(whole)
    for found in block_choices.block_choices(x, profile, profile.limits):
        assert "times" in found.choice.sign
        (kernel,) = compile_term(found.choice.term, Launch(64), profile.limits).kernels
        assert any(line.lstrip().startswith("float acc") for line in kernel.source.splitlines())


def test_one_block_for_each_group_where_elements_are_written() -> None:
    whole, profile = stages_of(as_program(SMALL["elements and their sum"](el.f32))), PROFILES["gpu"]
    (x,) = block_readings.block_readings(whole)
    assert not any("times" in f.choice.sign for f in block_choices.block_choices(x, profile, profile.limits))
