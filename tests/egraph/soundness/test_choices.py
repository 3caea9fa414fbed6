"""Random choices that can be made again, and shrunk."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from egglift.egraph.soundness.choices import Choices, Spent, shrunk


def some(rng: Random) -> list[int]:
    return [rng.randint(-5, 5), rng.choice((7, 8, 9)), rng.randrange(100), round(100 * rng.random())]


def test_choices_that_were_made_can_be_made_again() -> None:
    first = Choices(Random(3))
    drawn = some(first)
    again = Choices(None, first.made)
    assert some(again) == drawn
    with pytest.raises(Spent):
        again.random()


def test_no_choice_is_the_simplest() -> None:
    assert some(Choices(None, [0, 0, 0, 0])) == [0, 7, 0, 0]


def test_what_led_nowhere_is_left_out() -> None:
    rng = Choices(Random(3))
    rng.randrange(10)
    mark = len(rng.made)
    rng.randrange(10)
    rng.forget(mark)
    last = rng.randrange(10)
    again = Choices(None, rng.made)
    again.randrange(10)
    assert again.randrange(10) == last


def test_a_list_with_a_large_sum_shrinks_to_one_number() -> None:
    def numbers(rng: Random) -> list[int]:
        return [rng.randint(0, 1000) for _ in range(rng.randint(0, 20))]

    def again(given: Sequence[int]) -> tuple[Sequence[int], list[int]] | None:
        rng = Choices(None, given)
        try:
            found = numbers(rng)
        except Spent:
            return None
        return (rng.made, found) if sum(found) > 500 else None

    first = Choices(Random(1))
    found = numbers(first)
    assert sum(found) > 500
    small = shrunk(first.made, found, again, 2000)
    assert 500 < sum(small) < 520
    assert shrunk(first.made, found, again, 0) == found
