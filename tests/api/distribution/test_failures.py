"""A device that fails is named; the others do their part, and nothing waits for ever."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import LOST, Device, opencl
from egglift.distribution.opening import open_devices
from egglift.ir.errors import DeviceError, DeviceLost, OutOfMemory
from egglift.ir.signature import inputs_of
from egglift.ir.types import leaves
from egglift.kernel import Kernel
from tests import several
from tests.api.distribution.programs import PROGRAMS, agree

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


def in_use(devices: Sequence[Device]) -> list[int]:
    """How many buffers of results each device has that somebody uses."""
    gc.collect()
    return [len(d.spare._used) for d in devices]


def kept_after_a_failure(name: str) -> tuple[str, bool, bool]:
    """What is said, and whether each device has as many buffers as before; and whether all work again."""
    program = el.as_program(PROGRAMS[name](60))
    kernel, x = several.kernel(program), np.random.default_rng(0).random(inputs_of_x(program)).astype(np.float32)
    given = el.Vector(x) if x.ndim == 1 else el.Matrix(x)
    kernel(given)
    before, bad = in_use(kernel.devices), kernel.devices[1]
    enqueue, cl = opencl().enqueue_nd_range_kernel, opencl()

    def failing(queue: Any, *args: Any, **named: Any) -> Any:
        if queue.device == bad.device:
            raise several.refusal(LOST[-1])
        return enqueue(queue, *args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cl, "enqueue_nd_range_kernel", failing)
        with pytest.raises(DeviceLost) as caught:
            kernel(given)
    said = str(caught.value)
    del caught
    same = in_use(kernel.devices) == before
    return said, same, agree(kernel(given), el.interpret(program, x=x))


def inputs_of_x(program: Any) -> tuple[int, ...]:
    ((shape, _),) = leaves(inputs_of(program)["x"])
    return tuple(int(n) for n in shape)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["softmax", "scan", "centred", "jacobi"])
def test_what_the_others_have_is_released(three: Three, name: str) -> None:
    said, same, right = three(kept_after_a_failure, name)
    assert said.startswith("device 1: ") and "the device was lost" in said
    assert same and right


def without_room() -> str:
    n = 30_000  # more than any buffer that is spare
    kernel, x = several.kernel(PROGRAMS["dot"](n)), el.Vector(np.ones(n, np.float32))

    def allocate(self: Device, size: int) -> Any:
        raise OutOfMemory(f"{self.name} cannot hold a buffer of {size} bytes")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Device, "allocate", allocate)
        with pytest.raises(OutOfMemory) as caught:
            kernel(x, x)
    return str(caught.value)


def test_a_device_without_room_says_for_how_much(three: Three) -> None:
    assert "device 0: " in three(without_room) and "40000 bytes" in three(without_room)


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
