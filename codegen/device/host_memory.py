"""Memory of the host that kernels of a device read and write where it is: no array is copied to or from the device."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from egglift.codegen.device.device import Device, NdArray, Operand, opencl, reported

#: bytes; what kernels are given begins at a multiple of it, as OpenCL's largest vectors do
ALIGNMENT = 128
#: smaller blocks are not worth keeping; of larger ones at most so many bytes are kept while nobody uses them
SMALL, KEPT = 1 << 16, 1 << 28


class Pool:
    """Aligned blocks of bytes that are used again: the first use of a page costs more than what is done with it."""

    def __init__(self, most: int = KEPT) -> None:
        self._free: dict[int, list[NdArray]] = {}
        self._bytes, self._most = 0, most
        self._lock = threading.RLock()  # an array may be given up in the middle of anything

    def take(self, size: int) -> NdArray:
        """A block of `size` bytes with anything in it."""
        with self._lock:
            waiting = self._free.get(size)
            if waiting:
                self._bytes -= size
                return waiting.pop()
        raw = np.empty(size + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        return raw[start : start + size]

    def give(self, block: NdArray) -> None:
        """Takes a block back, unless it is small; others are let go where too many bytes wait."""
        if block.nbytes < SMALL or block.nbytes > self._most:
            return
        with self._lock:
            if self._bytes + block.nbytes > self._most:
                self._free.clear()
                self._bytes = 0
            self._free.setdefault(block.nbytes, []).append(block)
            self._bytes += block.nbytes


class Lease:
    """A block in use: arrays that are made of it keep it, and the last one gives it back to its pool."""

    def __init__(self, pool: Pool, block: NdArray) -> None:
        self._pool, self._block = pool, block
        self.__array_interface__ = block.__array_interface__

    def __del__(self) -> None:
        self._pool.give(self._block)


#: results of all kernels
results = Pool()


def fresh(size: int) -> NdArray:
    """Aligned bytes for a result."""
    block = results.take(size)
    return block if size < SMALL else np.asarray(Lease(results, block))


def is_shared(device: Device) -> bool:
    """Do kernels of `device` work on the host's memory itself?"""
    return bool(device.kind == "cpu")


def wrapped(device: Device, array: NdArray, *, written: bool = False) -> Operand:
    """A buffer that is the memory of `array`, which must be aligned and not empty, and outlive what is done with it."""
    flags = opencl().mem_flags
    use = flags.USE_HOST_PTR | (flags.READ_WRITE if written else flags.READ_ONLY)
    with reported(f"{device.name} cannot use {array.nbytes} bytes of the host"):
        return opencl().Buffer(device.context, use, hostbuf=array.reshape(-1).view(np.uint8))


def readable(device: Device, arrays: list[NdArray]) -> list[Operand]:
    """Buffers with the elements of `arrays`: their memory where it is aligned and no other's, else a copy."""
    taken: list[NdArray] = []
    found: list[Any] = []
    for array in arrays:
        if array.nbytes == 0:
            found.append(device.allocate(0))
            continue
        if not _is_aligned(array) or any(np.may_share_memory(array, t) for t in taken):
            copy = fresh(array.nbytes)
            np.copyto(copy.view(array.dtype).reshape(array.shape), array)
            array = copy
        taken.append(array)
        found.append(wrapped(device, array))
    return found


def writable(out: NdArray, inputs: list[NdArray]) -> NdArray:
    """The bytes that kernels write for the result that becomes `out`: its own if it is aligned and no input, else new.

    Kernels promise their compiler (`restrict`) that what they write is not what they read.
    """
    if out.nbytes and _is_aligned(out) and not any(np.may_share_memory(out, a) for a in inputs):
        return out.reshape(-1).view(np.uint8)
    return fresh(out.nbytes)


def _is_aligned(array: NdArray) -> bool:
    return array.flags.c_contiguous and array.__array_interface__["data"][0] % ALIGNMENT == 0


def seen(queue: Any, buffer: Operand, size: int, wait_for: Any) -> None:
    """Waits until the host sees what kernels wrote to the memory of `buffer`, after `wait_for` (events or None)."""
    cl = opencl()
    what, _ = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, (size,), np.uint8, wait_for=wait_for)
    what.base.release(queue)
