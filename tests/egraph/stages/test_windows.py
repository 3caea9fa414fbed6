"""What windows share is computed once, for the array of which they are windows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.windows import unslid
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, permuted
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import composed, texts
from tests.egraph.stages.programs import Value, add_up, arr, dot

A = arr("A", 9, 20)
IMAGE = arr("I", 6, 7, 20)
NUMBERS = np.arange(4 * 9 * 5, dtype=np.float32).reshape(4, 9, 5)


def root_of_sum(row: Value) -> Value:
    return el.sqrt(add_up(row))


def test_sums_of_rows_in_windows_are_computed_once() -> None:
    first, second = texts(A.slide(3, 1).map(lambda w: add_up(w.map(root_of_sum))))
    assert first == "stage0[0 < 9] = (sqrt (add for 1 < 20 of A[0,1]))"
    assert second == "stage1[0 < 7] = (add for 1 < 3 of (slide 3 1 %stage0)[0,1])"
    assert texts(A.map(root_of_sum).slide(3, 1).map(add_up))[0] == first


@pytest.mark.parametrize("windows_first", (True, False))
def test_windows_of_two_dimensions_share_too(windows_first: bool) -> None:
    def of_pixels(rows: Value) -> Value:
        return rows.map(lambda row: row.map(root_of_sum))

    image = IMAGE if windows_first else of_pixels(IMAGE)
    windows = el.slide2d([2, 3], 1, image)
    first, _ = texts(windows.map(lambda r: r.map(lambda w: add_up(of_pixels(w) if windows_first else w))))
    assert first == "stage0[0 < 6, 1 < 7] = (sqrt (add for 2 < 20 of I[0,1,2]))"


def test_a_padded_array_is_reduced_once_an_element() -> None:
    first, _ = texts(el.pad(1, 1, "clamp", A).slide(3, 1).map(lambda w: add_up(w.map(root_of_sum))))
    assert first == "stage0[0 < 11] = (sqrt (add for 1 < 20 of (pad 1 1 clamp A)[0,1]))"


def test_long_sums_in_windows_are_no_part_of_the_sum() -> None:
    """One sum over both would read each row for every window; short rows are read again all the same."""
    long, short = (texts(x.slide(3, 1).map(lambda w: add_up(w.map(add_up)))) for x in (A, arr("A", 9, 5)))
    assert long[0] == "stage0[0 < 9] = (add for 1 < 20 of A[0,1])"
    assert short == ["stage0[0 < 7] = (add for 1 < 3, 2 < 5 of (slide 3 1 A)[0,1,2])"]


def test_windows_that_do_not_overlap_share_nothing() -> None:
    first, _ = texts(A.slide(3, 3).map(lambda w: add_up(w.map(root_of_sum))))
    assert first.startswith("stage0[0 < 3, 1 < 3]")


def test_what_depends_on_the_place_is_computed_for_each() -> None:
    weights = arr("w", 3, 20)
    program = A.slide(3, 1).map(lambda w: add_up(el.map(lambda r, v: el.sqrt(dot(r, v)), w, weights)))
    assert texts(program)[0].startswith("stage0[0 < 7, 1 < 3]")


def test_two_arrays_in_windows_alike_share() -> None:
    other = arr("B", 9, 20)
    both = el.map(lambda v, w: add_up(el.map(lambda a, b: el.sqrt(dot(a, b)), v, w)), A.slide(3, 1), other.slide(3, 1))
    assert texts(both)[0] == "stage0[0 < 9] = (sqrt (add for 1 < 20 of (mul A[0,1] B[0,1])))"
    apart = el.map(
        lambda v, w: add_up(el.map(lambda a, b: el.sqrt(dot(a, b)), v, w)), A.slide(3, 1), arr("B", 7, 3, 20)
    )
    assert texts(apart)[0].startswith("stage0[0 < 7, 1 < 3]")


@pytest.mark.parametrize("order", ((0, 1, 2, 3), (0, 2, 1, 3), (3, 1, 0, 2), (2, 3, 0, 1), (1, 0, 2, 3), (0, 3, 2, 1)))
def test_windows_are_found_in_any_order_of_axes(order: tuple[int, ...]) -> None:
    """Axes 1 and 2 are windows and places; what is left has the others in the same order."""
    array = p.Input("X", type_of(as_program(arr("X", 4, 9, 5))))
    slid = permuted(at_depth(1, array, lambda e: p.Slide(3, 1, e)), range(4), order)
    found = unslid(slid, 4, order.index(1), order.index(2))
    assert found is not None
    assert found.length == 9
    axes = [{0: 0, 1: 1, 3: 2}[a] for a in order if a != 2]
    values = el.interpret(array, X=NUMBERS)
    assert (el.interpret(found.x, X=NUMBERS) == values.transpose(axes)).all()


def along(op: Callable[[Value], Value], image: Value, size: int) -> Value:
    return image.map(lambda row: row.pad(size // 2, size // 2, "clamp").slide(size, 1).map(op))


def both_ways(op: Callable[[Value], Value], image: Value, size: int = 7) -> Value:
    return along(op, along(op, image, size).T, size).T


@pytest.mark.parametrize("op", (el.max, add_up))
def test_windows_of_rows_then_of_columns_stay_two_steps(op: Callable[[Value], Value]) -> None:
    first, second = texts(both_ways(op, arr("J", 12, 20)))
    assert " for 2 < 7 of" in first and " for 2 < 7 of" in second
    assert first.startswith("stage0[0 < 18, 1 < 20]") and second.startswith("stage1[0 < 12, 1 < 20]")


def test_small_windows_of_both_ways_are_one() -> None:
    (only,) = texts(both_ways(el.max, arr("J", 12, 20), 3))
    assert "for 2 < 3, 3 < 3 of" in only


def test_each_way_of_an_opening_is_computed_once() -> None:
    """Least, then greatest of windows both ways: padded windows of windows, and no index is computed twice."""
    stages = texts(both_ways(el.max, both_ways(el.min, arr("J", 12, 20))))
    assert len(stages) == 4
    assert all(s.count("<") == 3 for s in stages)


@pytest.mark.parametrize("layout", (lambda x: x[1:], lambda x: x.roll(2), lambda x: x.pad(2, 1, "wrap")))
def test_windows_are_found_behind_layouts_of_rows(layout: Callable[[Value], Value]) -> None:
    windows = layout(A.slide(3, 1).map(lambda w: w.map(root_of_sum)))
    first, _ = texts(windows.map(add_up))
    assert first == "stage0[0 < 9] = (sqrt (add for 1 < 20 of A[0,1]))"


@pytest.mark.parametrize(("side", "steps"), ((3, 1), (5, 2)))
def test_windows_of_products_are_taken_one_way_at_a_time(side: int, steps: int) -> None:
    """Where that halves the steps: each is a difference, a product and an addition."""
    x, y = arr("x", 12, 11), arr("y", 12, 11)
    assert len(texts(el.sliding_window_view((x - y) * y, (side, side)).sum(axis=(2, 3)))) == steps


def test_windows_of_what_is_read_are_one_step_up_to_five() -> None:
    assert len(texts(el.sliding_window_view(arr("x", 12, 11), (5, 5)).sum(axis=(2, 3)))) == 1


def boxes(*lengths: int, side: int = 7) -> Value:
    """All sums of boxes of that side."""
    x, rank = arr("x", *lengths), len(lengths)
    return el.sliding_window_view(x, (side,) * rank).sum(axis=tuple(range(rank, 2 * rank)))


def test_sums_along_rows_lie_in_rows() -> None:
    """What reads them then reads neighbours, whichever direction its own windows have."""
    first, second = texts(boxes(12, 20))
    assert first == "stage0[0 < 12, 1 < 14] = (add for 2 < 7 of (map (slide 7 1 arg) x)[0,1,2])"
    assert second == "stage1[0 < 6, 1 < 14] = (add for 2 < 7 of (slide 7 1 %stage0)[0,2,1])"


def test_windows_may_be_summed_down_the_columns_first() -> None:
    first, second = texts(boxes(12, 20), down=True)
    assert first == "stage0[0 < 6, 1 < 20] = (add for 2 < 7 of (map (transpose arg) (slide 7 1 x))[0,1,2])"
    assert second == "stage1[0 < 6, 1 < 14] = (add for 2 < 7 of (map (slide 7 1 arg) %stage0)[0,1,2])"


@pytest.mark.parametrize("down", (False, True))
def test_boxes_take_a_step_for_each_direction(down: bool) -> None:
    """One for two small ones; in any case neighbours lie side by side."""
    stages = texts(boxes(9, 8, 10), down=down)
    assert len(stages) == 3
    assert len(texts(boxes(9, 8, 10, side=3), down=down)) == 1
    assert [s.count("<") for s in stages] == [4, 4, 4]


@pytest.mark.parametrize("down", (False, True))
def test_two_sums_of_the_same_windows_go_together(down: bool) -> None:
    w = el.sliding_window_view(arr("x", 12, 20), (7, 7))
    first, second = texts(w.mean(axis=(2, 3)) - (w * w).mean(axis=(2, 3)), down=down)
    assert first.count("add for") == second.count("add for") == 2


def test_what_does_not_commute_stays_in_its_order() -> None:
    pairs = el.zip(arr("a", 9 * 17).split(17), arr("b", 9 * 17).split(17)).map(lambda r: el.zip(r[0], r[1]))
    windows = el.slide2d([7, 7], 1, pairs)
    program = windows.map(lambda r: r.map(lambda w: w.map(lambda row: row.reduce(composed)).reduce(composed)))
    assert texts(program, down=True) == texts(program)


@pytest.mark.parametrize("sums", (lambda w: w.map(lambda row: add_up(row)), lambda w: w.transpose().map(add_up)))
def test_sums_of_sums_in_windows_may_change_their_order(sums: Callable[[Value], Value]) -> None:
    windows = el.slide2d([7, 7], 1, arr("x", 12, 20))
    program = windows.map(lambda r: r.map(lambda w: add_up(sums(w))))
    firsts = {texts(program, down=down)[0].split("]")[0] for down in (False, True)}
    assert firsts == {"stage0[0 < 12, 1 < 14", "stage0[0 < 6, 1 < 20"}


def test_long_sums_in_windows_stay_apart_down_too() -> None:
    """Nothing is gained by another order where only one direction has windows."""
    program = A.slide(3, 1).map(lambda w: add_up(w.map(add_up)))
    assert texts(program, down=True) == texts(program)
