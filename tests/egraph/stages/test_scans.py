"""Scans as stages: what is computed in them, before and behind, and what is an array of its own."""

from __future__ import annotations

from typing import Any

import pytest

import egglift as el
from egglift.egraph.schedules.again import placed
from egglift.egraph.schedules.scan_choices import in_order
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.scans import in_chunks, is_exact, of_chunks
from egglift.ir.lifting import as_program
from tests.egraph.staged import composed, exact_inputs, same, texts, whole
from tests.egraph.stages.programs import arr

X, Y, A = arr("x", 12), arr("y", 12), arr("A", 4, 6)


def test_what_is_mapped_before_and_behind_is_computed_in_a_scan() -> None:
    (only,) = texts(el.cumsum(X * Y) / (Y + 2))
    assert only == "stage1[0 < 12] = (div (add up to 0 from 0.0 of (mul x[0] y[0])) (add y[0] 2.0))"


def test_what_reads_another_place_of_a_scan_is_a_stage() -> None:
    for program in (el.cumsum(X)[::-1] + X, el.cumsum(X).take(6) * 2, el.roll(1, el.cumsum(X)) * 2):
        first, second = texts(program)
        assert "up to" in first and "along0" in second


def test_a_scan_that_two_read_is_an_array() -> None:
    scanned = el.cumsum(X)
    first, second = texts(el.tuple(scanned * 2, scanned[::-1]))
    assert "up to" in first and second.count("along0") == 2


def test_a_scan_of_columns_is_written_as_it_is_read() -> None:
    (only,) = texts(el.cumsum(A, axis=0) * A)
    assert only == "stage1[0 < 6, 1 < 4] as [1, 0] = (mul (add up to 1 from 0.0 of (transpose A)[0,1]) A[1,0])"


def test_a_scan_of_a_middle_axis_is_written_as_it_is_read() -> None:
    program = el.cumsum(arr("C", 3, 5, 4), axis=1)
    (only,) = texts(program)
    assert only.startswith("stage1[0 < 3, 1 < 4, 2 < 5] as [0, 2, 1] = ")
    assert same(as_program(program), whole(stages_of(as_program(program))), exact_inputs(as_program(program)))


def test_columns_that_others_read_keep_their_order() -> None:
    program = as_program(el.roll(1, el.cumsum(A, axis=0)) * 2)
    assert " as [1, 0] = " in texts(program)[0]
    assert same(program, whole(stages_of(program)), exact_inputs(program))


def test_what_is_reduced_of_a_scan_is_no_array() -> None:
    (falls,) = texts((el.cummax(X) - X).max())
    assert falls == "along0.combined[] = (maximum over 0 < 12 of (sub (maximum up to 0 from -inf of x[0]) x[0]))"
    (sums,) = texts((el.cumsum(A, axis=0) * A).sum(axis=0))
    assert sums.startswith("along0.combined[0 < 6] = (add over 1 < 4 of (mul (add up to 1 from 0.0 of ")


@pytest.mark.parametrize(
    "program",
    [
        lambda: (el.cummax(X) - X).max(),
        lambda: el.sqrt((el.cumsum(X) * Y).sum()) + 1,
        lambda: el.reduce(el.add, 3, el.cumsum(X)),
        lambda: (el.cumsum(A, axis=0) * A).sum(axis=0),
        lambda: (el.cumsum(A, axis=1) * A).sum(),
        lambda: el.cumsum(A, axis=1).sum(axis=0),
        lambda: A.map(lambda row: (el.cumsum(row) - row.sum()).max()),
    ],
    ids=["a scalar", "and more", "from 3", "columns", "all of it", "another axis", "rows and their sums"],
)
def test_what_is_reduced_of_a_scan_means_the_same(program: Any) -> None:
    e = as_program(program())
    assert same(e, whole(stages_of(e)), exact_inputs(e), 1e-5)


def test_sums_of_a_scan_keep_their_order_where_asked() -> None:
    kept = [stages_of(as_program(e), reassociate=False).stages for e in (el.cumsum(X).sum(), el.cummax(X).max())]
    assert [len(stages) for stages in kept] == [2, 1]


