"""The garbage collector during searches, and after them."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from egglift.garbage import SELDOM, YOUNG, old_objects_stay


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_all_objects_are_looked_through_seldom_inside() -> None:
    with old_objects_stay():
        assert gc.get_threshold() == (YOUNG, 10, SELDOM)
    assert gc.get_threshold() == (700, 10, 10)


def test_searches_at_once_leave_what_was_before_them() -> None:
    first, second = old_objects_stay(), old_objects_stay()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() == (YOUNG, 10, SELDOM)
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


def test_a_search_that_fails_leaves_it_too() -> None:
    with pytest.raises(ValueError, match="no"), old_objects_stay():
        raise ValueError("no")
    assert gc.get_threshold() == (700, 10, 10)


def test_a_collector_that_is_off_stays_off() -> None:
    gc.set_threshold(0)
    with old_objects_stay():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0
