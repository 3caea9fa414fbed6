"""How fast arrays get to a device and back."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from egglift.codegen.device.device import Device, NdArray, opencl


def transfer_rates(device: Device, size: int = 1 << 26, tries: int = 5) -> dict[str, float]:
    """Bytes per second of copies of `size` bytes, the best of `tries` by the host's clock.

    "to_device" and "from_device" for an ordinary array; the same with "_pinned" for memory that the driver has
    allocated itself, where it does.
    """
    cl = opencl()
    there = device.allocate(size)
    rates = _both(device, there, np.ones(size, np.uint8), tries, "")
    try:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        pinned = cl.Buffer(device.context, flags, size)
        access = cl.map_flags.READ | cl.map_flags.WRITE
        host, _ = cl.enqueue_map_buffer(device.queue, pinned, access, 0, (size,), np.uint8)
    except cl.Error:  # the driver pins no memory, or not as much
        return rates
    host[:] = 1
    rates |= _both(device, there, host, tries, "_pinned")
    host.base.release(device.queue)
    device.queue.finish()
    return rates


def _both(device: Device, there: object, host: NdArray, tries: int, name: str) -> dict[str, float]:
    """Both directions between a buffer and `host`."""
    copy = opencl().enqueue_copy
    there_in = _fastest(lambda: copy(device.queue, there, host, is_blocking=True), tries)
    back = _fastest(lambda: copy(device.queue, host, there, is_blocking=True), tries)
    return {f"to_device{name}": host.nbytes / there_in, f"from_device{name}": host.nbytes / back}


def _fastest(copy: Callable[[], object], tries: int) -> float:
    """Seconds of the fastest of `tries` copies."""
    seconds = []
    for _ in range(tries + 1):  # the first one may still allocate
        start = time.perf_counter()
        copy()
        seconds.append(time.perf_counter() - start)
    return max(min(seconds[1:]), 1e-9)
