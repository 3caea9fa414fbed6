"""Stores of a GPU that are apart, and leaps of a CPU from page to page: closed forms beside the exact model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egglift.codegen.kernel.imperative import Buffer
from egglift.codegen.kernel.index import Var, index
from egglift.costmodel.closed.traffic import _stored, leaps
from egglift.costmodel.closed.work import Access, Axis, Work, number
from egglift.costmodel.model.coalescing import ids
from egglift.costmodel.model.counted_accesses import CountedAccess, leap
from egglift.costmodel.model.memory_traffic import _stored as stored_exactly
from egglift.costmodel.profiles.profile import presets
from egglift.ir.types import F32


@given(st.integers(1, 4), st.integers(0, 2048), st.integers(1, 4), st.integers(0, 512), st.sampled_from([0, 1, 64]))
def test_leaps_are_those_of_the_exact_model(trips: int, far: int, own: int, near: int, apart: int) -> None:
    """A rolled loop, one that is unrolled, and 16 lanes: neighbours, apart, or all at one place."""
    i, j, lane = Var("i", trips, "loop"), Var("j", own, "loop"), Var("l", 16, "lane")
    width = 64 if apart == 1 else 4
    at = index(i) * far + index(j) * near + index(lane) * apart
    exact = CountedAccess(Buffer("A", "global", F32, 1 << 20), at, width, 1.0, False, ((i, trips), (j, own)), lane)
    exact = CountedAccess(**{**vars(exact), "unrolled": (j,)})
    axes = [Axis("loop", number(trips), number(far)), Axis("unrolled", number(own), number(near))]
    axes.append(Axis("lane", number(16), number(apart)))
    one = (number(1), number(1), number(1))
    work = Work(one, one)
    work.accesses.append(Access("global", "A", 1 << 20, 4, number(width), number(1), False, tuple(axes)))
    found = float(np.asarray(leaps(work)))
    assert found == pytest.approx(leap(exact)) or 0 < near * 4 < width  # what overlaps is one longer vector


@given(st.integers(1, 12), st.integers(1, 8), st.sampled_from([1, 2, 4]), st.sampled_from([32, 64, 256]))
def test_stores_are_those_of_the_exact_model(numbers: int, own: int, vector: int, group: int) -> None:
    """Arrays of so many numbers, of which each work-item has some; or whole vectors."""
    places, apart = (1, vector) if numbers == 1 else (numbers, numbers * own)
    width = 4 * (vector if numbers == 1 else numbers)
    at = index(Var("l", group, "local", 0)) * apart
    exact = CountedAccess(Buffer("A", "global", F32, 1 << 20), at, width, float(group), True, (), None, places=places)
    item = Axis("item", number(group), number(apart))
    work = Work((number(group), number(1), number(1)), (number(1), number(1), number(1)))
    closed = Access(*("global", "A", 1 << 20, 4, number(width), number(1), True, (item,)), places=places)
    found = float(np.asarray(_stored(work, closed, presets()["nvidia_h200"])))
    assert found == pytest.approx(stored_exactly(exact, ids((group,), 32)), rel=0.02)
