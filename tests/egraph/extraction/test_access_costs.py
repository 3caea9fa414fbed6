"""Where the neighbours of an element lie, against real strides."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from egglift.egraph.extraction import access_costs
from egglift.egraph.extraction.access_costs import Leaf, Row, ViewPrice
from egglift.ir.types import F32, Array


def steps(moves: list[tuple[str, int]]) -> tuple[ViewPrice, np.ndarray]:
    """A value of 4096 elements and the addresses of its elements, both rearranged by `moves`."""
    value = access_costs.fill(Array(4096, F32), 1.0, int)
    address = np.arange(4096)
    for move, k in moves:
        if move == "split" and address.shape[0] % k == 0 and address.shape[0] > k:
            value, address = access_costs.split(value, k), address.reshape(-1, k, *address.shape[1:])
        elif move == "join" and address.ndim > 1:
            value, address = access_costs.join(value), address.reshape(-1, *address.shape[2:])
        elif move == "transpose" and address.ndim > 1:
            value, address = access_costs.transpose(value), address.swapaxes(0, 1)
    return value, address


def leaf_of(value: ViewPrice) -> Leaf:
    while isinstance(value, Row):
        value = value.each
    assert isinstance(value, Leaf)
    return value


MOVES = st.lists(st.tuples(st.sampled_from(["split", "join", "transpose"]), st.sampled_from([2, 4, 8, 64])), max_size=6)


@given(MOVES)
def test_neighbours_along_the_unit_row_are_neighbours_in_memory(moves: list[tuple[str, int]]) -> None:
    value, address = steps(moves)
    leaf = leaf_of(value)
    if leaf.unit >= 0:
        axis = address.ndim - 1 - leaf.unit
        gaps = np.diff(address, axis=axis)
        assert (gaps == 1).mean() >= 0.5  # a join puts chunks one after the other


@given(MOVES)
def test_lengths_follow_the_arrays(moves: list[tuple[str, int]]) -> None:
    value, address = steps(moves)
    lengths = []
    while isinstance(value, Row):
        lengths.append(value.n)
        value = value.each
    assert tuple(lengths) == address.shape


def test_work_items_with_short_chunks_in_turn_lie_near() -> None:
    dealt, _ = steps([("split", 4), ("split", 64), ("transpose", 0)])
    item = access_costs.across(dealt, lambda p: p * 100, near=True)
    assert access_costs.price(item) == 1.0
    chunks, _ = steps([("split", 64)])
    assert access_costs.price(access_costs.across(chunks, lambda p: p * 100, near=True)) == 100.0


def test_what_is_constant_in_a_row_costs_neighbours_nothing() -> None:
    captured = Row(64, access_costs.spread(Leaf(1.0)))
    assert access_costs.price(access_costs.across(captured, lambda p: p * 100, near=False)) == 1.0


def test_captures_leave_the_neighbours_of_the_rest_together() -> None:
    row = access_costs.fill(Array(64, F32), 32.0, int)
    captured = Row(64, access_costs.spread(Leaf(32.0)))
    assert isinstance(row, Row)
    both = access_costs.combine((row.each, captured.each), 1.0)
    assert (both.price, both.unit) == (65.0, 0)
    assert access_costs.combine((row.each, Leaf(32.0, -1)), 1.0).unit == -1  # the other lies anywhere


def test_a_closed_scalar_is_the_same_along_all_rows() -> None:
    row = access_costs.fill(Array(64, F32), 32.0, int)
    assert isinstance(row, Row)
    assert access_costs.combine((row.each, access_costs.closed(Leaf(32.0))), 1.0).unit == 0


def test_the_old_rows_of_an_element_lie_further_out_in_a_new() -> None:
    element = Leaf(1.0, unit=0)  # one after the other along the row that it was taken from
    new = access_costs.spread(element)
    assert new == Leaf(1.0, unit=1, fixed=0b1)


@given(MOVES)
def test_arguments_know_only_their_own_rows(moves: list[tuple[str, int]]) -> None:
    value, _ = steps(moves)
    assert isinstance(value, Row)
    inside, rows = access_costs.argument(value.each), 0
    while isinstance(inside, Row):
        inside, rows = inside.each, rows + 1
    assert isinstance(inside, Leaf)
    assert inside.unit < rows and inside.near < rows and inside.fixed.bit_length() <= rows
    assert inside.price == leaf_of(value).price
