"""What is computed of repeated elements is computed of each once; short sums within sums are no arrays."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.repeats import unrepeated
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, permuted
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import texts
from tests.egraph.stages.programs import Value, add_up, arr

X = arr("X", 4, 12, 10)


def statistic(x: Value) -> Value:
    return el.sqrt(x.map(add_up).reduce(el.add, 0.0))


def test_a_statistic_of_groups_is_computed_once_a_group() -> None:
    """Of 12 channels, 4 each share one; later sums are over channels and places."""
    scaled = X.map(lambda x: x.split(4).map(lambda g: g.map(lambda r: r.map(lambda v: v / statistic(g)))).join())
    first, *_ = texts(el.sum(scaled, axis=(0, 2)))
    assert first.split(" = ")[0] in ("stage0[0 < 4, 1 < 3]", "stage0[0 < 3, 1 < 4]")
    assert "(add for 2 < 4, 3 < 10 of" in first


def test_a_statistic_of_two_orders_is_one_stage() -> None:
    scaled = X.map(lambda x: x.split(4).map(lambda g: g.map(lambda r: r.map(lambda v: v / statistic(g)))).join())
    assert len(texts(el.tuple(scaled, el.sum(scaled, axis=(0, 2))))) == 3


@pytest.mark.parametrize("order", ((0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0)))
@pytest.mark.parametrize("joined", (True, False))
def test_repetitions_are_found_in_any_order_of_axes(order: tuple[int, ...], joined: bool) -> None:
    """Axis 1 is repeated: runs of 3, or one value for all."""
    array = p.Input("Y", type_of(as_program(arr("Y", *((2, 4, 5) if joined else (2, 5))))))
    filled = at_depth(1, array, lambda e: p.Join(at_depth(1, e, lambda v: p.Fill(3, v))) if joined else p.Fill(3, e))
    found = unrepeated(permuted(filled, range(3), order), 3, order.index(1))
    assert found is not None
    assert (found.runs, found.times) == (4 if joined else None, 3)
    values = np.arange(40 if joined else 10, dtype=np.float32).reshape((2, 4, 5) if joined else (2, 5))
    left = order if joined else tuple({0: 0, 2: 1}[a] for a in order if a != 1)
    assert (el.interpret(found.x, Y=values) == values.transpose(left)).all()


@pytest.mark.parametrize("order", ((0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0)))
def test_all_of_an_axis_again_and_again_is_a_repetition(order: tuple[int, ...]) -> None:
    """Axis 1 is the four rows of Y, three times."""
    array = p.Input("Y", type_of(as_program(arr("Y", 2, 4, 5))))
    tiled = at_depth(1, array, lambda e: p.Join(p.Fill(3, e)))
    found = unrepeated(permuted(tiled, range(3), order), 3, order.index(1))
    assert found is not None
    assert (found.runs, found.times, found.around) == (4, 3, True)
    values = np.arange(40, dtype=np.float32).reshape(2, 4, 5)
    assert (el.interpret(found.x, Y=values) == values.transpose(order)).all()


def test_what_is_not_repeated_is_left() -> None:
    assert unrepeated(p.Input("Y", type_of(as_program(arr("Y", 4, 5)))), 2, 0) is None


def squared_distance(a: Value, b: Value) -> Value:
    return add_up(el.zip(a, b).map(lambda v: (v[0] - v[1]) * (v[0] - v[1])))


@pytest.mark.parametrize(("coordinates", "stages"), ((3, 1), (8, 1), (9, 2), (40, 2)))
def test_short_sums_within_sums_are_computed_in_place(coordinates: int, stages: int) -> None:
    a, b = arr("A", 12, coordinates), arr("B", 15, coordinates)
    nearness = a.map(lambda p: add_up(b.map(lambda q: 1 / (1 + squared_distance(p, q)))))
    assert len(texts(nearness)) == stages


def test_short_sums_of_one_side_are_hoisted_all_the_same() -> None:
    a, b = arr("A", 12, 3), arr("B", 15, 3)
    program = a.map(lambda p: add_up(b.map(lambda q: p[0] / (1 + add_up(q)))))
    assert len(texts(program)) == 2


def test_sums_in_order_are_unrolled_in_order() -> None:
    a, b = arr("A", 12, 3), arr("B", 15, 3)
    in_order = a.map(lambda p: add_up(b.map(lambda q: el.zip(p, q).fold(lambda t, v: t * v[0] + v[1], 1.0))))
    assert len(texts(in_order)) == 1


def test_axes_of_one_element_make_no_other_reduction() -> None:
    sums = el.sum(arr("A", 9, 20), axis=1, keepdims=True)
    stages = texts(el.tuple(el.ravel(sums), arr("A", 9, 20) / sums))
    assert sum(" for 1 < 20 of" in s for s in stages) == 1


def test_a_march_of_short_steps_has_one_stage_a_step() -> None:
    """What earlier steps found is read: it is no part that each coordinate of the next one repeats."""
    d, centres = arr("d", 20, 3), arr("c", 4, 3)
    far = d[:, 0]
    for _ in range(4):
        apart = (d * far[:, None])[:, None, :] - centres
        far = far + el.sqrt((apart * apart).sum(axis=2)).min(axis=1)
    assert len(texts(far)) == 4
