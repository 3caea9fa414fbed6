"""Kernels in Triton, written anew as its tutorials teach: rows, products of matrices, attention.  f32 stays f32.

Imported only where torch and triton are.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl

#: tiles of a product: rows, columns, elements of the sum at a time, warps, stages
TILES = (
    (128, 128, 16, 8, 3),
    (128, 64, 16, 4, 3),
    (64, 128, 16, 4, 3),
    (64, 64, 16, 4, 3),
    (128, 128, 32, 8, 2),
    (64, 64, 32, 4, 2),
    (32, 64, 32, 4, 2),
)
#: rows of queries and of keys at a time, warps, stages
BLOCKS = ((64, 64, 4, 2), (64, 32, 4, 2), (128, 32, 8, 2), (32, 64, 4, 2))


@triton.jit
def _softmax(x, out, columns, LOG: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """A program of a row: its exponentials over their sum, or the logarithm of that."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    values = values - tl.max(values, axis=0)
    powers = tl.exp(values)
    total = tl.sum(powers, axis=0)
    result = values - tl.log(total) if LOG else powers / total
    tl.store(out + row * columns + at, result, mask=at < columns)


@triton.jit
def _layer_norm(x, out, columns, epsilon, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """A program of a row: less its mean, over its deviation."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    apart = tl.where(at < columns, values - mean, 0.0)
    variance = tl.sum(apart * apart, axis=0) / columns
    tl.store(out + row * columns + at, apart / tl.sqrt(variance + epsilon), mask=at < columns)


@triton.autotune(
    configs=[
        triton.Config({"M": m, "N": n, "K": k, "GROUP": 8}, num_warps=warps, num_stages=stages)
        for m, n, k, warps, stages in TILES
    ],
    key=["rows", "columns", "inner"],
)
@triton.jit
def _product(  # type: ignore[no-untyped-def]
    a, b, out, bias, rest,
    rows, columns, inner,
    a_batch, a_row, a_column, b_batch, b_row, b_column,
    ACTIVATION: tl.constexpr, BIAS: tl.constexpr, REST: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """A program of a tile of a product; tiles are taken by groups of rows, whose operands stay in the cache."""
    place, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    across, down = tl.cdiv(columns, N), tl.cdiv(rows, M)
    group = place // (GROUP * across)
    first = group * GROUP
    high = min(down - first, GROUP)
    tile_row = first + (place % (GROUP * across)) % high
    tile_column = (place % (GROUP * across)) // high
    i, j = tile_row * M + tl.arange(0, M), tile_column * N + tl.arange(0, N)
    k = tl.arange(0, K)
    left = a + batch * a_batch + i[:, None] * a_row + k[None, :] * a_column
    right = b + batch * b_batch + k[:, None] * b_row + j[None, :] * b_column
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, inner, K):
        more = inner - start
        x = tl.load(left, mask=(i[:, None] < rows) & (k[None, :] < more), other=0.0)
        y = tl.load(right, mask=(k[:, None] < more) & (j[None, :] < columns), other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
        left += K * a_column
        right += K * b_row
    if BIAS:
        total += tl.load(bias + j, mask=j < columns, other=0.0)[None, :]
    if ACTIVATION == "relu":
        total = tl.maximum(total, 0.0)
    if ACTIVATION == "square":
        total = total * total
    if ACTIVATION == "gelu":
        total = 0.5 * total * (1.0 + tl.erf(total * 0.7071067811865476))
    at = batch * rows * columns + i[:, None].to(tl.int64) * columns + j[None, :]
    inside = (i[:, None] < rows) & (j[None, :] < columns)
    if REST:
        total += tl.load(rest + at, mask=inside, other=0.0)
    tl.store(out + at, total, mask=inside)


@triton.autotune(
    configs=[triton.Config({"M": m, "N": n}, num_warps=warps, num_stages=stages) for m, n, warps, stages in BLOCKS],
    key=["queries", "keys", "D"],
)
@triton.jit
def _attention(  # type: ignore[no-untyped-def]
    q, k, v, out, queries, keys, depth, scale, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    """A program of M queries of a head: keys go by in blocks of N, the sum so far scaled as the maximum grows."""
    head = tl.program_id(1).to(tl.int64)
    i, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    at = head * queries * depth + i[:, None] * depth + d[None, :]
    inside = (i[:, None] < queries) & (d[None, :] < depth)
    x = tl.load(q + at, mask=inside, other=0.0)
    top = tl.full((M,), -float("inf"), dtype=tl.float32)
    whole = tl.zeros((M,), dtype=tl.float32)
    total = tl.zeros((M, D), dtype=tl.float32)
    for start in range(0, keys, N):
        j = start + tl.arange(0, N)
        there = head * keys * depth + j[:, None] * depth + d[None, :]
        filled = (j[:, None] < keys) & (d[None, :] < depth)
        scores = tl.dot(x, tl.trans(tl.load(k + there, mask=filled, other=0.0)), input_precision="ieee") * scale
        scores = tl.where(j[None, :] < keys, scores, -float("inf"))
        larger = tl.maximum(top, tl.max(scores, axis=1))
        powers = tl.exp(scores - larger[:, None])
        shrink = tl.exp(top - larger)
        whole = whole * shrink + tl.sum(powers, axis=1)
        values = tl.load(v + there, mask=filled, other=0.0)
        total = tl.dot(powers, values, total * shrink[:, None], input_precision="ieee")
        top = larger
    tl.store(out + at, total / whole[:, None], mask=inside)


def softmax(x: Any, log: bool = False) -> Any:
    """Of each row of a matrix."""
    out, (rows, columns) = torch.empty_like(x), x.shape
    block = triton.next_power_of_2(columns)
    _softmax[(rows,)](x, out, columns, LOG=log, BLOCK=block, num_warps=_warps(block))
    return out


def layer_norm(x: Any, epsilon: float = 1e-5) -> Any:
    """Of each row of a matrix, without weights."""
    out, (rows, columns) = torch.empty_like(x), x.shape
    block = triton.next_power_of_2(columns)
    _layer_norm[(rows,)](x, out, columns, epsilon, BLOCK=block, num_warps=_warps(block))
    return out


def product(a: Any, b: Any, activation: str = "", bias: Any = None, rest: Any = None) -> Any:
    """`activation (a b + bias) + rest` of matrices, or of as many of them; activation: "", relu, square, gelu."""
    rows, inner = a.shape[-2:]
    columns, count = b.shape[-1], a.shape[0] if a.ndim == 3 else 1
    out = torch.empty((*a.shape[:-2], rows, columns), device=a.device, dtype=a.dtype)
    strides = [(x.stride(0) if x.ndim == 3 else 0, *x.stride()[-2:]) for x in (a, b)]

    def grid(chosen: dict[str, int]) -> tuple[int, int]:
        return triton.cdiv(rows, chosen["M"]) * triton.cdiv(columns, chosen["N"]), count

    nothing = out  # read by nobody
    _product[grid](
        a, b, out, nothing if bias is None else bias, nothing if rest is None else rest,
        rows, columns, inner, *strides[0], *strides[1],
        ACTIVATION=activation, BIAS=bias is not None, REST=rest is not None,
    )  # fmt: skip
    return out


def attention(q: Any, k: Any, v: Any) -> Any:
    """`softmax (q k^T / sqrt d) v`, of each head of each element of a batch, or of one."""
    *heads, queries, depth = q.shape
    count, out = math.prod(heads), torch.empty_like(q)

    def grid(chosen: dict[str, int]) -> tuple[int, int]:
        return triton.cdiv(queries, chosen["M"]), count

    whole = max(16, triton.next_power_of_2(depth))
    _attention[grid](q, k, v, out, queries, k.shape[-2], depth, depth**-0.5, D=whole)
    return out


def _warps(block: int) -> int:
    """Warps for a row: one for 256 elements, up to 16."""
    return max(1, min(16, block // 256))
