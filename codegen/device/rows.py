"""Rows of arrays in buffers, moved between the host and a device, and within a device.

A buffer belongs to one device: what another device needs of it goes through the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, NdArray, Operand, opencl, reported
from egglift.ir.types import Scalar


def copy_bytes(device: Device, to: Operand, at: int, source: Operand, start: int, size: int) -> None:
    """`size` bytes of a buffer from byte `start` on into another of the same device, from byte `at` on.

    It is not waited for: the device's queue keeps the order.
    """
    if size:
        with reported(f"{device.name} cannot copy {size} bytes"):
            part = {"byte_count": size, "src_offset": start, "dst_offset": at}
            opencl().enqueue_copy(device.queue, to, source, **part)


def write_bytes(device: Device, to: Operand, at: int, array: NdArray) -> None:
    """The elements of an array into a buffer, from byte `at` on."""
    if array.nbytes:
        with reported(f"{device.name} cannot be given {array.nbytes} bytes"):
            raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            opencl().enqueue_copy(device.queue, to, raw, dst_offset=at)


def read_elements(device: Device, source: Operand, scalar: Scalar, start: int, count: int) -> NdArray:
    """`count` elements of a buffer from the `start`th on, as a flat array; what was enqueued before is done by then."""
    return device.download(Chain(device.queue), source, scalar, count, start)


@contextmanager
def of_device(place: int, device: Device) -> Iterator[None]:
    """What goes wrong inside names the device: several may have one name."""
    from egglift.ir.errors import BuildError, DeviceError, DeviceLost, OutOfMemory

    try:
        yield
    except BuildError as error:
        raise BuildError(f"device {place}: {error}", error.source, error.log) from error
    except (OutOfMemory, DeviceLost) as error:
        raise type(error)(f"device {place}: {error}") from error
    except DeviceError as error:
        raise DeviceError(f"device {place}: {error}") from error


def buffer_of(value: Any) -> Operand:
    """The buffer of a result on a device: an array's, which begins where its memory does."""
    return getattr(value, "base_data", value)