def test_components_that_nothing_reads_are_not_written() -> None:
    pairs = el.scan(composed, (1, 2), el.zip(arr("a", 9, t=el.i32), arr("b", 9, t=el.i32)))
    second, all_of = pairs.map(lambda p: p[1])[::-1], el.tuple(pairs[::-1], pairs.map(lambda p: p[0]) * 2)
    assert texts(second)[0].startswith("along0[0 < 9] = (get 1 (composed up to 0 ")
    assert texts(all_of)[0].startswith("along0[0 < 9] = (composed up to 0 ")
    for program in (as_program(second), as_program(all_of)):
        assert same(program, whole(stages_of(program)), exact_inputs(program))


def test_scans_that_read_each_other_write_one_component() -> None:
    a, b = arr("a", 9, t=el.i32), arr("b", 9, t=el.i32)
    first = el.scan(composed, (1, 2), el.zip(a, b)).map(lambda p: p[1])
    second = el.scan(composed, (1, 2), el.zip(b, el.roll(1, first))).map(lambda p: p[1])
    program = as_program(el.roll(1, second) + el.roll(2, first))
    assert [s.type for s in stages_of(program).stages] == [a.type] * 3
    assert same(program, whole(stages_of(program)), exact_inputs(program))


def test_components_that_are_read_keep_their_places() -> None:
    triple = el.operator(
        lambda p, q: (p[0] + q[0], p[1] * q[1], el.maximum(p[2], q[2])), neutral=(0, 1, -(2**31)), commutative=True
    )
    scanned = el.scan(triple, (0, 1, -(2**31)), el.zip(*(arr(k, 5, t=el.i32) for k in "abc")))
    program = as_program(el.roll(1, scanned).map(lambda p: p[2] - p[0]))
    assert texts(program)[0].startswith("along0[0 < 5] = (tuple ")
    assert same(program, whole(stages_of(program)), exact_inputs(program))


def test_reductions_that_a_scan_needs_come_before_it() -> None:
    shares = A.map(lambda row: el.scan(el.add, row.max(), row / row.sum()))
    found = texts(shares)
    assert [t.split("[")[0] for t in found] == ["stage0_1", "stage3"]
    assert "from (map (get 1 arg) %stage0_1)[0] of (div A[0,1] (map (get 0 arg) %stage0_1)[0])" in found[1]


def test_a_cpu_stores_what_is_costly_and_read_twice() -> None:
    assert len(texts(el.cumsum(el.exp(X)), frugal=True)) == 2
    assert len(texts(el.cumsum(el.exp(X)), frugal=False)) == 1


@pytest.mark.parametrize("length", [1, 2, 5, 12, 40])
@pytest.mark.parametrize(
    "program",
    [
        lambda: el.cumsum(X) * Y,
        lambda: el.cumsum(A, axis=0),
        lambda: (el.cumsum(X) * Y).sum(),
        lambda: (el.cumsum(A, axis=0) * A).sum(axis=0),
        lambda: el.scan(composed, (2, 1), el.zip(arr("a", 9, t=el.i32), arr("b", 9, t=el.i32))),
    ],
    ids=["a vector", "columns", "a sum of a scan", "sums of columns", "compositions"],
)
def test_a_scan_in_chunks_means_the_same(program: Any, length: int) -> None:
    e = as_program(program())
    stages = stages_of(e)
    (stage,) = stages.stages
    chunks = in_chunks(stage, length)
    assert chunks is not None
    parts = [as_pattern(s) for s in (chunks.totals, chunks.carries, chunks.chunks, chunks.whole) if s is not None]
    found = of_chunks(stage, chunks, in_order(chunks, parts, placed))
    assert same(e, whole(stages, {stage.name: found}), exact_inputs(e), 1e-5)


def test_a_scan_without_neutral_element_has_no_chunks() -> None:
    first = el.operator(lambda a, b: a, commutative=False)
    (stage,) = stages_of(as_program(el.scan(first, 0, X)), reassociate=False).stages
    assert in_chunks(stage, 4) is None


def test_only_sums_of_floats_depend_on_their_order() -> None:
    programs = (el.cumsum(X), el.cummax(X), el.cumsum(arr("i", 5, t=el.i32)), el.scan(el.logical_or, False, X > 0))
    scans = [stages_of(as_program(e)).stages[0].scan for e in programs]
    assert [scan is not None and is_exact(scan) for scan in scans] == [False, True, True, True]
