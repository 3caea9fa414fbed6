"""Scans over the same indices as one: of pairs where neither needs the other, in order where one does."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, same, texts, whole
from tests.egraph.stages.programs import arr

A, B, X = arr("A", 9, 5), arr("B", 9, 5), arr("x", 12)


def chained(program: object) -> Stages:
    """The stages in which scans of scans are taken in order, once they were found to mean the same."""
    e = as_program(program)
    found = stages_of(e, by=Partitioning(chained=True))
    assert same(e, whole(found), exact_inputs(e), 1e-4)
    return found


def test_scans_that_one_result_needs_are_one_scan_of_pairs() -> None:
    (only,) = texts(el.cumsum(A, axis=0) / (el.cummax(B, axis=0) + 9))
    assert "(maximum, add up to 1 from (tuple -inf 0.0) of (tuple " in only or "(add, maximum up to 1 " in only
    (ratio,) = texts(el.linear_recurrence(0.5, A, axis=0) / (el.linear_recurrence(0.25, A * A, axis=0) + 1000))
    assert ratio.startswith("stage2[0 < 5, 1 < 9] as [1, 0] = (div ")


def test_results_of_scans_of_one_array_are_written_together() -> None:
    (only,) = texts(el.tuple(el.cumsum(X), el.cummax(X)))
    assert "(add, maximum up to 0 from (tuple 0.0 -inf) of (tuple x[0] x[0]))" in only
    stage = stages_of(as_program(el.tuple(el.cumsum(X), el.cummax(X) * 2))).stages[0]
    assert stage.scan is not None and stage.scan.op.associative and stage.scan.op.neutral is not None


def test_scans_of_other_arrays_stay_apart() -> None:
    assert len(texts(el.tuple(el.cumsum(X), el.cummax(arr("y", 12))))) == 2
    assert len(texts(el.tuple(el.cumsum(X), el.cumsum(X[:7])))) == 2
    assert len(texts(el.tuple(el.cumsum(X), el.scan(el.add, 0, X, reverse=True)))) == 2


def test_a_scan_of_a_scan_takes_both_steps_where_asked() -> None:
    sums = el.cumsum(A, axis=0)
    fall = (el.cummax(sums, axis=0) - sums).max(axis=0)
    assert len(texts(fall)) == 2
    (only,) = chained(fall).stages
    assert only.scan is not None and not only.scan.op.associative and only.scan.combined is not None


def test_three_averages_of_averages_are_one_pass() -> None:
    fast, slow = (el.linear_recurrence(1 - k, k * A, axis=0) for k in (0.5, 0.25))
    signal = el.linear_recurrence(0.5, 0.5 * (fast - slow), axis=0)
    (only,) = chained(el.tuple(fast - slow, fast - slow - signal)).stages
    assert only.scan is not None and not only.scan.op.associative


@pytest.mark.parametrize("name", ["shifted", "wanted", "of two readers"])
def test_a_scan_that_something_else_needs_stays_an_array(name: str) -> None:
    sums = el.cumsum(A, axis=0)
    program = {
        "shifted": lambda: el.cummax(np.roll(sums, 1, axis=0), axis=0),
        "wanted": lambda: el.tuple(el.cummax(sums, axis=0), sums),
        "of two readers": lambda: el.tuple(el.cummax(sums, axis=0), sums.sum(axis=1)),
    }[name]()
    assert len(chained(program).stages) > 1


def test_a_scan_that_is_taken_in_order_means_the_same_alone() -> None:
    (only,) = chained(el.cummax(el.cumsum(X) * X)).stages
    assert same(as_program(el.cummax(el.cumsum(X) * X)), as_pattern(only), exact_inputs(as_program(X)), 1e-5)
