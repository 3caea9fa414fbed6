"""Few results of long reductions that read the same are one reduction of all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.few_results import LONG
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.stage import Stage
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, same, whole

x, y = el.array("x", el.f32, (LONG, 3)), el.array("y", el.f32, (LONG, 4))
w = el.array("w", el.f32, LONG)
k = el.array("k", el.i32, LONG)


def stages(program: Any) -> tuple[Stage, ...]:
    """The stages of a program with few results together, which mean what it means."""
    e = as_program(program)
    found = stages_of(e, True, Partitioning(few=True))
    assert same(e, whole(found), exact_inputs(e), 1e-4)
    return found.stages


@pytest.mark.parametrize(
    ("program", "reductions"),
    [
        (lambda: x.T @ y, 12),
        (lambda: x.T @ x, 6),  # symmetric: equal ones are computed once
        (lambda: np.stack([(el.where(k == i, w, 0)).sum() for i in range(3)]), 3),
        (lambda: el.bincount(k, 5, weights=w), 5),
    ],
)
def test_few_results_are_one_reduction_of_all_of_them(program: Callable[[], Any], reductions: int) -> None:
    (stage,) = stages(program())
    assert not stage.dims
    assert len(stage.reductions) == reductions


@pytest.mark.parametrize(
    "program",
    [
        lambda: x.T.map(lambda column: column.reduce(el.add, 0.0)),  # nothing that they read in common
        lambda: x[:20].T @ y[:20],  # short
        lambda: np.outer(x[0], y[0]),  # no reduction
        lambda: el.array("A", el.f32, (LONG, 40)).T @ y[:, :1],  # many results, of which each is one
        lambda: w @ y,  # most of what is read is read once
        lambda: w.cumsum(),  # along an axis as a whole
    ],
)
def test_all_other_results_stay_as_they_are(program: Callable[[], Any]) -> None:
    e = as_program(program())
    assert [s.dims for s in stages(e)] == [s.dims for s in stages_of(e).stages]


def test_few_results_of_each_of_many_are_arrays_of_these() -> None:
    batch = el.array("B", el.f32, (5, LONG, 3))
    (stage,) = stages(el.einsum("bni,bnj->bij", batch, batch))
    assert [d.extent for d in stage.dims] == [5]
    assert len(stage.reductions) == 6


def test_what_few_results_have_in_common_counts_once() -> None:
    """The kernel of a pair is long, and the same for the gradient by each scale."""
    z = el.array("z", el.f32, (40, 8))
    e = z[:, None, :] - z[None, :, :]
    kernel = np.exp(-0.5 * (e * e).sum(axis=2))
    (stage,) = stages((kernel[:, :, None] * e * e).sum(axis=(0, 1)))
    assert not stage.dims and len(stage.reductions) == 8
