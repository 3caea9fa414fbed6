"""Rows of views: which rows of what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.distribution.rows import Run, runs
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of

N = 5
X, Y = el.array("x", el.f32, N), el.array("y", el.f32, N)
GIVEN = {"x": np.arange(N, dtype=np.float32), "y": np.arange(N, 2 * N, dtype=np.float32)}

VIEWS = {
    "an array": X,
    "clamped": X.pad(7, 6, "clamp"),
    "mirrored": X.pad(7, 6, "mirror"),
    "wrapped": X.pad(7, 6, "wrap"),
    "constant": X.pad(2, 3, ("constant", 9.0)),
    "a part": X.drop(1).take(3),
    "two": el.concat(X, Y),
    "padded twice": X.pad(1, 1, "mirror").pad(2, 2, "wrap"),
    "a part of two, padded": el.concat(X, Y).drop(3).take(4).pad(3, 3, "clamp"),
    "rolled": X.roll(2),
}


def value(e: Expr) -> Any:
    return evaluate(e, {name: GIVEN[name] for name in inputs_of(e)})


def put_together(found: tuple[Run, ...]) -> list[float]:
    parts = []
    for run in found:
        rows = value(run.source)
        parts.append(np.repeat(rows, run.count) if run.repeated else rows[run.start : run.start + run.count])
    return [float(v) for part in parts for v in part]


@pytest.mark.parametrize("name", VIEWS)
def test_runs_are_the_rows_of_the_view(name: str) -> None:
    view = VIEWS[name].expr
    whole = value(view)
    for first in range(len(whole)):
        for last in range(first, len(whole) + 1):
            assert put_together(runs(view, first, last)) == list(whole[first:last])


def test_rows_that_go_on_are_one_run() -> None:
    assert runs(X.pad(1, 1, "clamp").expr, 1, 6) == (Run(X.expr, 0, 5),)
    assert runs(X.pad(1, 1, "clamp").expr, 0, 7) == (Run(X.expr, 0, 1), Run(X.expr, 0, 5), Run(X.expr, 4, 1))
    assert len(runs(X.pad(2, 0, ("constant", 9.0)).expr, 0, 7)) == 2
