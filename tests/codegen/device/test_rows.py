"""Rows of buffers go to a device with memory of its own, and come back, through pinned memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from egglift.codegen.device import rows, staging
from egglift.codegen.device.device import Device, open_device
from egglift.codegen.device.staging import Staging
from egglift.ir.types import BOOL, F32

CHUNK = 1 << 12
BEFORE, AFTER = 12, 20


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> Device:
    """A device that seems to have memory of its own."""
    monkeypatch.setattr(staging, "CHUNK", CHUNK)
    monkeypatch.setattr(rows, "LARGE", CHUNK // 4)
    monkeypatch.setattr(rows, "is_shared", lambda _: False)
    return open_device("pocl").sibling()


@pytest.mark.parametrize("size", [4, CHUNK // 4, 3 * CHUNK + 4])
def test_rows_are_written_and_read_within_a_buffer(apart: Device, size: int) -> None:
    values = np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
    buffer = rows.upload(apart, np.zeros(BEFORE + size + AFTER, np.uint8))
    rows.write_bytes(apart, buffer, BEFORE, values)
    into = np.empty(size, np.uint8)
    rows.read_bytes(apart, buffer, BEFORE, into)
    np.testing.assert_array_equal(into, values)
    found = rows.read_elements(apart, buffer, F32, BEFORE // 4, size // 4)
    np.testing.assert_array_equal(found.view(np.uint8), values)
    whole = np.empty(BEFORE + size + AFTER, np.uint8)
    rows.read_bytes(apart, buffer, 0, whole)
    assert not whole[:BEFORE].any() and not whole[-AFTER:].any()


def test_what_is_large_goes_through_pinned_memory(apart: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    write = Staging.write

    def counted(self: Staging, chain: Any, buffer: Any, array: Any, at: int = 0) -> None:
        used.append(array.nbytes)
        write(self, chain, buffer, array, at)

    monkeypatch.setattr(Staging, "write", counted)
    for size in (CHUNK // 4 - 1, CHUNK):
        rows.upload(apart, np.zeros(size, np.uint8))
    assert used[-1] == CHUNK and CHUNK // 4 - 1 not in used


def test_pinned_rows_may_be_changed_once_they_are_written(apart: Device) -> None:
    pinned = staging.staging_of(apart).pool.array(CHUNK)
    pinned[:] = 7
    buffer = rows.upload(apart, pinned)
    pinned[:] = 0
    assert (rows.read_elements(apart, buffer, F32, 0, CHUNK // 4).view(np.uint8) == 7).all()


def test_bools_are_looked_at_on_their_way(apart: Device) -> None:
    buffer = rows.upload(apart, np.ones(CHUNK, np.bool_))
    found = rows.read_elements(apart, buffer, BOOL, 0, CHUNK)
    assert found.dtype == np.bool_ and found.all()
