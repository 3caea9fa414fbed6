"""Stages that start within the loops of another compute what all stages did."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.measurement.expected_results import flatten
from egglift.egraph.schedules.rows import row_structures, rows_of
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, result, same, sized, whole
from tests.egraph.stages.programs import add_up, arr, softmax
from tests.fuzz.guarded import run_all


def standardised(row: Any, n: int) -> Any:
    mean = add_up(row) / n
    spread = add_up(row.map(lambda v: (v - mean) * (v - mean))) / n
    return row.map(lambda v: (v - mean) * el.rsqrt(spread + 1.0))


def deviation(row: Any, n: int) -> Any:
    mean = add_up(row) / n
    return add_up(row.map(lambda v: el.abs(v - mean)))


def largest_share(row: Any) -> Any:
    """Two results, the second of which needs the first, in what follows."""
    total = add_up(row)
    most = row.reduce(el.maximum, float("-inf"))
    far = add_up(row.map(lambda v: el.abs(v - total)))
    return row.map(lambda v: v * total + most * far)


PROGRAMS = {
    "standardised rows": lambda: arr("A", 5, 33).map(lambda r: standardised(r, 33)),
    "rows of rows": lambda: arr("A", 2, 3, 17).map(lambda m: m.map(lambda r: standardised(r, 17))),
    "softmax of rows": lambda: arr("A", 5, 12).map(softmax),
    "deviations": lambda: arr("A", 7, 31).map(lambda r: deviation(r, 31)),
    "one after the other": lambda: arr("A", 4, 19).map(largest_share),
    "shares of matrices": lambda: arr("A", 3, 5, 8).map(lambda m: m.map(lambda r: r.map(lambda v: v / add_up(m)))),
    "rows beside two dimensions": lambda: (
        (x := arr("A", 2, 3, 4, 9) + arr("T", 3, 4, 9)) / (1 + (x * x).sum(axis=3)[..., None])
    ),
    "centred columns": lambda: el.transpose(arr("A", 9, 5)).map(lambda c: c.map(lambda v: v - add_up(c) / 9)),
}


def found(program: Any) -> list[tuple[Stages, str, Any]]:
    """What is left of the stages, the name of the last, and a structure."""
    stages, rows = stages_of(program), []
    for row in rows_of(stages):
        left = Stages(row.left(stages.stages), stages.result)
        rows += [(left, row.last.name, s) for s in row_structures(row, True)]
    return rows


@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_mean_what_their_stages_mean(name: str) -> None:
    program, rng = as_program(PROGRAMS[name]()), Random(name)
    inputs, structures = exact_inputs(program), found(program)
    assert len(structures) == 2
    for left, last, structure in structures:
        for _ in range(2):
            assert same(program, whole(left, {last: sized(structure, rng)}), inputs, 1e-4), structure.sign


@pytest.mark.parametrize("name", ("standardised rows", "one after the other", "deviations"))
def test_a_row_is_one_kernel_and_right_on_a_device(name: str) -> None:
    program, rng, device = as_program(PROGRAMS[name]()), Random(1), open_device("pocl")
    inputs = exact_inputs(program)
    terms = [whole(left, {last: p.To("global", sized(s, rng))}) for left, last, s in found(program)]
    plans = [compile_term(t.x if isinstance(t, p.To) else t, Launch(64), device.limits) for t in terms]
    assert {len(plan.kernels) for plan in plans} == {1}
    expected = result(program, inputs)
    for actual in run_all(device, plans, {k: flatten(v) for k, v in inputs.items()}):
        assert not isinstance(actual, Exception), actual
        for want, got in zip(expected, actual, strict=True):
            np.testing.assert_allclose(got.reshape(-1), want.reshape(-1), rtol=1e-4, atol=1e-4)


def test_what_is_wanted_itself_starts_elsewhere_only_again() -> None:
    stages = stages_of(as_program(PROGRAMS["deviations"]()))
    (row,) = rows_of(stages)
    start = row.starts[0]
    wanted = p.Tup((stages.result, p.Input(start.name, start.type)))
    assert not list(rows_of(Stages(stages.stages, wanted)))  # a sum that goes on with it reads no more than that


def test_rows_start_again_what_others_read_too() -> None:
    """The gradient of a normalisation: of each row, and of what rows are scaled by."""
    x, dy = arr("x", 6, 20), arr("dy", 6, 20)
    scale = 1 / el.sqrt(el.mean(x * x, axis=1, keepdims=True) + 1)
    both = el.tuple(scale * (dy - x * el.mean(dy * x * scale, axis=1, keepdims=True)), el.sum(dy * x * scale, axis=0))
    program = as_program(both)
    stages = stages_of(program)
    (row,) = (r for r in rows_of(stages) if r.kept)
    assert len(row.starts) == 2
    assert [s.name for s in row.left(stages.stages) if s in row.starts] == []
    assert len(row.left(stages.stages)) == len(stages.stages) - 1
    for structure in row_structures(row, True):
        left = Stages(row.left(stages.stages), stages.result)
        terms = {row.last.name: sized(structure, Random(1))}
        assert same(program, whole(left, terms), exact_inputs(program), 1e-4)


def test_rows_that_read_the_sum_of_the_next_row_mean_the_same() -> None:
    sums = arr("A", 5, 7).map(add_up)
    shifted = el.zip(arr("A", 5, 7), el.concat(sums.drop(1), sums.take(1)))
    program = as_program(shifted.map(lambda q: q[0].map(lambda v: v / q[1])))
    for left, last, structure in found(program):
        assert same(program, whole(left, {last: sized(structure, Random(1))}), exact_inputs(program), 1e-4)


def test_sums_of_a_fixed_order_do_not_start() -> None:
    program = as_program(PROGRAMS["deviations"]())
    for row in rows_of(stages_of(program)):
        assert not list(row_structures(row, False))
