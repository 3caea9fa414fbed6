"""Axes in another order, cut and merged."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, cut, merged, permuted, transposed
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from tests.egraph.stages.programs import arr

x = as_program(arr("x", 2, 3, 4, 6))
values = np.arange(144, dtype=np.float32).reshape(2, 3, 4, 6)


def test_axes_are_put_in_every_order() -> None:
    for order in permutations(range(4)):
        assert np.array_equal(evaluate(permuted(x, range(4), order), {"x": values}), values.transpose(order)), order


def test_axes_in_their_order_stay_as_they_are() -> None:
    assert permuted(x, "abcd", "abcd") is x
    assert transposed(transposed(x)) is x


def test_a_cut_axis_is_merged_again() -> None:
    for depth, blocks in ((3, (3,)), (3, (6, 2)), (2, (2,)), (0, (1,))):
        parts = cut(x, depth, blocks)
        assert evaluate(parts, {"x": values}).ndim == 4 + len(blocks)
        assert np.array_equal(evaluate(merged(parts, depth, len(blocks) + 1), {"x": values}), values)


def test_a_pattern_is_applied_below_the_outer_axes() -> None:
    assert at_depth(0, x, p.Join) == p.Join(x)
    assert evaluate(at_depth(2, x, lambda e: p.Take(1, e)), {"x": values}).shape == (2, 3, 1, 6)
