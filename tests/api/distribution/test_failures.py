"""A device that fails is named; the others do their part, and nothing waits for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import Device
from egglift.distribution.opening import open_devices
from egglift.ir.errors import DeviceError, DeviceLost, OutOfMemory
from egglift.kernel import Kernel
from tests import several
from tests.api.distribution.programs import PROGRAMS

Three = Callable[..., Any]


def failing(error: type[DeviceError]) -> tuple[str, list[str], float]:
    """What is said, which devices have computed, and the result once all work again."""
    kernel, x = several.kernel(PROGRAMS["total"](30)), np.ones(30, np.float32)
    bad, called, whole = kernel.devices[1], [], Kernel.__call__

    def call(self: Kernel, *args: Any, **named: Any) -> Any:
        if self.device is bad:
            raise error(f"{bad.name} has no more")
        called.append(str(kernel.devices.index(self.device)))
        return whole(self, *args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", call)
        with pytest.raises(error) as caught:
            kernel(x)
    return str(caught.value), sorted(called), float(kernel(x))


@pytest.mark.parametrize("error", [OutOfMemory, DeviceLost, DeviceError])
def test_an_error_names_the_device_and_the_others_go_on(three: Three, error: type[DeviceError]) -> None:
    said, called, after = three(failing, error)
    assert said.startswith("device 1: ") and said.endswith("has no more")
    assert called == ["0", "2"] and after == 30


def without_room() -> str:
    kernel, x = several.kernel(PROGRAMS["dot"](30)), el.Vector(np.ones(30, np.float32))

    def allocate(self: Device, size: int) -> Any:
        raise OutOfMemory(f"{self.name} cannot hold a buffer of {size} bytes")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Device, "allocate", allocate)
        with pytest.raises(OutOfMemory) as caught:
            kernel(x, x)
    return str(caught.value)


def test_a_device_without_room_says_for_how_much(three: Three) -> None:
    assert "device 0: " in three(without_room) and "40 bytes" in three(without_room)


def named(spec: Any) -> Any:
    try:
        opened = open_devices(spec)
    except DeviceError as error:
        return str(error)
    return [d.device.int_ptr for d in opened]


def test_a_name_means_the_next_device_of_that_name(three: Three) -> None:
    every = three(named, "all")
    assert len(set(every)) == 3
    assert three(named, ["pthread", "pthread"]) == every[:2]
    assert three(named, [2, "cpu"]) == [every[2], every[0]]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ([], "is not empty"),
        ("pocl", "devices is \"all\" or a list of devices, not 'pocl'"),
        (["pthread"] * 4, "named twice"),
        (["no such"], "no OpenCL device 'no such'"),
        ([0, 0], "named twice"),
        (3, "is not empty, not 3"),
    ],
    ids=str,
)
def test_devices_that_are_not_there_are_refused(three: Three, spec: Any, said: str) -> None:
    assert said in three(named, spec)
