"""What is computed of several slices of an array is computed of the array once."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.slices import unsliced
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, permuted
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import texts
from tests.egraph.stages.programs import Value, add_up, arr

A, W = arr("A", 9, 20), arr("W", 20, 12)


def test_neighbouring_sums_are_computed_once() -> None:
    sums = A.map(add_up)
    assert texts(sums[1:] * sums[:-1]) == [
        "stage0[0 < 9] = (add for 1 < 20 of A[0,1])",
        "stage1[0 < 8] = (mul (drop 1 %stage0)[0] (take 8 %stage0)[0])",
    ]


def test_gates_are_computed_side_by_side() -> None:
    gates = A @ W
    first, last = texts(el.tanh(gates[:, :6]) * gates[:, 6:])
    assert first.startswith("stage0[0 < 9, 1 < 12] = (add for 2 < 20 of")
    assert last.startswith("stage1[0 < 9, 1 < 6] = (mul (tanh (map (take 6 ")


def test_slices_of_both_axes_are_of_one_array() -> None:
    product = A @ W
    first, last = texts(product[1:, 1:] - product[:-1, :-1])
    assert first.startswith("stage0[0 < 9, 1 < 12]") and last.startswith("stage1[0 < 8, 1 < 11]")


def test_an_array_is_read_beside_its_slices() -> None:
    sums = A.map(add_up)
    texts_of = texts(el.pad(1, 0, ("constant", 0.0), sums[1:] - sums[:-1]) + sums)
    assert sum("of A" in s for s in texts_of) <= 2


@pytest.mark.parametrize(
    "program",
    (
        (A @ W)[:, 3:],  # one slice
        (lambda s: s[:1] + s[8:])(A.map(add_up)),  # little of the array
        (lambda s: s[1:] * s[:-1])(arr("B", 9, 4).map(add_up)),  # short sums
    ),
)
def test_what_is_cheaper_in_slices_stays_so(program: Value) -> None:
    assert not any("drop" in s.split(" = ")[1].split("%stage0")[0] and "%stage0" in s for s in texts(program))


def test_slices_may_be_computed_apart() -> None:
    gates = as_program(el.tanh((A @ W)[:, :6]) * (A @ W)[:, 6:])
    assert len(stages_of(gates, by=Partitioning(whole=False)).stages) == 1


@pytest.mark.parametrize("order", ((0, 1), (1, 0)))
def test_a_slice_is_found_in_any_order_of_axes(order: tuple[int, ...]) -> None:
    array = p.Input("Y", type_of(as_program(arr("Y", 6, 8))))
    cut = at_depth(1, array, lambda e: p.Drop(1, p.Take(7, p.Drop(1, e))))
    found = unsliced(permuted(cut, range(2), order), 2, order.index(1))
    assert (found.start, found.length) == (2, 8)
    values = np.arange(48, dtype=np.float32).reshape(6, 8)
    assert (el.interpret(found.x, Y=values) == values.transpose(order)).all()
