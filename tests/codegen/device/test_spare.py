"""Buffers that nobody uses any more are used again."""

from __future__ import annotations

from typing import Any

import pytest

from egglift.codegen.device.device import Device, open_device
from egglift.codegen.device.rows import part_of
from egglift.codegen.device.spare import spare
from egglift.ir.errors import OutOfMemory

SIZE = 1 << 17


def test_a_buffer_is_used_again_when_nobody_has_it() -> None:
    device = open_device("pocl").sibling()
    first = spare(device, SIZE)
    place, second = first.int_ptr, spare(device, SIZE)
    assert second.int_ptr != place
    del first
    assert spare(device, SIZE // 2).int_ptr != place
    assert spare(device, SIZE).int_ptr == place


def test_a_part_of_a_buffer_keeps_it() -> None:
    device = open_device("pocl").sibling()
    whole = spare(device, SIZE)
    place, part = whole.int_ptr, part_of(device, whole, 0, SIZE // 2)
    del whole
    assert spare(device, SIZE).int_ptr != place
    del part
    assert spare(device, SIZE).int_ptr == place


def test_where_a_device_is_full_spare_buffers_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    device, made = open_device("pocl").sibling(), []
    spare(device, SIZE)
    allocate = Device.allocate

    def full(self: Device, size: int) -> Any:
        made.append(size)
        if len(made) == 1:
            raise OutOfMemory("full")
        assert not self.spare._free
        return allocate(self, size)

    monkeypatch.setattr(Device, "allocate", full)
    assert spare(device, 2 * SIZE).size == 2 * SIZE and made == [2 * SIZE] * 2
