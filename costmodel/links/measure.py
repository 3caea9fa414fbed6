"""Measuring the links of a set of devices: `egglift calibrate --devices`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from egglift.codegen.device.device import Device, opencl, reported
from egglift.codegen.device.rows import read_bytes, write_bytes
from egglift.costmodel.links.links import Links
from egglift.ir.plain_numbers import plain

#: bytes of a long copy, and of the shortest; how often each is made, of which the best counts
LONG, SHORT, TIMES = 1 << 26, 4, 5
#: a kernel that computes and reads nothing, for about so many seconds
BUSY = 0.05
_SOURCE = """
kernel void busy(global float *out, int n) {
  float a = get_global_id(0), b = 0.5f;
  for (int i = 0; i < n; ++i) { a = a * b + 1.0f; b = b * 0.999f + 0.001f; }
  out[get_global_id(0)] = a + b;
}
"""


def measure_links(devices: Sequence[Device], report: Callable[[str], None] = lambda line: None) -> Links:
    """The links of a set of devices, in a second or two.  report: called with a line for each device."""
    to, fro, latencies = {}, {}, []
    copies = [_Copies(device) for device in devices]
    for place, (device, copy) in enumerate(zip(devices, copies, strict=True)):
        to[device.name], fro[device.name] = LONG / _best(copy.there), LONG / _best(copy.back)
        latencies.append(_best(copy.short))
        there, back = to[device.name] / 1e9, fro[device.name] / 1e9
        report(f"device {place}, {device.name}: {plain(there)} GB/s there, {plain(back)} GB/s back")
    together, beside = _together([_busy(device) for device in devices]), _together([c.there for c in copies])
    report(f"all at once: each computes at {together:.0%} of its speed, and is copied to at {beside:.0%}")
    return Links(to, fro, max(latencies), _start(devices), together, beside)


class _Copies:
    """Copies between the host's ordinary memory and a device, the way that arrays go; each is waited for."""

    def __init__(self, device: Device) -> None:
        self.device, self.host, self.buffer = device, np.ones(LONG, np.uint8), device.allocate(LONG)

    def there(self) -> None:
        """A long copy to the device."""
        write_bytes(self.device, self.buffer, 0, self.host)
        self.device.finish(self.device.queue)

    def back(self) -> None:
        """A long copy from the device."""
        read_bytes(self.device, self.buffer, 0, self.host)

    def short(self) -> None:
        """The shortest copy to the device."""
        write_bytes(self.device, self.buffer, 0, self.host[:SHORT])
        self.device.finish(self.device.queue)


def _together(works: Sequence[Callable[[], Any]]) -> float:
    """The part of its speed that the slowest work, each of which is a device's, keeps while all others are done too."""
    if len(works) < 2:
        return 1.0
    alone = [_best(work) for work in works]
    with ThreadPoolExecutor(len(works)) as pool:
        shared = [
            _best_of(seconds) for seconds in zip(*(_side_by_side(pool, works) for _ in range(TIMES)), strict=True)
        ]
    return min(1.0, *(a / s for a, s in zip(alone, shared, strict=True)))


def _side_by_side(pool: ThreadPoolExecutor, works: Sequence[Callable[[], Any]]) -> list[float]:
    return [t.result() for t in [pool.submit(_seconds, work) for work in works]]


def _busy(device: Device) -> Callable[[], Any]:
    """A computation on all of a device for about BUSY seconds; it is waited for."""
    cl = opencl()
    kernel = cl.Kernel(device.compile(_SOURCE), "busy")
    items = 64 * 256 * device.compute_units if device.kind == "gpu" else 16 * device.compute_units
    buffer = device.allocate(4 * items)

    def run(steps: int) -> None:
        with reported(f"{device.name} does not compute"):
            kernel.set_args(buffer, np.int32(steps))
            cl.enqueue_nd_range_kernel(device.queue, kernel, (items,), None).wait()

    steps = 1 << 10
    run(steps)
    while (seconds := _seconds(partial(run, steps))) < BUSY / 4 and steps < 1 << 26:
        steps *= 2
    steps = max(1, int(steps * BUSY / max(seconds, 1e-9)))
    return partial(run, steps)


def _start(devices: Sequence[Device]) -> float:
    """Seconds until one more device has begun: a thread is woken, and a command is enqueued."""
    with ThreadPoolExecutor(len(devices)) as pool:
        works = [lambda d=d: opencl().enqueue_marker(d.queue).wait() for d in devices]
        _side_by_side(pool, works)
        return _best(lambda: _side_by_side(pool, works)) / len(devices)


def _best(work: Callable[[], Any]) -> float:
    work()
    return _best_of([_seconds(work) for _ in range(TIMES)])


def _best_of(seconds: Sequence[float]) -> float:
    return max(min(seconds), 1e-9)


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
