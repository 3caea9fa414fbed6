"""Sizes worth trying for a tile symbol, and how a wish is made to fit the lengths.

Kinds: p workers, u and r their chunks, s parts, v and w vectors; m and n the rows and columns of a block, q and d
chunks per work-item, c the chunk, k a chunk of what is folded, z pieces of it, a the padding of rows, f how far ahead
to fetch; t side of a tile that is only moved, o rows of it for a work-item, s a work-item's share of a reduction, l
lanes that share one, for g results;
h, y and x layers, rows and columns of a tile of windows, e rows of one for a work-item.
"""

from __future__ import annotations

from collections.abc import Sequence

from egglift.costmodel.profiles.profile import Profile

#: (blocks of a work-group: rows m, columns n, chunks per work-item in rows and columns, chunk of the fold), best first
GPU_STARTS = (
    (128, 128, 2, 2, 16),
    (64, 64, 1, 2, 16),
    (128, 256, 2, 2, 16),
    (128, 128, 4, 2, 8),
    (64, 128, 2, 2, 8),
    (32, 32, 1, 1, 16),
)
CPU_ROWS, CPU_COLUMNS = (6, 4, 8, 5), (2, 3, 1, 4)  # rows, and columns in vectors, of what registers hold
FETCH = (1, 2, 0)


def wanted(kind: str, n: int, role: str, profile: Profile, inner: bool = False) -> Sequence[int]:
    """Sizes for a symbol that cuts a length `n`, the most plausible first.

    role: the level that shares it out; inner: is `n` a tile's own length?
    """
    gpu = profile.kind == "gpu"
    lanes = profile.simd_bytes // 4
    match kind:
        case "v" if inner and not gpu:  # columns of what registers hold
            return (2 * lanes, lanes, lanes // 2)
        case "v" | "w":
            return (4, 2, 8) if gpu else (4 * lanes, lanes, 2 * lanes, 8 * lanes)
        case "u":
            return (4, 1, 2, 8, 16) if gpu else (64, 16, max(1, n // 64))
        case "p":
            return [_even(n, count) for count in _executors(role, profile)]
        case "m":
            return (128, 64, 256, 32, 16) if gpu else CPU_ROWS
        case "n":
            return (128, 64, 256, 32, 512) if gpu else [v * lanes for v in CPU_COLUMNS]
        case "q" | "d":
            return (2, 1, 4) if gpu else (1, 2)
        case "c":
            return (4, 1, 2, 8) if gpu else (4, 1)
        case "t":
            return (64, 32, 128) if gpu else (16, 64, 8)
        case "o":
            return (8, 4, 16, 2) if gpu else (16, 8)
        case "l":
            return (64, 256, 32, 128)
        case "g":
            return (4, 1, 16, 32, 8, 2)
        case "s":
            return [max(1, n // count) for count in ((16, 8, 32, 4, 64) if gpu else (4, 8))]
        case "k":
            return (16, 8, 32, 64, 128, 256) if gpu else (4, 8, 2) if role == "unrolled" else (256, 512, n)
        case "z":
            return (2, 4, 8, 16)
        case "h":
            return (4, 2, 8) if gpu else (8, 4, 16)
        case "y":
            return (16, 8, 4, 32) if gpu else (16, 8, 64)
        case "x":
            return (64, 128, 32, 256) if gpu else (16 * lanes, 4 * lanes, n)
        case "e":
            return (2, 4, 1, 8) if gpu else (8, 4, 1)
        case "a":
            return (4, 0, 1) if gpu else (0,)
        case "f":
            return FETCH if gpu else (0,)
    block = 64 if n >= 4096 else 1
    return [max(1, n // count // block * block) for count in _executors(role, profile)]


def fitted(kind: str, wish: int, n: int, chunk: int) -> int:
    """The size nearest to `wish` that a length `n` allows; `chunk`: for q and d, the c that goes with it."""
    size = max(0 if kind in "af" else 1, wish if kind in "af" else min(wish, n))
    match kind:
        case "v" | "w":  # a power of two of lanes, also where the array is shorter than the widest
            return 1 << size.bit_length() - 1
        case "c":
            return _divisor(n, size)
        case "q" | "d":
            return _divisor(max(1, n // chunk), size)
    return size


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
