"""Attention of several kinds, and what belongs to it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as windows_of

import egglift as el
from benchmarks.unseen.drawn import ints, normal, uniform
from benchmarks.unseen.program import Unseen

f32, i32 = el.f32, el.i32


def softmax(s: Any) -> Any:
    """Softmax of the last axis."""
    powers = np.exp(s - s.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def causal_attention(b: int, h: int, t: int, d: int) -> Any:
    """Causal attention of several heads."""
    q, k, v = (el.array(name, f32, (b, h, t, d)) for name in "qkv")
    scores = el.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(d)
    seen = el.arange(t)[:, None] >= el.arange(t)
    return el.einsum("bhij,bhjd->bhid", softmax(el.where(seen, scores, -np.inf)), v)


def causal_numpy(q: Any, k: Any, v: Any) -> Any:
    """The same in NumPy."""
    t, d = q.shape[2:]
    scores = q @ k.swapaxes(2, 3) / np.float32(math.sqrt(d))
    return softmax(np.where(np.tril(np.ones((t, t), bool)), scores, np.float32(-np.inf))) @ v


def causal_torch(torch: Any, q: Any, k: Any, v: Any) -> Any:
    """The same in torch."""
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def alibi_gqa(g: int, r: int, t: int, d: int) -> Any:
    """Grouped queries with ALiBi: heads share keys, scores fall with the distance."""
    q = el.array("q", f32, (g, r, t, d))
    k, v, slopes = el.array("k", f32, (g, t, d)), el.array("v", f32, (g, t, d)), el.array("slopes", f32, (g, r))
    places = el.arange(t).astype(f32)
    distance = np.abs(places[:, None] - places)
    scores = el.einsum("grid,gjd->grij", q, k) * (1 / math.sqrt(d)) - slopes[:, :, None, None] * distance
    return el.einsum("grij,gjd->grid", softmax(scores), v)


def alibi_numpy(q: Any, k: Any, v: Any, slopes: Any) -> Any:
    """The same in NumPy."""
    t, d = q.shape[2:]
    distance = np.abs(np.arange(t)[:, None] - np.arange(t)).astype("f4")
    scores = q @ k[:, None].swapaxes(2, 3) * np.float32(1 / math.sqrt(d)) - slopes[:, :, None, None] * distance
    return softmax(scores) @ v[:, None]


def alibi_torch(torch: Any, q: Any, k: Any, v: Any, slopes: Any) -> Any:
    """The same in torch."""
    t = q.shape[2]
    places = torch.arange(t, device=q.device, dtype=torch.float32)
    bias = -slopes[:, :, None, None] * (places[:, None] - places).abs()
    heads = (-1, q.shape[1], -1, -1)
    return torch.nn.functional.scaled_dot_product_attention(
        q, k[:, None].expand(heads), v[:, None].expand(heads), attn_mask=bias
    )


def linear_attention(b: int, h: int, t: int, d: int) -> Any:
    """Linear attention, phi = elu + 1."""
    q, k, v = (el.array(name, f32, (b, h, t, d)) for name in "qkv")

    def phi(x: Any) -> Any:
        return el.where(x > 0, x + 1, np.exp(x))

    state = el.einsum("bhtd,bhte->bhde", phi(k), v)
    norm = el.einsum("bhtd,bhd->bht", phi(q), phi(k).sum(axis=2))
    return el.einsum("bhtd,bhde->bhte", phi(q), state) / norm[:, :, :, None]


def linear_attention_numpy(q: Any, k: Any, v: Any) -> Any:
    """The same in NumPy."""

    def phi(x: Any) -> Any:
        return np.where(x > 0, x + 1, np.exp(x))

    return phi(q) @ (phi(k).swapaxes(2, 3) @ v) / (phi(q) @ phi(k).sum(2)[..., None])


def linear_attention_torch(torch: Any, q: Any, k: Any, v: Any) -> Any:
    """The same in torch."""
    pq, pk = torch.nn.functional.elu(q) + 1, torch.nn.functional.elu(k) + 1
    return pq @ (pk.transpose(2, 3) @ v) / (pq @ pk.sum(2)[..., None])


def rotary(b: int, h: int, t: int, d: int) -> Any:
    """Rotary embedding of queries."""
    x, cos, sin = el.array("x", f32, (b, h, t, d)), el.array("cos", f32, (t, d // 2)), el.array("sin", f32, (t, d // 2))
    first, second = x[..., : d // 2], x[..., d // 2 :]
    return el.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def rotary_numpy(x: Any, cos: Any, sin: Any) -> Any:
    """The same in NumPy."""
    a, b = np.split(x, 2, -1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def rotary_torch(torch: Any, x: Any, cos: Any, sin: Any) -> Any:
    """The same in torch."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def qkv(rng: Any, *shape: int) -> Any:
    """Queries, keys and values of normal numbers."""
    return {name: normal(rng, *shape) for name in "qkv"}


