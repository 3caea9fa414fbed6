"""Buffers of results that nobody uses any more, for the results of later calls.

A GPU's driver takes milliseconds to make a large buffer, and waits for all that a device does before it frees one.
"""

from __future__ import annotations

import threading

from egglift.codegen.device.device import Device, Operand, opencl
from egglift.codegen.device.pool import Block, Lease, Pool
from egglift.ir.errors import OutOfMemory

#: the part of a device's memory that is kept at most while nobody uses it
KEPT = 1 / 8
_lock = threading.Lock()


def spare(device: Device, size: int) -> Operand:
    """A buffer with anything in it, which is used again when nobody has it any more.

    What is done with it must be done on the device's queue, which is in order, or be waited for.  OutOfMemory.
    """
    pool = _pool_of(device)
    try:
        block = pool.taken(size)
    except OutOfMemory:
        pool.clear()
        block = pool.taken(size)
    buffer = opencl().Buffer.from_int_ptr(block.memory.int_ptr, retain=True)
    buffer.lease = Lease(pool, block)
    return buffer


def _pool_of(device: Device) -> Pool:
    with _lock:
        if device.spare is None:
            device.spare = Pool(lambda size: _block(device, size), int(device.info.memory * KEPT))
        found: Pool = device.spare
        return found


def _block(device: Device, size: int) -> Block:
    buffer = device.allocate(size)
    return Block(buffer.int_ptr, size, buffer)
