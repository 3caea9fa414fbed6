"""Rows that devices exchange between the steps of an iteration, through pinned memory of the host.

A buffer belongs to one device, so what another needs of it takes two copies: to the host, and on.  Each device has a
queue for them, beside that of its kernels; long rows go in chunks, the second copy of one beside the first of the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from egglift.codegen.device.device import Device, NdArray, Operand, opencl, reported
from egglift.codegen.device.host_memory import is_shared
from egglift.codegen.device.rows import of_device
from egglift.codegen.device.staging import staging_of

#: bytes of a chunk
CHUNK = 1 << 20
#: by place and leaf, a buffer, and the byte where a device's own rows begin in it
Own: TypeAlias = Mapping[int, Sequence[tuple[Operand, int]]]


@dataclass(frozen=True)
class Border:
    """`size` bytes that the device at place `source` has from byte `start` of its own rows on, and the device at place
    `target` reads from byte `at` of its window on.  leaf: of which array, where the state is several."""

    source: int
    start: int
    target: int
    at: int
    size: int
    leaf: int = 0

    def chunks(self) -> Iterator[Border]:
        """Itself in parts that are not too long."""
        for done in range(0, self.size, CHUNK):
            size = min(CHUNK, self.size - done)
            yield replace(self, start=self.start + done, at=self.at + done, size=size)


class Exchange:
    """The borders of some devices, exchanged again and again: `send`, then `receive`.

    Its pinned memory is in use until `finish`.  One thread may use it.
    """

    def __init__(self, devices: Sequence[Device], borders: Iterable[Border]) -> None:
        self.devices = devices
        self.borders = tuple(c for b in borders for c in b.chunks())
        self._queues = [opencl().CommandQueue(d.context, d.device) for d in devices]
        self._slots = [[self._slot(b) for b in self.borders] for _ in range(2)]
        self._sent: list[Any] = []
        self._arrived: list[list[tuple[int, Any]]] = [[], []]
        self._turn = 0

    def _slot(self, b: Border) -> NdArray | None:
        if b.source == b.target:
            return None
        device = self.devices[b.source]
        return np.empty(b.size, np.uint8) if is_shared(device) else staging_of(device).pool.array(b.size)

    def send(self, own: Own, after: Mapping[int, Any]) -> None:
        """Has what others need brought to the host.  after: by place, the events of own rows being computed."""
        self._turn ^= 1
        for place, event in self._arrived[self._turn]:  # of the time before last: then its slots are free
            with self._on(place):
                event.wait()
        self._sent, self._arrived[self._turn] = [], []
        for b, slot in zip(self.borders, self._slots[self._turn], strict=True):
            if slot is None:
                self._sent.append(after[b.source])
                continue
            buffer, begin = own[b.source][b.leaf]
            how = {"src_offset": begin + b.start, "is_blocking": False, "wait_for": [after[b.source]]}
            with self._on(b.source, b.size):
                self._sent.append(opencl().enqueue_copy(self._queues[b.source], slot, buffer, **how))
        self._flush()

    def receive(self, own: Own, windows: Mapping[int, Sequence[Operand]]) -> dict[int, list[Any]]:
        """Has what was sent brought to the windows of others: by place, the events of what a device gets."""
        cl, arrived = opencl(), {place: list[Any]() for place in range(len(self.devices))}
        for b, slot, sent in zip(self.borders, self._slots[self._turn], self._sent, strict=True):
            queue, window = self._queues[b.target], windows[b.target][b.leaf]
            if slot is None:
                buffer, begin = own[b.source][b.leaf]
                part = {"src_offset": begin + b.start, "dst_offset": b.at, "byte_count": b.size, "wait_for": [sent]}
                with self._on(b.target, b.size):
                    event = cl.enqueue_copy(queue, window, buffer, **part)
            else:
                with self._on(b.source, b.size):
                    sent.wait()
                with self._on(b.target, b.size):
                    event = cl.enqueue_copy(queue, window, slot, is_blocking=False, dst_offset=b.at)
                    queue.flush()
            self._arrived[self._turn].append((b.target, event))
            arrived[b.target].append(event)
        self._flush()
        return arrived

    def finish(self) -> None:
        """Waits until no copy uses its memory any more, be they done or given up."""
        for event in [*self._sent, *(event for arrived in self._arrived for _, event in arrived)]:
            with suppress(opencl().Error):
                event.wait()

    def _flush(self) -> None:
        for place, queue in enumerate(self._queues):
            with self._on(place):
                queue.flush()

    @contextmanager
    def _on(self, place: int, size: int = 0) -> Iterator[None]:
        """What goes wrong inside names the device."""
        device = self.devices[place]
        with of_device(place, device), reported(f"{device.name} cannot exchange {size} bytes"):
            yield