def draw_rotary(rng: Any, b: int, h: int, t: int, d: int) -> Any:
    """Normal numbers, and the cosines and sines of the angles of each place."""
    angles = np.arange(t)[:, None] * 10000.0 ** (-np.arange(d // 2) / (d // 2))
    return {"x": normal(rng, b, h, t, d), "cos": np.cos(angles).astype("f4"), "sin": np.sin(angles).astype("f4")}


def decode(b: int, h: int, t: int, d: int) -> Any:
    """Decoding: one query of each head over a long cache."""
    q, k, v = el.array("q", f32, (b, h, d)), el.array("k", f32, (b, h, t, d)), el.array("v", f32, (b, h, t, d))
    s = el.einsum("bhd,bhtd->bht", q, k) / math.sqrt(d)
    p = np.exp(s - s.max(axis=2, keepdims=True))
    return el.einsum("bht,bhtd->bhd", p, v) / p.sum(axis=2, keepdims=True)


def decode_numpy(q: Any, k: Any, v: Any) -> Any:
    """The same in NumPy."""
    s = np.einsum("bhd,bhtd->bht", q, k) / np.float32(math.sqrt(q.shape[-1]))
    p = np.exp(s - s.max(2, keepdims=True))
    return np.einsum("bht,bhtd->bhd", p, v) / p.sum(2, keepdims=True)


def decode_torch(torch: Any, q: Any, k: Any, v: Any) -> Any:
    """The same in torch."""
    return torch.nn.functional.scaled_dot_product_attention(q[:, :, None], k, v)[:, :, 0]


def pooled_neighbours(n: int, k: int, d: int) -> Any:
    """Sums of each group of rows, weighted by a softmax over them."""
    x, s, ids = el.array("x", f32, (n, d)), el.array("s", f32, (n, k)), el.array("ids", i32, (n, k))
    p = np.exp(s - s.max(axis=1, keepdims=True))
    p = p / p.sum(axis=1, keepdims=True)
    return el.einsum("nk,nkd->nd", p, x[ids])


def neighbours_numpy(x: Any, s: Any, ids: Any) -> Any:
    """The same in NumPy."""
    p = np.exp(s - s.max(1, keepdims=True))
    return np.einsum("nk,nkd->nd", p / p.sum(1, keepdims=True), x[ids])


def neighbours_torch(torch: Any, x: Any, s: Any, ids: Any) -> Any:
    """The same in torch."""
    return (torch.softmax(s, 1)[:, :, None] * torch.nn.functional.embedding(ids, x)).sum(1)


WINDOW = 64


def local_attention(h: int, t: int, d: int) -> Any:
    """Attention to the 64 keys before each query."""
    q, k, v = (el.array(name, f32, (h, t + WINDOW - 1, d)) for name in "qkv")

    def head(a: Any, b: Any, c: Any) -> Any:
        s = el.einsum("td,tjd->tj", a[WINDOW - 1 :], b.slide(WINDOW)) / math.sqrt(d)
        p = np.exp(s - s.max(axis=1, keepdims=True))
        return el.einsum("tj,tjd->td", p / p.sum(axis=1, keepdims=True), c.slide(WINDOW))

    return q.map(head, k, v)


def local_numpy(q: Any, k: Any, v: Any) -> Any:
    """The same in NumPy."""
    kw, vw = windows_of(k, WINDOW, 1), windows_of(v, WINDOW, 1)
    s = np.einsum("htd,htdj->htj", q[:, WINDOW - 1 :], kw) / np.float32(math.sqrt(q.shape[2]))
    p = np.exp(s - s.max(2, keepdims=True))
    return np.einsum("htj,htdj->htd", p / p.sum(2, keepdims=True), vw)


def local_torch(torch: Any, q: Any, k: Any, v: Any) -> Any:
    """The same in torch."""
    t = q.shape[1]
    i = torch.arange(t, device=q.device)
    seen = (i <= i[WINDOW - 1 :, None]) & (i > i[WINDOW - 1 :, None] - WINDOW)
    return torch.nn.functional.scaled_dot_product_attention(q[None, :, WINDOW - 1 :], k[None], v[None], attn_mask=seen)[
        0
    ]


def permute_heads(b: int, t: int, h: int, d: int) -> Any:
    """Heads: axes (b, t, h, d) to (b, h, d, t), scaled and masked."""
    x, mask = el.array("x", f32, (b, t, h, d)), el.array("mask", f32, (b, t))
    return (x * mask[:, :, None, None] * 0.125).transpose(0, 2, 3, 1)


def paged_decode(b: int, pages: int, used: int, page: int, d: int) -> Any:
    """Decoding from a cache of pages."""
    q, table = el.array("q", f32, (b, d)), el.array("table", i32, (b, used))
    k, v = el.array("k", f32, (pages, page, d)), el.array("v", f32, (pages, page, d))

    def one(query: Any, row: Any) -> Any:
        keys, values = k[row].reshape(used * page, d), v[row].reshape(used * page, d)
        s = (keys @ query) / math.sqrt(d)
        p = np.exp(s - s.max())
        return (p @ values) / p.sum()

    return q.map(one, table)


def paged_numpy(q: Any, table: Any, k: Any, v: Any) -> Any:
    """The same in NumPy."""
    b, d = q.shape
    keys, values = k[table].reshape(b, -1, d), v[table].reshape(b, -1, d)
    s = np.einsum("btd,bd->bt", keys, q) / np.float32(math.sqrt(d))
    p = np.exp(s - s.max(1, keepdims=True))
    return np.einsum("bt,btd->bd", p, values) / p.sum(1, keepdims=True)


def paged_torch(torch: Any, q: Any, table: Any, k: Any, v: Any) -> Any:
    """The same in torch."""
    b, d = q.shape
    keys, values = (x[table.long()].reshape(b, -1, d) for x in (k, v))
    p = torch.softmax(torch.einsum("btd,bd->bt", keys, q) / math.sqrt(d), 1)
    return torch.einsum("bt,btd->bd", p, values)


PROGRAMS = (
    Unseen("causal_attention", causal_attention, (2, 2, 12, 8), (2, 16, 1024, 64), causal_numpy, causal_torch, qkv),
    Unseen(
        "alibi_grouped_queries",
        alibi_gqa,
        (2, 3, 10, 8),
        (4, 4, 1024, 64),
        alibi_numpy,
        alibi_torch,
        lambda rng, g, r, t, d: {
            "q": normal(rng, g, r, t, d),
            "k": normal(rng, g, t, d),
            "v": normal(rng, g, t, d),
            "slopes": (2.0 ** -np.arange(1, g * r + 1)).astype("f4").reshape(g, r),
        },
    ),
    Unseen(
        "linear_attention",
        linear_attention,
        (2, 2, 12, 8),
        (4, 16, 4096, 64),
        linear_attention_numpy,
        linear_attention_torch,
        qkv,
    ),
    Unseen("rotary_embedding", rotary, (2, 3, 6, 8), (4, 32, 2048, 128), rotary_numpy, rotary_torch, draw_rotary),
    Unseen(
        "decode_attention",
        decode,
        (2, 3, 20, 8),
        (8, 16, 4096, 64),
        decode_numpy,
        decode_torch,
        lambda rng, b, h, t, d: {"q": normal(rng, b, h, d), "k": normal(rng, b, h, t, d), "v": normal(rng, b, h, t, d)},
    ),
    Unseen(
        "weighted_neighbours",
        pooled_neighbours,
        (20, 5, 6),
        (65536, 32, 64),
        neighbours_numpy,
        neighbours_torch,
        lambda rng, n, k, d: {"x": normal(rng, n, d), "s": normal(rng, n, k), "ids": ints(rng, 0, n, n, k)},
    ),
    Unseen(
        "local_attention_64",
        local_attention,
        (2, 9, 8),
        (16, 2048, 64),
        local_numpy,
        local_torch,
        lambda rng, h, t, d: {s: normal(rng, h, t + WINDOW - 1, d) for s in "qkv"},
    ),
    Unseen(
        "permute_heads",
        permute_heads,
        (2, 5, 3, 4),
        (8, 2048, 16, 128),
        lambda x, mask: (x * mask[:, :, None, None] * np.float32(0.125)).transpose(0, 2, 3, 1),
        lambda torch, x, mask: (x * mask[:, :, None, None] * 0.125).permute(0, 2, 3, 1).contiguous(),
        lambda rng, b, t, h, d: {"x": normal(rng, b, t, h, d), "mask": (uniform(rng, b, t) < 0.8).astype("f4")},
    ),
    Unseen(
        "paged_decode",
        paged_decode,
        (3, 10, 4, 8, 6),
        (256, 8192, 64, 16, 128),
        paged_numpy,
        paged_torch,
        lambda rng, b, pages, used, page, d: {
            "q": normal(rng, b, d),
            "table": ints(rng, 0, pages, b, used),
            "k": normal(rng, pages, page, d),
            "v": normal(rng, pages, page, d),
        },
    ),
)
