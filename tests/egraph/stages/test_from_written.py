"""Totals are taken of what is reduced already, not of all elements once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import egglift as el
from tests.egraph.staged import texts

A = el.array("A", el.f32, (512, 256))
v = el.array("v", el.f32, 256)


def totals(program: Any) -> list[str]:
    """The stages that yield one number, once all stages were found to mean what the program means."""
    return [t for t in texts(program) if "[] = " in t]


@pytest.mark.parametrize(
    "program",
    [
        lambda: A.sum(axis=0) / A.sum(),
        lambda: el.tuple(A.mean(axis=1), A.mean()),  # divided sums are sums before
        lambda: A - A.mean(axis=0) - A.mean(axis=1, keepdims=True) + A.mean(),
        lambda: A.T.sum(axis=0) - A.sum(),  # in whatever order axes are read
        lambda: (y := A @ v) / y.sum(),
        lambda: (r := A.sum(axis=1)) - r.mean(),
        lambda: (h := el.bincount(el.array("k", el.i32, 1 << 16), 4, weights=el.array("w", el.f32, 1 << 16))) / h.sum(),
    ],
)
def test_a_total_beside_sums_is_a_total_of_sums(program: Callable[[], Any]) -> None:
    (total,) = totals(program())
    assert "add for 0 < " in total
    assert "stage0[0])" in total or ".reduced[0])" in total


@pytest.mark.parametrize(
    "program",
    [
        lambda: el.tuple(A.sum(axis=0), (A * A).sum()),  # of other elements
        lambda: el.tuple(A.max(axis=0), A.sum()),  # by another operator
        lambda: A.sum(),  # alone
        lambda: el.tuple(A[:100].sum(axis=0), A.sum()),  # of fewer elements
    ],
)
def test_totals_of_other_elements_stay_as_they_are(program: Callable[[], Any]) -> None:
    (total,) = totals(program())
    assert "add for 0 < 512, 1 < 256 of" in total


def test_totals_of_rows_go_on_from_sums_within_rows() -> None:
    x = el.array("X", el.f32, (64, 64, 32))
    sums = el.tuple(x.sum(axis=2), x.sum(axis=(1, 2)))
    assert any(t.startswith("stage1[0 < 64] = (add for 1 < 64 of stage0[0,1])") for t in texts(sums))


def test_what_is_written_and_wanted_is_no_stage_again() -> None:
    y = A @ v
    assert len(texts(el.tuple(y, y.sum()))) == 2
