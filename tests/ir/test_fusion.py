"""Towers of elementwise maps as one map: the same values, and every operation once."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.measurement.expected_results import flatten, sample_inputs
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.fusion import fused
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.traverse import subterms
from tests.fuzz.generator import random_program
from tests.fuzz.style import STYLES
from tests.towers import horner, pyramid, squares


def count(program: Expr, *kinds: type) -> int:
    return sum(isinstance(t, kinds) for t in subterms(program))


def same(a: Expr, b: Expr) -> None:
    assert type_of(a) == type_of(b)
    inputs = sample_inputs(a)
    few = {name: v for name, v in inputs.items() if name in inputs_of(b)}  # what nothing depends on is gone
    for x, y in zip(flatten(el.interpret(a, **inputs)), flatten(el.interpret(b, **few)), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("steps", [3, 30])
def test_a_tower_is_one_map_of_all_its_operations(steps: int) -> None:
    program = fused(squares(steps, 100))
    assert (count(program, p.Map), count(program, p.Apply)) == (1, 2 * steps)


def test_arrays_that_are_read_again_and_again_are_read_once() -> None:
    program = fused(horner(10, 100))
    assert isinstance(program, p.Map) and isinstance(program.x, p.Zip) and len(program.x.arrays) == 2


def test_arrays_that_are_read_from_another_element_on_are_fused() -> None:
    program = fused(pyramid(5, 100))
    assert count(program, p.Map) == 1 and count(program, p.Zip) == 1
    same(pyramid(5, 100), program)


def test_towers_on_many_places_stay_several_maps() -> None:
    """Sums of windows of sums of windows: one map would have a tuple of more parts than a tuple may have."""
    x = el.array("x", el.f32, (200, 200))
    rows = sum((x * x)[:, k : k + 180] for k in range(20))
    program = as_program(sum(rows[k : k + 180] for k in range(20)))
    assert 1 < count(fused(program), p.Map) < count(program, p.Map)
    same(program, fused(program))


def test_matrices_are_one_map_of_maps() -> None:
    a, b, s = el.array("A", el.f32, (9, 7)), el.array("b", el.f32, 7), el.scalar("s", el.f32)
    v = a
    for _ in range(5):
        v = v * v + b * s
    program = fused(as_program(v))
    assert count(program, p.Map) == 2
    same(as_program(v), program)


def test_what_is_padded_or_reduced_is_no_part_of_a_tower() -> None:
    x = el.array("x", el.f32, 50)
    v = x * 2 + 1
    program = as_program(v.pad(1, 0, "clamp").take(50) * v - v.reduce(el.maximum, 0.0))
    whole = fused(program)
    assert count(whole, p.Pad) == 1 and count(whole, p.Reduce) == 1
    same(program, whole)


def test_captured_values_stay_where_they_are_known() -> None:
    a, y = el.array("A", el.f32, (6, 5)), el.array("y", el.f32, 4)
    program = as_program(a.map(lambda row: (y * row[0] + row[1]).map(lambda v: v * row[2] - v)))
    same(program, fused(program))


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_keep_their_values(seed: int) -> None:
    program = random_program(Random(seed), STYLES["exact"])
    same(program, fused(program))
