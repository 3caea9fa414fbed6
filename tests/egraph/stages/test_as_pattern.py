"""Stages as patterns: any order of dimensions, also of those that nothing reads."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np

import egglift as el
from egglift.egraph.stages.as_pattern import as_pattern, ordered, reads_of
from egglift.egraph.stages.stage import Dim, Names, Read, Stage
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from egglift.ir.types import F32
from tests.egraph.staged import exact_inputs, only_stage, result, texts
from tests.egraph.stages.programs import PROGRAMS, arr, dot


def least(x: Any) -> Any:
    return el.reduce(el.minimum, float("inf"), x)


def test_dimensions_in_another_order_give_a_transposed_array() -> None:
    program = as_program(PROGRAMS["one batch"]())
    stage, inputs = only_stage(program), exact_inputs(program)
    (expected,) = result(program, inputs)
    for order in permutations(range(3)):
        (found,) = result(as_pattern(replace(stage, dims=tuple(stage.dims[i] for i in order))), inputs)
        assert np.array_equal(found, expected.transpose(order)), order


def test_what_nothing_reads_is_repeated() -> None:
    names = Names()
    i, j = names.dim(3), names.dim(4)
    stage = Stage("%s", (i, j), p.Literal(2.0, F32), names)
    (found,) = result(as_pattern(stage), {})
    assert np.array_equal(found, np.full((3, 4), 2.0, np.float32))
    assert type_of(as_pattern(stage)) == stage.type


def test_reduced_axes_are_read_in_any_order() -> None:
    rows = arr("A", 3, 9)
    products = rows.map(lambda a: rows.map(lambda b: dot(a, b)))
    _, text = texts(products.T.map(least).reduce(el.minimum, float("inf")))
    assert text == "stage1[] = (minimum for 0 < 3, 1 < 3 of stage0[1,0])"


def test_reads_of_reductions_are_among_the_reads() -> None:
    stage = only_stage(PROGRAMS["layer"]())
    assert len(reads_of(stage.names, stage.body)) == 3


def test_axes_without_a_loop_come_last() -> None:
    x = as_program(arr("x", 2, 3, 4))
    i, j, k = (Dim(n, n + 2) for n in range(3))
    assert ordered(Read(x, (i, j, k)), (k, i))[1] == (k, i, j)
