"""Sizes worth trying for a tile symbol, and how a wish is made to fit the lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence

from egglift.costmodel.profiles.profile import Profile
from egglift.ir import tile_kinds as kinds
from egglift.ir.tile_kinds import TILE_KINDS

#: (blocks of a work-group: their rows and columns, chunks of a work-item in rows and columns, chunk of the fold)
GPU_STARTS = (
    (128, 128, 2, 2, 16),
    (64, 64, 1, 2, 16),
    (128, 256, 2, 2, 16),
    (128, 128, 4, 2, 8),
    (64, 128, 2, 2, 8),
    (32, 32, 1, 1, 16),
)
#: whole blocks are at most, and more than, so many rows or columns
WHOLE = ((160, 80), (80, 40))
SCANNING = (256, 512, 128)  # work-items of a group that scan a row together
CPU_COLUMNS = (2, 3, 1, 4)  # in vectors, of what registers hold


def wanted(kind: str, n: int, role: str, profile: Profile, inner: bool = False) -> Sequence[int]:
    """Sizes for a symbol of a kind (its letter) that cuts a length `n`, the most plausible first.

    role: the level that shares it out; inner: is `n` a tile's own length?
    """
    gpu, lanes = profile.kind == "gpu", profile.simd_bytes // 4
    known = TILE_KINDS.get(kind)
    match known:
        case kinds.WORKERS:
            return [_even(n, count) for count in _executors(role, profile)]
        case kinds.ITEM_PART if gpu:
            return [max(1, n // count) for count in (16, 8, 32, 4, 64)]
        case kinds.SCANNED_RUN | kinds.REDUCED_RUN:
            return list(dict.fromkeys((*(max(2, -(-n // count)) for count in SCANNING if n > count), 8, 16, 4)))
        case kinds.BLOCK_ROWS | kinds.BLOCK_COLUMNS if gpu and not inner:
            return (*known.gpu, *_whole_blocks(n))
        case kinds.TileKind(gpu=(_, *_)) if gpu:
            return known.gpu
        case kinds.VECTOR if inner:  # columns of what registers hold
            return (2 * lanes, lanes, lanes // 2)
        case kinds.VECTOR | kinds.LANES:
            return (4 * lanes, lanes, 2 * lanes, 8 * lanes)
        case kinds.ROWS_IN_LANES:  # few are right wherever rows lie
            return (4, lanes, lanes // 2, 2 * lanes)
        case kinds.TURN:
            return (64, 16, max(1, n // 64))
        case kinds.BLOCK_COLUMNS:
            return [v * lanes for v in CPU_COLUMNS]
        case kinds.FOLD_CHUNK:
            return (4, 8, 2) if role == "unrolled" else (256, 512, n)
        case kinds.TILE_COLUMNS:
            return (16 * lanes, 4 * lanes, n)
        case kinds.TileKind(cpu=(_, *_)):
            return known.cpu
    block = 64 if n >= 4096 else 1
    return [max(1, n // count // block * block) for count in _executors(role, profile)]


def may_be_zero(kind: str) -> bool:
    """Does 0 stand for going without a tile of this kind?"""
    return kind in TILE_KINDS and TILE_KINDS[kind].may_be_zero


def fitted(kind: str, wish: int, n: int, chunk: int, inner: bool = False) -> int:
    """The size nearest to `wish` that a length `n` allows; `chunk`: of a work-item, where its chunks are counted.

    inner: is `n` a tile's own length?
    """
    size = max(0, wish) if may_be_zero(kind) else max(1, min(wish, n))
    match TILE_KINDS.get(kind):
        case kinds.VECTOR if inner and 1 << size.bit_length() - 1 <= n:  # as the block is read to its end
            return math.gcd(1 << size.bit_length() - 1, n)
        case kinds.SWEPT:
            return _even_block(n, size)
        case kinds.VECTOR | kinds.LANES | kinds.ROWS_IN_LANES:  # a power of two, also where the array is shorter
            return 1 << size.bit_length() - 1
        case kinds.CHUNK | kinds.REDUCED_RUN:
            return _divisor(max(1, n), size)
        case kinds.CHUNKS | kinds.ROW_CHUNKS | kinds.WARP_ROWS | kinds.WARPS_ACROSS:
            return _divisor(max(1, n // chunk), size)
    return size


def _whole_blocks(n: int) -> list[int]:
    """Blocks of which a whole number is `n`, beside powers of two: a large one and a small one.

    _whole_blocks(576) -> [144, 72]
    """
    found = (next((b for b in range(most, least, -8) if n % b == 0 and b & b - 1), 0) for most, least in WHOLE)
    return [b for b in dict.fromkeys(found) if b]


def _even_block(n: int, most: int) -> int:
    """The largest block that divides `n` and vectors of 4, not much shorter than `most`; else `most`."""
    few = range(most, most // 2, -1)
    return next((b for b in few if n % b == 0 and b % 4 == 0), most // 16 * 16 or most)


def _divisor(n: int, most: int) -> int:
    return next(d for d in range(min(most, n), 0, -1) if n % d == 0)


def _executors(role: str, p: Profile) -> list[int]:
    """How many work-groups, work-items of a group or of the grid to share out to."""
    if p.kind == "cpu":
        units = p.compute_units
        return {"local": [16, 1, 4], "": [8, 2, 32]}.get(role, [8 * units, units, 2 * units, 32 * units])
    return {
        "workgroup": [p.compute_units * k for k in (16, 32, 8, 64, 4)],
        "global": [p.compute_units * p.items_per_unit * k // 2 for k in (2, 4, 1)],
        "local": [256, 128, 512, 64],
        "warp": [8, 4, 16],
        "lane": [32],
    }.get(role, [16, 8, 32, 64])


def _even(n: int, count: int) -> int:
    """A number of workers near `count` that leaves few of `n` elements over, a multiple of 32 if large."""
    if count >= n:
        return n
    step = 32 if count >= 1024 else 1
    around = range(max(step, count * 7 // 8 // step * step), count * 9 // 8 + 1, step)
    return min(around, key=lambda w: (n % w > n // 1000 + 64, abs(w - count), n % w), default=count)
