"""Parts of one array are computed next to each other, and what they share once."""

from __future__ import annotations

import pytest

import egglift as el
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.segments import MANY
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import texts
from tests.egraph.stages.programs import Value, add_up, arr

A, B = arr("A", 6, 10), arr("B", 6, 10)
x, y = arr("x", 12), arr("y", 12)


def test_a_stack_is_one_stage_without_its_axis() -> None:
    assert texts(el.stack([A + B, A * B])) == [
        "stage0[0 < 6, 1 < 10] as planes before 0 = (concat (fill 1 (add A[0,1] B[0,1])) (fill 1 (mul A[0,1] B[0,1])))"
    ]


@pytest.mark.parametrize("axis", (0, 1, 2))
def test_a_stack_may_be_along_any_axis(axis: int) -> None:
    (only,) = texts(el.stack([A + B, A * B, el.abs(A)], axis=axis))
    laid = f" as planes before {axis}" if axis < 2 else ""
    assert only.startswith(f"stage0[0 < 6, 1 < 10]{laid} = (concat ")


def test_halves_are_computed_at_the_same_place() -> None:
    (only,) = texts(el.concat(x[:6] * y[6:], x[6:] + y[:6]))
    assert only.startswith("stage0[0 < 6] as planes before 0 = (concat (fill 1 (mul ")


def test_parts_of_rows_are_computed_at_the_same_place() -> None:
    (only,) = texts(A.map(lambda row: el.concat(row[:5] * 2.0, el.concat(row[5:] * 3.0, row[:5] + row[5:]))))
    assert only.startswith("stage0[0 < 6, 1 < 5] as planes before 1 = (concat ")
    assert "where" not in only


def test_parts_of_other_lengths_are_cut_until_they_are_alike() -> None:
    """4 and 8 elements: three parts of 4, of which two are computed alike."""
    (only,) = texts(el.concat(x[:4] * 2.0, x[4:] + 1.0))
    assert only.startswith("stage0[0 < 4] as planes before 0 = (concat ") and only.count("(add ") == 2


def test_parts_that_move_are_read_where_they_were() -> None:
    (only,) = texts(el.stack([A.map(lambda r: (r * 2.0).roll(3)), (B + 1.0).roll(2)]))
    assert only.startswith("stage0[0 < 6, 1 < 10] as planes before 0 = (concat ")


def test_a_part_that_is_turned_round_is_still_one() -> None:
    (only,) = texts(el.stack([A + B, A * B, A - B])[::-1])
    assert only.index("(sub ") < only.index("(mul ") < only.index("(add ")


def test_sums_of_parts_share_a_loop() -> None:
    (only,) = texts(el.stack([A.map(add_up), B.map(add_up)]))
    assert only.startswith(
        "stage0[0 < 6] = (concat (fill 1 (add for 1 < 10 of A[0,1])) (fill 1 (add for 1 < 10 of B"[:60]
    )


def test_what_depends_on_the_part_is_reduced_for_each() -> None:
    def sums(v: Value) -> Value:
        return el.stack([v * 2.0, v + 1.0]).map(add_up)

    (only,) = texts(A.map(sums))
    assert only.startswith("stage0[0 < 6] = (concat ")


def test_parts_that_are_unlike_stay_a_choice() -> None:
    """5 and 7 elements of 12 have no common length but 1, which is too many parts: of 24."""
    both = el.concat(x[:5] * 2.0, el.concat(x[5:] + 1.0, y * 3.0))
    (only,) = texts(both)
    assert MANY < 24 and only.startswith("stage0[0 < 24] = (where ")


def test_arrays_that_are_only_read_are_one_array() -> None:
    (only,) = texts(el.concat(x, y) * 2.0)
    assert only.startswith("stage0[0 < 24] = (mul (concat x y)[0]")


def test_parts_of_unknown_lengths_stay_a_choice() -> None:
    n = el.size("n")
    u, v = el.array("u", el.f32, n), el.array("v", el.f32, n)
    (stacked,) = stages_of(as_program(el.stack([u * 2.0, v + 1.0]))).stages
    (joined,) = stages_of(as_program(el.concat(u * 2.0, v + 1.0))).stages
    assert [len(stacked.dims), len(joined.dims)] == [1, 1]
    assert "where" in text_of(joined) and "where" not in text_of(stacked)


def test_parts_that_are_reduced_are_written_before_they_are_read() -> None:
    """As a choice, both halves of the product would be computed for all columns."""
    first = arr("A", 9, 20) @ arr("C", 20, 6)
    second = arr("A", 9, 20) @ arr("D", 20, 6)
    halves, last = texts(el.concat(first.T, second.T).T @ arr("W", 12, 5))
    assert halves.startswith("stage0[0 < 6, 1 < 9] = (concat (fill 1 (add for 2 < 20 of")
    assert last.startswith("stage1[0 < 9, 1 < 5] = (add for 2 < 12 of")
