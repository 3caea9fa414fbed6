"""Loops over arrays that are read together."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.egraph.stages.loops import Tensor, folded, mapped, nest
from egglift.ir import patterns as p
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from tests.egraph.stages.programs import arr

A, b, c = as_program(arr("A", 3, 4)), as_program(arr("b", 3)), as_program(arr("c", 4))
VALUES = {"A": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.float32([1, 2, 3]), "c": np.float32([4, 5, 6, 7])}


def total(ts: list[Tensor]) -> p.Expr:
    x, y, z = (t.x for t in ts)
    return p.Apply("add", (p.Apply("mul", (x, y)), z))


def test_a_nest_goes_through_the_axes_that_each_tensor_has() -> None:
    found = nest([("d", None), ("k", None)], [Tensor(A, ("d", "k")), Tensor(b, ("d",)), Tensor(c, ("k",))], total)
    assert np.array_equal(evaluate(found, VALUES), VALUES["A"] * VALUES["b"][:, None] + VALUES["c"])


def test_a_fold_goes_from_its_beginning_to_its_end() -> None:
    def step(acc: p.Expr, ts: list[Tensor]) -> p.Expr:
        return p.Apply("sub", (ts[0].x, p.Apply("mul", (acc, ts[1].x))))

    found = folded("d", p.At(0, c), [Tensor(b, ("d",)), Tensor(p.At(1, c))], step)
    expected = 4.0
    for v in (1, 2, 3):
        expected = v - expected * 5
    assert evaluate(found, {"b": VALUES["b"], "c": VALUES["c"]}) == expected


def test_a_loop_that_no_tensor_begins_with_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no tensor begins with the axis e"):
        mapped("e", [Tensor(A, ("d", "e"))], lambda ts: ts[0].x)
