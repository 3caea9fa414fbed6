"""Integers of inputs that say places are found wherever they are used."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import egglift as el
from egglift.ir.lifting import as_program
from egglift.ir.places import Leaf, places
from egglift.ir.value import Value

X = el.array("x", el.f32, 50)
ROWS = el.array("rows", el.f32, (40, 6))
I = el.array("i", el.i32, 30)
J = el.array("j", el.i32, (7, 4))
PAIRS = el.zip(I, el.array("w", el.f32, 30))
FOUND: dict[str, tuple[Callable[[], Value], dict[Leaf, int]]] = {
    "an index": (lambda: X[I], {("i", 0): 50}),
    "an index beside another": (lambda: X[I + 1], {("i", 0): 50}),
    "an index that is bounded": (lambda: X[el.minimum(I, 9)], {("i", 0): 50}),
    "rows that are gathered": (lambda: ROWS[I].sum(axis=1), {("i", 0): 40}),
    "indices in rows": (lambda: J.map(lambda js: ROWS[js].sum()), {("j", 0): 40}),
    "an index in a tuple": (lambda: PAIRS.map(lambda p: X[p[0]] * p[1]), {("i", 0): 50}),
    "what is counted": (lambda: el.bincount(I, 64), {("i", 0): 64}),
}
OTHERS: dict[str, Callable[[], Value]] = {
    "a number": lambda: I + 1,
    "a product": lambda: X[I * 7],
    "a sum of them all": lambda: X[el.cumsum(I)],
    "what is gathered": lambda: el.array("k", el.i32, 50)[el.iota(10)],
}


@pytest.mark.parametrize("name", FOUND)
def test_places_are_found(name: str) -> None:
    program, found = FOUND[name]
    assert places(as_program(program())) == found


@pytest.mark.parametrize("name", OTHERS)
def test_other_integers_are_no_places(name: str) -> None:
    assert places(as_program(OTHERS[name]())) == {}
