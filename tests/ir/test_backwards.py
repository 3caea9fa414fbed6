"""Arrays from their last element to the first."""

from __future__ import annotations

import pytest

from egglift.ir import patterns as p
from egglift.ir.backwards import backwards, is_backwards, rearranged
from egglift.ir.lifting import as_program
from tests.egraph.stages.programs import arr

x = as_program(arr("x", 7))


def test_what_is_turned_twice_is_as_it_was() -> None:
    assert is_backwards(backwards(x)) and backwards(backwards(x)) is x
    assert backwards(as_program(arr("x", 0))) == as_program(arr("x", 0))


@pytest.mark.parametrize("spelled", [arr("x", 7)[::-1], arr("x", 7).reorder(lambda i: 6 - i)], ids=["sliced", "placed"])
def test_it_is_known_in_every_spelling(spelled: object) -> None:
    assert is_backwards(as_program(spelled))


def test_other_places_are_not_backwards() -> None:
    for other in (arr("x", 7).reorder(lambda i: i), arr("x", 8)[6::-1], arr("x", 7)[5::-1]):
        assert not is_backwards(as_program(other))


def test_what_computes_an_array_can_be_told_that_it_is_turned() -> None:
    assert rearranged(backwards(x)) is x and rearranged(p.Take(3, x)) is x
    assert rearranged(as_program(arr("x", 7).gather(arr("i", 7).cast("i32")))) is None
