"""Which ways of stages within blocks are tried together."""

from __future__ import annotations

from egglift.egraph.schedules.block_options import Option, side_by_side
from egglift.egraph.schedules.ways import EACH, MOVED


def option(items: tuple[int, int], seconds: float, moved: bool = False) -> Option:
    return Option(MOVED if moved else EACH, {}, items, seconds)


NARROW, WIDE, OTHER = option((8, 4), 1.0), option((32, 4), 1.2), option((32, 4), 2.0, moved=True)


def test_items_that_a_stage_has_not_wait_for_it() -> None:
    """All items of the wide one wait while a quarter of them does the work of the narrow one."""
    tried = list(side_by_side([[NARROW, WIDE], [WIDE]], "gpu", 6))
    assert tried == [(WIDE, WIDE), (NARROW, WIDE)]


def test_no_more_are_tried_than_wanted() -> None:
    assert list(side_by_side([[NARROW, WIDE], [WIDE]], "gpu", 1)) == [(WIDE, WIDE)]


def test_ways_with_as_many_items_are_tried_though_slow_alone() -> None:
    slow = option((8, 4), 5.0)
    tried = list(side_by_side([[NARROW], [WIDE, slow]], "gpu", 2))
    assert tried == [(NARROW, WIDE), (NARROW, slow)]


def test_blocks_in_turn_need_as_many_items_for_all_stages() -> None:
    assert list(side_by_side([[NARROW, WIDE], [OTHER]], "gpu", 6, in_turn=True)) == [(WIDE, OTHER)]
    assert list(side_by_side([[NARROW], [OTHER]], "gpu", 6, in_turn=True)) == []
