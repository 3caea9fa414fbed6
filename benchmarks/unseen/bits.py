"""Bits, codes and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.unseen.drawn import bytes_of, ints, uniform
from benchmarks.unseen.program import Unseen

f32, i32, u8 = el.f32, el.i32, el.u8


def byte_histogram(h: int, w: int) -> Any:
    """A histogram of bytes."""
    return el.bincount(el.array("x", u8, (h, w)).ravel(), 256)


def popcount(v: Any) -> Any:
    """How many bits of an i32 are 1."""
    v = v - ((v >> 1) & 0x55555555)
    v = (v & 0x33333333) + ((v >> 2) & 0x33333333)
    v = (v + (v >> 4)) & 0x0F0F0F0F
    return (v + (v >> 8) + (v >> 16) + (v >> 24)) & 0x3F


def hamming_pairs(n: int, m: int, words: int) -> Any:
    """Hamming distances of all pairs of packed codes."""
    a, b = el.array("a", i32, (n, words)), el.array("b", i32, (m, words))
    return a.map(lambda p: b.map(lambda q: popcount(p ^ q).sum(dtype=i32)))


def hamming_numpy(a: Any, b: Any) -> Any:
    """The same in NumPy."""
    return np.bitwise_count((a[:, None] ^ b[None]).view("u4")).sum(2, dtype="i4")


def hamming_torch(torch: Any, a: Any, b: Any) -> Any:
    """The same in torch."""
    return popcount(a[:, None] ^ b[None]).sum(2, dtype=torch.int32)


def gray_bits(n: int) -> Any:
    """How many bits of Gray codes are 1, in all."""
    x = el.array("x", i32, n)
    return popcount(x ^ ((x >> 1) & 0x7FFFFFFF)).sum()


def gray_numpy(x: Any) -> Any:
    """The same in NumPy."""
    return np.bitwise_count((x ^ ((x >> 1) & 0x7FFFFFFF)).view("u4")).sum(dtype="i8")


def gray_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    return popcount(x ^ ((x >> 1) & 0x7FFFFFFF)).sum()


def spread_bits(v: Any) -> Any:
    """The 16 low bits, with a 0 before each."""
    v = (v | (v << 8)) & 0x00FF00FF
    v = (v | (v << 4)) & 0x0F0F0F0F
    v = (v | (v << 2)) & 0x33333333
    return (v | (v << 1)) & 0x55555555


def morton(n: int) -> Any:
    """Morton codes of pairs of coordinates."""
    return spread_bits(el.array("x", i32, n)) | (spread_bits(el.array("y", i32, n)) << 1)


FULL = -(2**31)


def xor_scan(n: int) -> Any:
    """Parity of all bits so far: a scan by xor."""
    return el.scan(el.bitwise_xor, 0, el.array("x", i32, n))


def cell_counts(n: int) -> Any:
    """Coordinates of particles binned to cells, counted."""
    p = el.array("p", f32, (n, 2))
    cell = np.clip(np.floor(p * 32).astype(i32), 0, 31)
    return el.bincount(cell[:, 0] * 32 + cell[:, 1], 1024).reshape(32, 32)


def cells_numpy(p: Any) -> Any:
    """The same in NumPy."""
    c = np.clip(np.floor(p * 32).astype("i4"), 0, 31)
    return np.bincount(c[:, 0] * 32 + c[:, 1], minlength=1024).reshape(32, 32)


def cells_torch(torch: Any, p: Any) -> Any:
    """The same in torch."""
    c = (p * 32).floor().int().clamp(0, 31)
    return torch.bincount(c[:, 0] * 32 + c[:, 1], minlength=1024).reshape(32, 32)


def xor_torch(torch: Any, x: Any) -> Any:
    """By doubling: torch has no scan of xor."""
    n, step = len(x), 1
    while step < n:
        x = torch.cat([x[:step], x[step:] ^ x[:-step]])
        step *= 2
    return x


PROGRAMS = (
    Unseen(
        "byte_histogram",
        byte_histogram,
        (10, 12),
        (8192, 16384),
        lambda x: np.bincount(x.ravel(), minlength=256),
        lambda torch, x: torch.bincount(x.ravel(), minlength=256),
        bytes_of("x"),
    ),
    Unseen(
        "hamming_pairs",
        hamming_pairs,
        (7, 9, 4),
        (4096, 4096, 8),
        hamming_numpy,
        hamming_torch,
        lambda rng, n, m, words: {"a": ints(rng, FULL, 2**31, n, words), "b": ints(rng, FULL, 2**31, m, words)},
    ),
    Unseen(
        "gray_code_bits",
        gray_bits,
        (100,),
        (1 << 26,),
        gray_numpy,
        gray_torch,
        lambda rng, n: {"x": ints(rng, FULL, 2**31, n)},
    ),
    Unseen(
        "morton_codes",
        morton,
        (100,),
        (1 << 26,),
        lambda x, y: spread_bits(x) | (spread_bits(y) << 1),
        lambda torch, x, y: spread_bits(x) | (spread_bits(y) << 1),
        lambda rng, n: {"x": ints(rng, 0, 32768, n), "y": ints(rng, 0, 32768, n)},
    ),
    Unseen(
        "xor_scan",
        xor_scan,
        (100,),
        (1 << 25,),
        lambda x: np.bitwise_xor.accumulate(x),
        lambda torch, x: xor_torch(torch, x),
        lambda rng, n: {"x": ints(rng, 0, 2**31 - 1, n)},
    ),
    Unseen(
        "cell_counts",
        cell_counts,
        (100,),
        (1 << 25,),
        cells_numpy,
        cells_torch,
        lambda rng, n: {"p": uniform(rng, n, 2)},
    ),
)
