"""Products of distances from means, as products of distances from estimates of these."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.schedules.partitions import partitions
from egglift.egraph.stages import centred
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, result, same, whole
from tests.egraph.stages.programs import Value, arr

ROWS, COLUMNS = 40, 6


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Means of short arrays are estimated, of every fourth element."""
    monkeypatch.setattr(centred, "EVERY", 4)
    monkeypatch.setattr(centred, "LONG", 1)
    stages_of.cache_clear()


def matrix(name: str = "A", columns: int = COLUMNS) -> Value:
    return arr(name, ROWS, columns)


def covariance(x: Value, y: Value) -> Value:
    return (x - x.mean(axis=0)).T @ (y - y.mean(axis=0)) / (ROWS - 1)


def texts(program: Any) -> list[str]:
    return [text_of(s) for s in stages_of(as_program(program), by=Partitioning(centred=True)).stages]


PROGRAMS = {
    "covariances": covariance(matrix(), matrix()),
    "covariances of two": covariance(matrix(), matrix("B", 3)),
    "means beside them": el.tuple(matrix().mean(axis=0), covariance(matrix(), matrix())),
    "one the other way round": (matrix().mean(axis=0) - matrix()).T @ (matrix() - matrix().mean(axis=0)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_sums_below_estimates_are_those_below_means(name: str) -> None:
    program = as_program(PROGRAMS[name])
    found = stages_of(program, by=Partitioning(centred=True))
    assert any("(at 0 arg)" in text_of(s) for s in found.stages)
    assert same(program, whole(found), exact_inputs(program), 1e-3)


def test_no_covariance_waits_for_the_means_of_all_rows() -> None:
    estimate, distances, products = texts(covariance(matrix(), matrix()))
    assert "1 < 10 of" in estimate and "1 < 40 of (sub A[1,0] stage0[0])" in distances
    assert "2 < 40 of (mul (sub A[2,0] stage0[0]) (sub A[2,1] stage0[1]))" in products


def test_rows_far_from_zero_keep_their_covariances() -> None:
    program = as_program(covariance(matrix(), matrix()))
    found = whole(stages_of(program, by=Partitioning(centred=True)))
    x = (1e4 + np.random.default_rng(1).standard_normal((ROWS, COLUMNS))).astype("f4")
    (actual,) = result(found, {"A": x})
    np.testing.assert_allclose(actual, np.cov(x.astype("f8").T), atol=2e-2)


def test_even_rows_that_estimates_miss_lose_no_more_than_told() -> None:
    """Every fourth row is far from all others: what is subtracted is no more than four times what is left."""
    program = as_program(covariance(matrix(), matrix()))
    found = whole(stages_of(program, by=Partitioning(centred=True)))
    x = np.random.default_rng(2).standard_normal((ROWS, COLUMNS)).astype("f4")
    x[::4] += 1000
    (actual,) = result(found, {"A": x})
    np.testing.assert_allclose(actual, np.cov(x.astype("f8").T), rtol=1e-4)


@pytest.mark.parametrize(
    "program",
    [
        (matrix() - matrix().sum(axis=0) / 39).T @ (matrix() - matrix().sum(axis=0) / 39),
        (matrix() - matrix().mean(axis=0)).T @ matrix(),
        ((matrix() - matrix().mean(axis=0)) ** 2).sum(axis=0),
    ],
    ids=["of no mean", "one factor", "squares"],
)
def test_other_products_stay_as_they_are(program: Value) -> None:
    assert texts(program) == [text_of(s) for s in stages_of(as_program(program)).stages]


def test_only_products_of_differences_are_looked_at() -> None:
    def ways(program: Any) -> list[bool]:
        return [by.by.centred for _, by in partitions(as_program(program), "gpu", True)]

    assert any(ways(covariance(matrix(), matrix())))
    assert not any(ways(matrix().T @ matrix()))


def test_floats_in_their_order_have_no_estimates() -> None:
    program = as_program(covariance(matrix(), matrix()))
    exact = stages_of(program, reassociate=False, by=Partitioning(centred=True))
    assert not any("(at 0 arg)" in text_of(s) for s in exact.stages)
