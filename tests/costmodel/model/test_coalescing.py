"""What the work-items of a group touch of global memory: every sector and every word once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egglift.codegen.kernel.imperative import Buffer, Load
from egglift.codegen.kernel.index import Data, Index, Var, index
from egglift.costmodel.model.coalescing import Footprint, distinct, diverged, footprint, ids, lines, sectors, window
from egglift.ir.types import I32

L0, L1 = Var("l0", 32, "local", 0), Var("l1", 4, "local", 1)
G0, W0 = Var("g0", 4096, "global", 0), Var("w0", 128, "workgroup", 0)
I, J, K = Var("i0", 8, "loop"), Var("i1", 4, "loop"), Var("i2", 3, "loop")
MANY = 1 << 20
Accesses = list[tuple[Index, tuple[tuple[Var, int], ...], int]]


def one(at: Index, *loops: Var, width: int = 4) -> Accesses:
    return [(at, tuple((v, v.count) for v in loops), width)]


def touched(accesses: Accesses, size: int = 4, group: tuple[int, ...] = (32,), most: int = MANY) -> Footprint | None:
    return footprint(accesses, size, group, most)


@pytest.mark.parametrize(
    ("at", "sectors", "used"),
    [
        (index(L0), 4, 128),
        (index(G0), 4, 128),
        (index(G0) + index(W0) * 1024, 4, 128),
        (index(L0) * 2, 8, 128),  # half of each sector
        (index(L0) * 8, 32, 128),  # a sector for each
        (index(L0) * 1024, 32, 128),
        (index(L0) // 2, 2, 64),
        (index(L0) % 8, 1, 32),
        (index(L0).clamp(9), 2, 36),
        (index(L0) + 4, 5, 128),
        (index(L0) - 1, 5, 128),
        (index(7), 1, 4),
    ],
)
def test_work_items_touch_sectors_together(at: Index, sectors: int, used: int) -> None:
    assert touched(one(at)) == Footprint(sectors, used)


def test_all_dimensions_of_a_group_touch_memory() -> None:
    rows = one(index(L1) * 1024 + L0)
    assert touched(rows, group=(32, 4)) == Footprint(16, 512)
    assert touched(rows, group=(32, 1)) == touched(rows) == Footprint(4, 128)
    assert touched(one(index(L0) * 1024 + L1), group=(32, 4)) == Footprint(32, 512)


def test_a_loop_uses_up_sectors() -> None:
    assert touched(one(index(L0) * 8 + I, I)) == Footprint(32, 1024)
    assert touched(one(index(L0) * 8 + I)) == Footprint(32, 128)  # its first step alone
    assert touched(one(index(L0) * 32 + index(J) * 8 + I, I, J)) == Footprint(128, 4096)


def test_a_loop_that_does_not_move_the_access_counts_once() -> None:
    assert touched(one(index(L0), I, J)) == Footprint(4, 128)
    assert touched(one(index(L0), I), most=32) == Footprint(4, 128)


def test_windows_touch_what_they_share_once() -> None:
    apart = [a for k in range(3) for a in one(index(L0) + k)]
    assert touched(apart) == touched(one(index(L0) + K, K)) == Footprint(5, 136)
    far = [a for k in range(3) for a in one(index(L0) + 1024 * k)]
    assert touched(far) == Footprint(12, 384)


@pytest.mark.parametrize(
    ("size", "width", "sectors", "used"),
    [
        (4, 16, 4 * 4, 512),
        (8, 8, 8, 256),
        (8, 16, 16, 512),
        (2, 2, 2, 64),
        (1, 1, 1, 32),
        (1, 16, 16, 512),
    ],
)
def test_vectors_and_other_types_touch_their_bytes(size: int, width: int, sectors: int, used: int) -> None:
    assert touched(one(index(L0) * (width // size), width=width), size) == Footprint(sectors, used)


def test_loaded_numbers_are_not_known() -> None:
    data = Data(Load(Buffer("n", "global", I32, 9), index(L0)), 0, 8, frozenset({L0}))
    assert touched(one(index(data))) is None
    assert touched([*one(index(L0)), *one(index(data) * 2 + L0)]) is None


def test_more_than_was_asked_for_is_not_looked_at() -> None:
    walk = one(index(L0) * 8 + I, I)
    assert touched(walk, most=256) is not None and touched(walk, most=255) is None
    assert touched([*one(index(L0)), *walk], most=255) is None
    assert touched(one(index(L0) * 4, width=16), most=31) is None
    assert touched(one(index(L0), width=16), most=127) is None  # of those that overlap, words are looked at


@pytest.mark.parametrize(
    ("at", "steps", "sectors"),
    [
        (index(L0) * 8 + I, (I,), 32),  # each lane walks through a sector of its own
        (index(L0) * 8 + index(I) * 4, (I,), 35),  # ... half of whose steps are in the neighbour's
        (index(L0) * 4 + index(I) % 2 * 2 + index(I) // 2 * 128, (I,), 64),  # chunks of four in two steps each
        (index(L0) + index(J) * 32, (I, J), 16),
        (index(L0), (), 4),
    ],
)
def test_what_the_steps_of_a_loop_touch_again_counts_once(at: Index, steps: tuple[Var, ...], sectors: int) -> None:
    assert window(at, 4, 4, ids((32,), 32), [(v, v.count) for v in steps]) == sectors


def test_steps_that_depend_on_loaded_numbers_share_nothing() -> None:
    data = Data(Load(Buffer("n", "global", I32, 9), index(L0)), 0, 8, frozenset({L0}))
    assert window(index(data), 4, 4, ids((32,), 32), []) == float("inf")


@given(st.lists(st.integers(-50, 50) | st.integers(-(10**12), 10**12), max_size=40))
def test_different_places_are_those_of_numpy(places: list[int]) -> None:
    given_places = np.array(places, np.int64)
    np.testing.assert_array_equal(distinct(given_places), np.unique(given_places))


def loaded(at: Index) -> Index:
    """An index that memory has at `at`."""
    which = Load(Buffer("which", "global", I32, 1 << 20), at)
    return index(Data(which, 0, 1 << 20, at.variables()))


@pytest.mark.parametrize(
    ("at", "part"),
    [
        (loaded(index(L0)), 1),
        (loaded(index(L0)) * 16 + index(K), 1),
        (loaded(index(L0) // 8) * 128 + index(L0) % 8, 4 / 32),
        (loaded(index(W0)) * 128 + index(L0), 0),
        (loaded(index(L0)).clamp(99), 4 / 32),  # no more lines than a table has
        (loaded(loaded(index(L0))), 1),
    ],
)
def test_lanes_ask_for_a_line_each_where_loaded_numbers_differ(at: Index, part: float) -> None:
    asked = max(1, 32 * part)
    assert lines(at, 4, 4, 1 << 22, ids((32,), 32)) == asked
    assert lines(at, 4, 4, 256, ids((32,), 32)) == min(asked, 2)


def test_lanes_touch_no_more_sectors_than_loaded_numbers_reach() -> None:
    which = loaded(index(L0))
    assert [sectors(at, 4, 4, ids((32,), 32)) for at in (which, which.clamp(64), which.clamp(4))] == [32, 8, 1]
    assert sectors(index(L0) * 512 + which.clamp(4), 4, 4, ids((32,), 32)) == 32
    assert sectors(index(W0) * 64 + which.clamp(64), 4, 4, ids((32,), 32)) == 8


@pytest.mark.parametrize(
    ("at", "width", "asked"),
    [
        (index(L0), 4, 1),
        (index(W0), 4, 1),  # all lanes the same
        (index(L0) * 2, 4, 2),
        (index(L0) * 8, 4, 8),
        (index(L0) * 32, 4, 32),
        (index(L0) * 4, 16, 4),  # vectors of four
        (index(L0) * 64, 16, 32),
        (index(L0) + 24, 16, 2),
    ],
)
def test_a_load_asks_for_the_lines_that_its_lanes_touch(at: Index, width: int, asked: int) -> None:
    assert lines(at, 4, width, 1 << 22, ids((32,), 32)) == asked


@pytest.mark.parametrize(
    ("at", "further"),
    [(index(W0), 0), (index(L0) * 4, 31), (index(L0) // 4, 7), (index(I), 0), (loaded(index(L0)), 31)],
)
def test_addresses_of_constants_are_served_one_by_one(at: Index, further: int) -> None:
    assert diverged(at, ids((32,), 32)) == further
