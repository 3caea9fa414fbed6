"""Who gets how much: an array cut into blocks, for devices of any speeds, and for devices with little memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: blocks of an array that does not fit into a device's memory, which are in it together
LANES = 2


@dataclass(frozen=True)
class Share:
    """A block: `count` elements from `start` on, of the `place`th device.

    lane: which of a device's queues it goes through, where blocks are many.
    """

    place: int
    start: int
    count: int
    lane: int = 0

    def __str__(self) -> str:
        return f"device {self.place}: {self.start}..{self.start + self.count}"


def shares_of(length: int, speeds: Sequence[float]) -> tuple[Share, ...]:
    """Blocks in proportion to the devices' speeds; equal ones are of one length, but the last.

    Devices that would get nothing are left out: shares_of(5, (1, 1, 1)) has blocks of 2, 2 and 1.
    """
    if len(set(speeds)) == 1:
        block = -(-length // len(speeds))
        ends = [min(length, block * (i + 1)) for i in range(len(speeds))]
    else:
        total, ends = sum(speeds), []
        for i in range(len(speeds)):
            ends.append(round(length * sum(speeds[: i + 1]) / total))
        ends[-1] = length
    starts = [0, *ends[:-1]]
    return tuple(Share(i, a, b - a) for i, (a, b) in enumerate(zip(starts, ends, strict=True)) if b > a)


def cut(shares: Sequence[Share], most: Sequence[int]) -> tuple[Share, ...]:
    """Shares of at most so many elements for each device: a longer one becomes several of one length, but the last.

    Of these LANES are on a device at a time, and have room together: while one is computed, another is moved.
    """
    found = []
    for s in shares:
        room = most[s.place] if s.count <= most[s.place] else max(1, most[s.place] // LANES)
        pieces = -(-s.count // room)
        block = -(-s.count // pieces)
        for i, at in enumerate(range(0, s.count, block)):
            found.append(Share(s.place, s.start + at, min(block, s.count - at), i % LANES))
    return tuple(found)
