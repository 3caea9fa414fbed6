"""Rows of arrays in buffers, moved between the host and a device, and within a device.

A buffer belongs to one device: what another device needs of it goes through the host.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, NdArray, Operand, opencl, reported
from egglift.codegen.device.host_memory import HostMemory, is_shared
from egglift.codegen.device.staging import LARGE, staging_of
from egglift.ir.types import BOOL, Scalar


def copy_bytes(device: Device, to: Operand, at: int, source: Operand, start: int, size: int) -> None:
    """`size` bytes of a buffer from byte `start` on into another of the same device, from byte `at` on.

    It is not waited for: the device's queue keeps the order.
    """
    if size:
        with reported(f"{device.name} cannot copy {size} bytes"):
            part = {"byte_count": size, "src_offset": start, "dst_offset": at}
            opencl().enqueue_copy(device.queue, to, source, **part)


def upload(device: Device, array: NdArray) -> Operand:
    """A new buffer with the elements of an array, which may be changed afterwards."""
    if not _goes_through_pinned(device, array.nbytes):
        return device.upload(array)
    buffer = device.allocate(array.nbytes)
    write_bytes(device, buffer, 0, array)
    return buffer


def write_bytes(device: Device, to: Operand, at: int, array: NdArray) -> None:
    """The elements of an array, which may be changed afterwards, into a buffer, from byte `at` on."""
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if _goes_through_pinned(device, raw.nbytes):
        chain, staging = Chain(device.queue), staging_of(device)
        staging.write(chain, to, raw, at)
        if staging.pool.holds(raw):
            device.finish(chain)
    elif raw.nbytes:
        with reported(f"{device.name} cannot be given {raw.nbytes} bytes"):
            opencl().enqueue_copy(device.queue, to, raw, dst_offset=at)


def read_bytes(device: Device, source: Operand, at: int, into: NdArray) -> None:
    """Bytes of a buffer from the `at`th on into an array, in C order, until it is full; what was enqueued before is
    done by then."""
    raw = into.reshape(-1).view(np.uint8)
    if _goes_through_pinned(device, raw.nbytes):
        staging_of(device).download(Chain(device.queue), source, raw, at)
    elif raw.nbytes:
        with reported(f"{device.name} cannot give back {raw.nbytes} bytes"):
            opencl().enqueue_copy(device.queue, raw, source, src_offset=at)


def _goes_through_pinned(device: Device, size: int) -> bool:
    """Is it worth it?  A processor's memory is the host's."""
    return size >= LARGE and not is_shared(device)


def read_elements(device: Device, source: Operand, scalar: Scalar, start: int, count: int) -> NdArray:
    """`count` elements of a buffer from the `start`th on, as a flat array; what was enqueued before is done by then."""
    if scalar == BOOL or not _goes_through_pinned(device, count * scalar.size):
        return device.download(Chain(device.queue), source, scalar, count, start)
    found = HostMemory(device).result(count * scalar.size).view(scalar.dtype)
    read_bytes(device, source, start * scalar.size, found)
    return found


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


def begins_at(device: Device, start: int) -> bool:
    """May a part of a buffer begin at this byte?"""
    return bool(start % max(1, device.device.mem_base_addr_align // 8) == 0)


def part_of(device: Device, buffer: Operand, start: int, size: int) -> Operand:
    """`size` bytes of a buffer from byte `start` on, where a part may begin: a buffer that shares its memory."""
    if start == 0 and size == buffer.size:
        return buffer
    with reported(f"{device.name} cannot take {size} bytes from byte {start} on as a buffer"):
        part = buffer.get_sub_region(start, max(1, size))
    part.whole = buffer  # which may be a spare one, and is in use as long as its part is
    return part


def array_over(device: Device, buffer: Operand, shape: tuple[int, ...], scalar: Scalar) -> Any:
    """The pyopencl Array on the device's queue whose elements a buffer holds."""
    arrays = importlib.import_module("pyopencl.array")
    return arrays.Array(device.queue, shape, np.dtype(scalar.dtype), data=buffer)


def buffer_of(value: Any) -> Operand:
    """The buffer of a result on a device: an array's, which begins where its memory does."""
    return getattr(value, "base_data", value)
