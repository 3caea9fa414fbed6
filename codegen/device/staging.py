"""Arrays of the host on their way to a device with memory of its own, and results on their way back.

A device reads memory that its driver has pinned several times as fast as any other.  Results are written into such
memory, which is used again.  Other arrays go through a few pinned chunks: while the device copies one, the host fills
the next.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, NdArray, Operand, opencl, reported
from egglift.codegen.device.pool import Block, Pool
from egglift.ir.errors import EggliftError

#: bytes: of a chunk, and of arrays that are worth going through chunks; how many chunks there are
CHUNK, LARGE, CHUNKS = 8 << 20, 2 << 20, 3
#: threads that fill a chunk together: one does not copy as fast as the device
COPIERS = 4


class Staging:
    """The pinned memory of one device, and the ways through it.  Several threads may use it, one after the other.

    pinned: False where the driver's pinned memory is not to be trusted: then the host waits for each copy.
    """

    def __init__(self, device: Device, pinned: bool = True) -> None:
        self.device, self.is_pinned = device, pinned
        self.pool = Pool(_pinned(device) if pinned else _ordinary)
        self._chunks: list[NdArray] = []
        self._events: list[Any] = []
        self._turn = 0
        self._lock = threading.Lock()
        self._copiers = ThreadPoolExecutor(COPIERS, "egglift copies")

    def upload(self, chain: Chain, array: NdArray) -> Operand:
        """A new buffer with the elements of `array`: see `write`."""
        buffer = self.device.allocate(array.nbytes)
        self.write(chain, buffer, array)
        return buffer

    def write(self, chain: Chain, buffer: Operand, array: NdArray, at: int = 0) -> None:
        """The elements of `array` into `buffer` from byte `at` on: the next commands of `chain` copy them.

        The array may be changed afterwards, unless its memory is pinned: then when the chain is done.
        """
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        with self._lock, reported(f"{self.device.name} cannot take {flat.nbytes} bytes"):
            if not self.is_pinned or self.pool.holds(flat):
                copied = self._copy(chain, buffer, flat, dst_offset=at)
                if not self.is_pinned:
                    copied.wait()
                return
            for start, part in _parts(flat):
                chunk = self._next()[: part.nbytes]
                self._fill(chunk, part)
                self._sent(self._copy(chain, buffer, chunk, dst_offset=at + start))

    def download(self, chain: Chain, buffer: Operand, into: NdArray, at: int = 0) -> None:
        """Bytes of `buffer` from the `at`th on in `into`, a flat array of the host, until that is full.

        The next commands of `chain` copy them, and are waited for.
        """
        with self._lock, reported(f"{self.device.name} cannot give back {into.nbytes} bytes"):
            if not self.is_pinned or self.pool.holds(into):
                self._copy(chain, into, buffer, src_offset=at).wait()
                return
            waiting: list[tuple[NdArray, NdArray, Any]] = []
            for start, part in _parts(into):
                if len(waiting) == CHUNKS:
                    self._received(*waiting.pop(0))
                chunk = self._next()[: part.nbytes]
                event = self._copy(chain, chunk, buffer, src_offset=at + start)
                self._sent(event)
                waiting.append((part, chunk, event))
            for arrived in waiting:
                self._received(*arrived)

    def is_right(self) -> bool:
        """Do bytes come back as they went, through every chunk, and into pinned memory?"""
        size = CHUNKS * CHUNK + CHUNK // 2 + 1
        sent, chain = np.resize(np.arange(251, dtype=np.uint8), size), Chain(self.device.queue)
        pinned, ordinary = self.pool.array(size), np.empty(size, np.uint8)
        try:
            buffer = self.upload(chain, sent)
            for into in (pinned, ordinary):
                self.download(chain, buffer, into)
        except EggliftError:
            return False
        return np.array_equal(pinned, sent) and np.array_equal(ordinary, sent)

    def _received(self, part: NdArray, chunk: NdArray, event: Any) -> None:
        event.wait()
        self._fill(part, chunk)

    def _copy(self, chain: Chain, target: Any, source: Any, **part: int) -> Any:
        copied = opencl().enqueue_copy(chain.queue, target, source, wait_for=chain.after, is_blocking=False, **part)
        chain.queue.flush()
        return chain.add(copied)

    def _fill(self, target: NdArray, source: NdArray) -> None:
        """A copy within the host, by several threads where it is worth it."""
        if target.nbytes < LARGE:
            return np.copyto(target, source)
        pairs = zip(np.array_split(target, COPIERS), np.array_split(source, COPIERS), strict=True)
        for done in [self._copiers.submit(np.copyto, t, s) for t, s in pairs]:
            done.result()

    def _next(self) -> NdArray:
        """The chunk whose turn it is, when nothing uses it any more."""
        if not self._chunks:
            self._chunks = [self.pool.array(CHUNK) for _ in range(CHUNKS)]
            self._events = [None] * CHUNKS
        self._turn = (self._turn + 1) % CHUNKS
        if (event := self._events[self._turn]) is not None:
            event.wait()
        return self._chunks[self._turn]

    def _sent(self, event: Any) -> None:
        """The chunk whose turn it is is in use until `event`."""
        self._events[self._turn] = event


def _ordinary(size: int) -> Block:
    array = np.empty(size, np.uint8)
    return Block(int(array.__array_interface__["data"][0]), size, array)


def _parts(flat: NdArray) -> Iterator[tuple[int, NdArray]]:
    for start in range(0, flat.nbytes, CHUNK):
        yield start, flat[start : start + CHUNK]


def _pinned(device: Device) -> Callable[[int], Block]:
    """Makes blocks that the driver has pinned, and that stay mapped; of ordinary memory, where it pins no more."""
    queue = opencl().CommandQueue(device.context, device.device)  # nothing is before a map there

    def make(size: int) -> Block:
        cl = opencl()
        try:
            buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR, max(size, 1))
            access = cl.map_flags.READ | cl.map_flags.WRITE
            array, _ = cl.enqueue_map_buffer(queue, buffer, access, 0, (max(size, 1),), np.uint8)
        except (cl.Error, MemoryError):
            array, buffer = np.empty(size, np.uint8), None
        return Block(int(array.__array_interface__["data"][0]), size, (buffer, array))

    return make


_made = threading.Lock()


def staging_of(device: Device) -> Staging:
    """The staging of a device, made and tried once: a driver whose pinned memory changes bytes is not given any."""
    with _made:
        if device.staging is None:
            device.staging = Staging(device)
            if not device.staging.is_right():
                why = f"{device.name}: pinned memory does not keep what is copied; copies go without it, and are slower"
                warnings.warn(why, RuntimeWarning, stacklevel=4)
                device.staging = Staging(device, pinned=False)
        found: Staging = device.staging
        return found
