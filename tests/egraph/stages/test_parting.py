"""Axes that were joined or filled, as they were before."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.egraph.stages.parting import unfilled, unjoined
from egglift.egraph.stages.stage import Dim, Read
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from tests.egraph.stages.programs import arr

x = as_program(arr("x", 2, 3, 4, 5))
values = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
#: a joined array, and at which axis
JOINED = [
    (p.Join(x), 0),
    (at_depth(1, x, p.Join), 1),
    (at_depth(2, x, p.Join), 2),
    (p.Transpose(p.Join(x)), 1),
    (p.Transpose(at_depth(1, x, p.Join)), 0),
    (at_depth(1, p.Join(x), lambda e: p.Take(2, e)), 0),
]


@pytest.mark.parametrize(("view", "depth"), JOINED)
def test_a_joined_axis_is_two_again(view: p.Expr, depth: int) -> None:
    parts = unjoined(view, depth)
    assert parts is not None
    whole = evaluate(view, {"x": values})
    assert np.array_equal(evaluate(at_depth(depth, parts, p.Join), {"x": values}), whole)


def test_what_was_not_joined_has_no_parts() -> None:
    assert unjoined(x, 0) is None
    assert unjoined(at_depth(1, x, p.Join), 0) is None
    assert unjoined(p.Take(4, p.Join(x)), 0) is None


def test_a_filled_axis_is_not_read() -> None:
    i, j = Dim(0, 2), Dim(1, 7)
    filled = at_depth(1, x, lambda e: p.Fill(7, e))
    assert unfilled(Read(filled, (i, j)), j) == Read(x, (i,))
    assert unfilled(Read(p.Transpose(filled), (j, i)), j) == Read(x, (i,))
    assert unfilled(Read(filled, (i, j)), i) == Read(filled, (i, j))
    assert type_of(x) == Read(x, ()).type


def test_a_filled_axis_is_found_behind_others() -> None:
    i, j, k = Dim(0, 2), Dim(1, 7), Dim(2, 3)
    inner = at_depth(1, p.Fill(7, x), p.Transpose)
    assert unfilled(Read(inner, (j, k, i)), j) == Read(p.Transpose(x), (k, i))
    outer = p.Transpose(at_depth(2, x, lambda e: p.Fill(7, e)))
    assert unfilled(Read(outer, (k, i, j)), j) == Read(p.Transpose(x), (k, i))
    assert unfilled(Read(p.Fill(7, x), (j, i)), i) == Read(p.Fill(7, x), (j, i))
