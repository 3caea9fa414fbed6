"""Values that several devices and the host hold: who has which rows of an array, and which of that is valid."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from egglift.codegen.device.arguments import result
from egglift.codegen.device.device import Device, NdArray, Operand
from egglift.codegen.device.rows import copy_bytes, read_bytes, read_elements, upload, write_bytes
from egglift.codegen.device.spare import spare
from egglift.codegen.device.staging import LARGE
from egglift.ir.sizes import evaluate
from egglift.ir.types import BOOL, Scalar, Type, leaves


@dataclass(frozen=True)
class Leaf:
    """One array of a value (structure of arrays): its shape, () for a number, and what it is made of."""

    shape: tuple[int, ...]
    scalar: Scalar

    @property
    def row(self) -> int:
        """The elements of a row."""
        return prod(self.shape[1:])

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        return self.row * self.scalar.size

    @property
    def bytes(self) -> int:
        """The bytes of all."""
        return prod(self.shape) * self.scalar.size


def leaves_of(t: Type) -> tuple[Leaf, ...]:
    """The arrays of a value of a type."""
    return tuple(Leaf(tuple(evaluate(n) for n in shape), scalar) for shape, scalar in leaves(t))


def bytes_of(t: Type) -> int:
    """The bytes of a value of a type."""
    return sum(leaf.bytes for leaf in leaves_of(t))


@dataclass(frozen=True)
class Piece:
    """Rows `start` to `stop` (exclusive) on a device, a buffer for each leaf."""

    device: Device
    start: int
    stop: int
    buffers: tuple[Operand, ...]


@dataclass(frozen=True)
class Rows:
    """Some rows of a held value, in the order in which a device wants them; or a row again and again."""

    held: Held
    start: int
    count: int
    repeated: bool = False


@dataclass(eq=False)
class Held:
    """A value, valid on the host (`host`: its leaves), on devices (`pieces`, which together have all rows), or both.

    What is copied anywhere stays valid there until the value is written: `parts` are rows that a device was given.
    """

    type: Type
    host: list[NdArray] | None = None
    pieces: tuple[Piece, ...] = ()
    parts: dict[Any, tuple[Operand, ...]] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.RLock)

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Its arrays."""
        return leaves_of(self.type)

    @property
    def is_on_host(self) -> bool:
        """Does the host have it?"""
        return self.host is not None

    def on_host(self) -> list[NdArray]:
        """Its leaves on the host; downloaded if only devices have them."""
        with self._lock:
            if self.host is None:
                self.host = self._downloaded()
            return self.host

    def finish(self) -> None:
        """Waits until the devices that have its rows have done all that they were given."""
        for device in dict.fromkeys(piece.device for piece in self.pieces):
            device.finish(device.queue)

    def _downloaded(self) -> list[NdArray]:
        """Its leaves, of which every device gives its rows, the devices beside each other."""
        found = [np.empty(leaf.shape, leaf.scalar.dtype) for leaf in self.leaves]

        def of(device: Device) -> None:
            for piece in self.pieces:
                for i, leaf in enumerate(self.leaves if piece.device is device else ()):
                    into = found[i][piece.start : piece.stop]
                    if leaf.scalar == BOOL:  # which is looked at on its way
                        into[...] = self._read(piece, i, leaf, piece.start, piece.stop)
                    else:
                        read_bytes(device, piece.buffers[i], 0, into)

        devices = list(dict.fromkeys(piece.device for piece in self.pieces))
        if len(devices) == 1 or sum(leaf.bytes for leaf in self.leaves) < LARGE:
            for device in devices:
                of(device)
        else:
            with ThreadPoolExecutor(len(devices), "egglift copies") as pool:
                list(pool.map(of, devices))
        return found

    def value(self, t: Type | None = None) -> Any:
        """It as NumPy has it: an array, a number, or a tuple of these; t: the same with tuples that nest otherwise."""
        return result(t or self.type, self.on_host(), lambda a, shape, scalar: a if shape else a.reshape(())[()])

    def rows(self, i: int, start: int, stop: int) -> NdArray:
        """Some rows of leaf `i` on the host, without a copy of the others."""
        if self.host is not None:
            return self.host[i][start:stop]
        leaf, found = self.leaves[i], []
        at = start
        while at < stop:
            piece = next(p for p in self.pieces if p.start <= at < p.stop)
            end = min(stop, piece.stop)
            found.append(self._read(piece, i, leaf, at, end))
            at = end
        return np.concatenate(found) if found else np.empty((0, *leaf.shape[1:]), leaf.scalar.dtype)

    def _read(self, piece: Piece, i: int, leaf: Leaf, start: int, stop: int) -> NdArray:
        first = (start - piece.start) * leaf.row
        flat = read_elements(piece.device, piece.buffers[i], leaf.scalar, first, (stop - start) * leaf.row)
        return flat.reshape((stop - start, *leaf.shape[1:]))

    def whole_on(self, device: Device) -> tuple[Operand, ...]:
        """A copy of all of it on a device."""
        with self._lock:
            if (device, None) not in self.parts:
                same = [p for p in self.pieces if p.device is device and p.stop - p.start == self.leaves[0].shape[0]]
                made = same[0].buffers if same else tuple(upload(device, a) for a in self.on_host())
                self.parts[device, None] = made
            return self.parts[device, None]

    def on(self, device: Device) -> list[Piece]:
        """What a device has: all of it, or its pieces."""
        if whole := self.parts.get((device, None)):
            return [Piece(device, 0, self.leaves[0].shape[0], whole)]
        return [p for p in self.pieces if p.device is device]

    def piece_on(self, device: Device, start: int, stop: int) -> Piece | None:
        """The piece of a device that has exactly these rows."""
        return next((p for p in self.on(device) if p.start == start and p.stop == stop), None)

    def written(self) -> None:
        """The host's value has changed: what devices have is of no use any more."""
        self.on_host()
        self.pieces, self.parts = (), {}


