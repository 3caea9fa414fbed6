"""Blocks of memory that are used again: the first use of a page costs more than what is done with it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from egglift.codegen.device.device import NdArray

#: smaller blocks have few sizes, powers of two from LEAST on, and of each at most FEW are kept while nobody uses them;
#: of all blocks at most KEPT bytes are
SMALL, LEAST, FEW, KEPT = 1 << 16, 1 << 7, 64, 1 << 28


@dataclass(frozen=True, slots=True)
class Block:
    """`size` bytes from an address on, which exist as long as `memory` does."""

    address: int
    size: int
    memory: Any


class Pool:
    """Arrays over blocks that `make` makes; an array that nobody uses any more gives its block back.

    most: the bytes of blocks that are kept unused, at most.  Several threads may use it.
    """

    def __init__(self, make: Callable[[int], Block], most: int = KEPT) -> None:
        self._make, self._most = make, most
        self._free: dict[int, list[Block]] = {}
        self._bytes = 0
        self._used: dict[int, int] = {}
        self._lock = threading.RLock()  # an array may be given up in the middle of anything
        self._process, self._kept = os.getpid(), list[Block]()

    def array(self, size: int) -> NdArray:
        """An array of `size` bytes with anything in it."""
        return np.asarray(_Bytes(self, self.taken(_rounded(size)), size))

    def holds(self, array: NdArray) -> bool:
        """Does `array`, in C order, begin where an array of this pool begins, and end within it?"""
        return array.nbytes <= self._used.get(int(array.__array_interface__["data"][0]), -1)

    def taken(self, size: int) -> Block:
        """A block of `size` bytes, until it is given back."""
        with self._lock:
            waiting = self._free.get(size)
            if waiting:
                self._bytes -= size
                block = waiting.pop()
            else:
                block = self._make(size)
            self._used[block.address] = size
        return block

    def clear(self) -> None:
        """Lets go what nobody uses."""
        with self._lock:
            self._free.clear()
            self._bytes = 0

    def give(self, block: Block) -> None:
        """Takes a block back, unless it is small; others are let go where too many bytes wait.

        In a process that was forked it is kept: there its driver, with which it would be freed, is lost.
        """
        if os.getpid() != self._process:
            return self._kept.append(block)
        with self._lock:
            self._used.pop(block.address, None)
            waiting = self._free.get(block.size, ())
            if block.size > self._most or (block.size < SMALL and len(waiting) >= FEW):
                return
            if self._bytes + block.size > self._most:
                self.clear()
            self._free.setdefault(block.size, []).append(block)
            self._bytes += block.size


def _rounded(size: int) -> int:
    """The bytes of a block for so many."""
    return size if size >= SMALL else max(LEAST, 1 << (size - 1).bit_length())


class Lease:
    """A block in use: what is made of it keeps it, and the last one gives it back to its pool."""

    def __init__(self, pool: Pool, block: Block) -> None:
        self._pool, self._block = pool, block

    def __del__(self) -> None:
        self._pool.give(self._block)


class _Bytes(Lease):
    """A block as NumPy sees it."""

    def __init__(self, pool: Pool, block: Block, size: int) -> None:
        super().__init__(pool, block)
        self.__array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (block.address, False),
            "version": 3,
        }
