"""Scans from the end: of what lies as it is, instead of what is turned; and views that are turned in fewest words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.backwards import turned
from egglift.ir.axes import at_depth
from egglift.ir.backwards import backwards
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, same, texts
from tests.egraph.stages.programs import arr

X, A, B = arr("x", 12), arr("A", 4, 6), arr("B", 4, 6)
DOWN = "(add down to 1 from 0.0 of (transpose A)[0,1])"
SPELLINGS: dict[str, Any] = {
    "reverse": lambda: el.scan(el.add, 0, A, reverse=True, axis=0),
    "sliced": lambda: el.cumsum(A[::-1], axis=0)[::-1],
    "flipped": lambda: np.flip(el.cumsum(np.flip(A, 0), axis=0), 0),
    "columns": lambda: A.T.map(lambda column: el.cumsum(column[::-1])[::-1]).T,
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_scan_backwards_begins_at_the_end_and_lies_as_it_reads(name: str) -> None:
    (only,) = texts(SPELLINGS[name]())
    assert only == f"stage1[0 < 6, 1 < 4] as [1, 0] = {DOWN}"


def test_what_follows_is_computed_in_a_scan_backwards() -> None:
    scanned = el.linear_recurrence(B, A, reverse=True, axis=0)
    (only,) = texts(el.tuple(scanned, scanned * B))
    assert only.startswith("stage1[0 < 6, 1 < 4] as [1, 0] = (tuple (get 1 (after down to 1 from ")
    assert only.endswith(" B[1,0]))") and "gather" not in only


def test_a_scan_without_elements_own_goes_backwards_too() -> None:
    (only,) = texts(el.scan(el.add, 3, X, exclusive=True, reverse=True))
    assert only == "stage1[0 < 12] = (add down to 0 from 3.0 of (pad 0 1 constant 0.0 (drop 1 x))[0])"


def test_what_is_wanted_as_it_is_scanned_is_not_turned_twice() -> None:
    for program in (el.cumsum(X[::-1]), el.cumsum(X[::-1]) * arr("y", 12)):
        (only,) = texts(program)
        assert "add up to 0 from 0.0 of (gather " in only


def test_a_scan_that_is_wanted_both_ways_lies_as_it_reads() -> None:
    scanned = el.cumsum(X[::-1])
    assert texts(el.tuple(scanned, scanned[::-1]))[0] == "along0[0 < 12] = (add down to 0 from 0.0 of x[0])"


def test_what_is_reduced_of_a_scan_backwards_is_no_array() -> None:
    (only,) = texts((el.scan(el.add, 0, A, reverse=True, axis=0) * B).sum(axis=0))
    assert only.startswith("along0.combined[0 < 6] = (add over 1 < 4 of (mul (add down to 1 from 0.0 of ")


@pytest.mark.parametrize(
    "view",
    [
        lambda x: backwards(x),
        lambda x: as_program(np.pad(el.literal(0) + arr("x", 5), (1, 2))),
        lambda x: as_program(np.pad(arr("x", 9), (1, 2), mode="wrap")[3:]),
        lambda x: as_program(np.pad(arr("x", 9)[:4], 2, mode="reflect")),
        lambda x: as_program(arr("A", 4, 6).T),
        lambda x: as_program(arr("A", 4, 6).T.map(lambda row: row[::-1][1:])),
    ],
    ids=["turned", "zeros", "wrapped", "reflected", "a transposition", "rows"],
)
def test_a_view_that_is_turned_means_what_it_says(view: Any) -> None:
    x = view(as_program(arr("x", 9)))
    for depth in range(2 if "A" in str(x) else 1):
        assert same(turned(depth, x), at_depth(depth, x, backwards), exact_inputs(x))