def gathered(wanted: Sequence[Rows], shape: Sequence[Leaf]) -> list[NdArray]:
    """Rows from anywhere on the host, one array for each leaf; of one array, a view of it."""
    found = []
    for i, leaf in enumerate(shape):
        arrays = [host_rows(r, i, leaf) for r in wanted]
        found.append(arrays[0] if len(arrays) == 1 else np.concatenate(arrays))
    return found


@dataclass
class Spare:
    """Buffers that an iteration is done with, by device and bytes: the next step's are made of them.

    A device's queue keeps the order: what still reads a buffer is before what is written into it next.
    """

    _free: dict[tuple[Device, int], list[Operand]] = field(default_factory=dict)

    def take(self, device: Device, size: int) -> Operand:
        """A buffer of so many bytes."""
        waiting = self._free.get((device, size))
        return waiting.pop() if waiting else spare(device, size)

    def give(self, held: Held) -> None:
        """Takes the buffers of a value that nobody looks at any more."""
        parts = [(key[0], b) for key, buffers in held.parts.items() for b in buffers]
        for device, buffer in parts:
            self._free.setdefault((device, buffer.size), []).append(buffer)


def placed(wanted: Sequence[Rows], shape: Sequence[Leaf], device: Device, spare: Spare) -> tuple[Operand, ...]:
    """Rows from anywhere on a device: its own piece where that is what is wanted, else a part that is put together."""
    if len(wanted) == 1 and not wanted[0].repeated:
        only = wanted[0]
        if piece := only.held.piece_on(device, only.start, only.start + only.count):
            return piece.buffers
    key = (device, tuple((r.start, r.count, r.repeated) for r in wanted))
    keepers = {id(r.held) for r in wanted}
    keeper = wanted[0].held if len(keepers) == 1 else None
    if keeper is not None and key in keeper.parts:
        return keeper.parts[key]
    made = tuple(_put_together(wanted, i, leaf, device, spare) for i, leaf in enumerate(shape))
    if keeper is not None:
        keeper.parts[key] = made
    return made


def _put_together(wanted: Sequence[Rows], i: int, leaf: Leaf, device: Device, spare: Spare) -> Operand:
    """A new buffer with these rows of leaf `i`: what the device has is copied there, the rest comes from the host."""
    buffer, at = spare.take(device, leaf.bytes), 0
    for r in wanted:
        for piece, start, count in _sources(r, device):
            if piece is None:
                rows = host_rows(Rows(r.held, start, count, r.repeated), i, leaf)
                write_bytes(device, buffer, at, rows)
            else:
                first = (start - piece.start) * leaf.row_bytes
                copy_bytes(device, buffer, at, piece.buffers[i], first, count * leaf.row_bytes)
            at += count * leaf.row_bytes
    return buffer


def _sources(r: Rows, device: Device) -> Iterator[tuple[Piece | None, int, int]]:
    """Where rows come from, in their order: a piece on the device, or None for the host; first row, how many."""
    mine = [] if r.repeated else r.held.on(device)
    at, end = r.start, r.start + r.count
    for piece in sorted(mine, key=lambda p: p.start):
        start, stop = max(at, piece.start), min(end, piece.stop)
        if start < stop:
            if at < start:
                yield None, at, start - at
            yield piece, start, stop - start
            at = stop
    if at < end:
        yield None, at, end - at


def host_rows(r: Rows, i: int, leaf: Leaf) -> NdArray:
    """Rows of leaf `i` on the host."""
    if r.repeated:
        row = r.held.on_host()[i].reshape((1, *leaf.shape[1:]))
        return np.repeat(row, r.count, axis=0)
    return r.held.rows(i, r.start, r.start + r.count)
