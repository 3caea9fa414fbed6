"""How much of memory affine accesses touch, as closed forms: sectors, bytes, and passes through local memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from egglift.costmodel.closed.work import Numbers
from egglift.costmodel.model.coalescing import BANKS, CLOSE, SECTOR, WORD, distinct

#: how many steps along an axis, and how many bytes apart
Step = tuple[Numbers, Numbers]


@dataclass(frozen=True)
class Touched:
    """Sectors of memory, and the bytes of them that are used."""

    sectors: Numbers
    bytes: Numbers


def touched(axes: Sequence[Step], width: Numbers, sector: int = SECTOR) -> Touched:
    """What is touched by `width` bytes at every combination of steps.

    Bytes that meet make runs; runs at a distance make rows; rows whose steps overlap (a window that slides) are one
    longer row.  Exact where strides divide each other and runs begin with a sector, which is of so many bytes.
    """
    key = sector, _same(width), *(_same(x) for step in axes for x in step)
    found = _LAST.get(key)  # searches of several threads share it
    if found is None:
        found = _LAST[key] = _touched(axes, width, sector)
        while len(_LAST) > MOST:
            with suppress(KeyError):
                _LAST.popitem(last=False)
    return found


#: what was asked for last: operands of a stage that lie alike touch alike
_LAST: OrderedDict[Hashable, Touched] = OrderedDict()
MOST = 16


def _same(x: Numbers) -> Hashable:
    """Equal for equal numbers."""
    return x.shape, x.dtype.char, x.tobytes()


def _touched(axes: Sequence[Step], width: Numbers, sector: int) -> Touched:
    shape = np.broadcast_shapes(np.shape(width), *(np.shape(x) for step in axes for x in step))
    run, many = np.broadcast_to(width, shape).astype(float), np.ones(shape)
    far, row, points = np.zeros(shape), np.ones(shape), np.broadcast_to(width, shape).astype(float)
    for c, s in _rising(axes):
        points = points * c
        meets = s <= np.maximum(run, sector - 1)
        slides = ~meets & (row > 1) & (s <= far * row)
        apart = ~meets & ~slides
        run = np.where(meets, run + (c - 1) * s, run)
        row, many = (
            np.where(slides, row + (c - 1) * np.round(s / np.maximum(far, 1)), np.where(apart, c, row)),
            np.where(apart, many * row, many),
        )
        far = np.where(apart, s, far)
    many = many * row
    return Touched(many * np.ceil(run / sector), np.minimum(many * run, points))


def _rising(axes: Sequence[Step]) -> list[Step]:
    """How many steps along each axis and how far apart they are, the nearest first; one step where they are nowhere."""
    found = list[Step]()
    for c, s in axes:
        if (c.size == 1 and c.item() <= 1) or (s.size == 1 and s.item() == 0):
            continue  # nobody goes along it
        stride = np.where(c > 1, np.abs(s), 0)
        found.append((np.where(stride > 0, c, 1), stride))
        for i in range(len(found) - 1, 0, -1):  # axes are few: each goes to its place among those before it
            (c0, s0), (c1, s1) = found[i - 1], found[i]
            nearer = s1 < s0
            if not nearer.any():
                break
            found[i - 1] = np.where(nearer, c1, c0), np.where(nearer, s1, s0)
            found[i] = np.where(nearer, c0, c1), np.where(nearer, s0, s1)
    return found


def runs(axes: Sequence[Step], width: Numbers) -> tuple[Numbers, Numbers]:
    """Bytes that lie together in what is touched, and how far after one such run the next begins: 0 for one run."""
    shape = np.broadcast_shapes(np.shape(width), *(np.shape(x) for step in axes for x in step))
    run, gap = np.broadcast_to(width, shape).astype(float), np.zeros(shape)
    for c, s in _rising(axes):
        meets = (s <= run) & (gap == 0)
        gap = np.where((gap == 0) & ~meets & (c > 1), s, gap)
        run = np.where(meets, run + (c - 1) * s, run)
    return run, gap


def passes(axes: Sequence[Step], width: Numbers, lanes: int) -> Numbers:
    """Passes of local memory for one access by every lane of a warp; axes: of its lanes, the fastest first.

    It has no closed form: it is looked up for the strides that occur, which are few.
    """
    columns = [x for step in axes for x in step]
    shape = np.broadcast_shapes(np.shape(width), *(np.shape(x) for x in columns), (1,))
    keys = np.stack([np.broadcast_to(x, shape).astype(np.int64) for x in (*columns, width)], axis=-1)
    different, where = _rows(keys.reshape(-1, keys.shape[-1]))
    found = np.array([_passes(tuple(map(int, key[:-1])), int(key[-1]), lanes) for key in different])
    return found[where].reshape(shape)


def _rows(keys: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The different rows, and which of these each row is: column by column, each of few values."""
    where = np.zeros(len(keys), np.int64)
    for column in keys.T:
        if column.min() != column.max():
            count, of = numbered(column)
            where = numbered(where * count + of)[1]
    first = np.empty(int(where.max()) + 1, np.int64)
    first[where[::-1]] = np.arange(len(keys))[::-1]
    return keys[first], where


def numbered(x: npt.NDArray[np.int64]) -> tuple[int, npt.NDArray[np.int64]]:
    """How many different ones some integers are, and the how-many-th of them, by size, each is."""
    low, high = (int(x.min()), int(x.max())) if len(x) else (0, 0)
    if high - low >= CLOSE * len(x):
        values, which = np.unique(x, return_inverse=True)
        return len(values), which.reshape(-1)
    there = np.zeros(high - low + 1, np.int64)
    there[x - low] = 1
    place = np.cumsum(there)
    return int(place[-1]), place[x - low] - 1


@lru_cache(1 << 14)
def _passes(axes: tuple[int, ...], width: int, lanes: int) -> float:
    lane, first = np.arange(lanes), np.zeros(lanes, np.int64)
    for count, stride in zip(axes[::2], axes[1::2], strict=True):
        first += lane % max(1, count) * stride
        lane = lane // max(1, count)
    words = distinct(first[lane == 0, None] // WORD + np.arange(max(1, width // WORD)))
    return float(np.bincount(words % BANKS).max())
