"""Functions of two arrays as functions of two elements, where they are such."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import egglift as el
from egglift.egraph.stages.pointwise import pointwise
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.text import brief
from egglift.ir.types import F32, Array, Tuple
from tests.egraph.stages.programs import arr


def step(f: Callable[[Any, Any], Any]) -> p.Expr:
    fold = as_program(el.fold(f, arr("x", 7), arr("A", 5, 7)))
    assert isinstance(fold, p.Fold)
    return fold.body


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda a, r: a + r, "(add (get 0 arg) (get 1 arg))"),
        (lambda a, r: r - a, "(sub (get 1 arg) (get 0 arg))"),
        (lambda a, r: a * 2 + r * r, "(add (mul (get 0 arg) 2.0) (mul (get 1 arg) (get 1 arg)))"),
    ],
)
def test_functions_of_arrays_are_functions_of_elements(f: Callable[[Any, Any], Any], text: str) -> None:
    found = pointwise(step(f))
    assert found is not None and brief(found, 200) == text


@pytest.mark.parametrize(
    "f",
    [
        lambda a, r: el.map(lambda v: v + r[0], a),
        lambda a, r: el.pad(0, 1, "clamp", el.take(6, a + r)),
        lambda a, r: el.gather([1, 0, 2, 3, 4, 5, 6], a + r),
    ],
)
def test_functions_that_mix_elements_are_not(f: Callable[[Any, Any], Any]) -> None:
    assert pointwise(step(f)) is None


def test_arrays_of_other_lengths_have_no_elements_in_common() -> None:
    rows, columns = Array(3, F32), Array(5, F32)
    assert pointwise(p.Get(0, p.Arg(Tuple((rows, rows))))) is not None
    assert pointwise(p.Get(0, p.Arg(Tuple((rows, columns))))) is None
