"""Contractions of tensors, and products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.unseen.drawn import complexes, ints, normal, of, uniform
from benchmarks.unseen.program import Unseen

f32, i8, i32, u8, c64 = el.f32, el.i8, el.i32, el.u8, el.c64


def mttkrp(i: int, j: int, k: int, r: int) -> Any:
    """MTTKRP: a tensor of three axes times two factors."""
    return el.einsum(
        "ijk,jr,kr->ir", el.array("x", f32, (i, j, k)), el.array("b", f32, (j, r)), el.array("c", f32, (k, r))
    )


def tucker(n: int, r: int) -> Any:
    """A Tucker core: three matrices applied to a tensor."""
    x = el.array("x", f32, (n, n, n))
    a, b, c = (el.array(name, f32, (n, r)) for name in "abc")
    return el.einsum("ijk,ip,jq,kr->pqr", x, a, b, c)


def bilinear_layer(n: int, p: int, q: int, k: int) -> Any:
    """A bilinear layer."""
    x, y, w = el.array("x", f32, (n, p)), el.array("y", f32, (n, q)), el.array("w", f32, (k, p, q))
    return el.einsum("bp,kpq,bq->bk", x, w, y)


def coupled_clusters(o: int, v: int) -> Any:
    """A contraction of coupled clusters: five letters, two summed, axes in other orders."""
    return el.einsum("abcd,ijcd->ijab", el.array("w", f32, (v, v, v, v)), el.array("t", f32, (o, o, v, v)))


def int8_linear(n: int, d: int, k: int) -> Any:
    """i8 weights times i8 inputs, scaled per row."""
    x, w, s = el.array("x", i8, (n, d)), el.array("w", i8, (k, d)), el.array("s", f32, k)
    return (x.astype(i32) @ w.astype(i32).T).astype(f32) * s


def int8_numpy(x: Any, w: Any, s: Any) -> Any:
    """The same in NumPy."""
    return (x.astype("i4") @ w.astype("i4").T).astype("f4") * s


def int8_torch(torch: Any, x: Any, w: Any, s: Any) -> Any:
    """The same in torch."""
    if x.is_cuda:
        return torch._int_mm(x, w.T).float() * s
    return (x.int() @ w.int().T).float() * s


def dequantised_matvec(k: int, d: int) -> Any:
    """Weights of bytes, scaled and shifted per row, times a vector (quantised decoding)."""
    w, s, z, x = el.array("w", u8, (k, d)), el.array("s", f32, k), el.array("z", f32, k), el.array("x", f32, d)
    return ((w.astype(f32) - z[:, None]) * s[:, None]) @ x


def beam_power(beams: int, sensors: int, samples: int) -> Any:
    """Beams: complex weights of sensors times samples, and the mean power over time."""
    w, x = el.array("w", c64, (beams, sensors)), el.array("x", c64, (sensors, samples))
    y = np.conj(w) @ x
    return (y.real**2 + y.imag**2).mean(axis=1)


def beam_numpy(w: Any, x: Any) -> Any:
    """The same in NumPy."""
    return (np.abs(w.conj() @ x) ** 2).mean(1)


def beam_torch(torch: Any, w: Any, x: Any) -> Any:
    """The same in torch."""
    y = w.conj() @ x
    return (y.real.square() + y.imag.square()).mean(1)


def kronecker(n: int, m: int) -> Any:
    """The Kronecker product."""
    return el.kron(el.array("a", f32, (n, n)), el.array("b", f32, (m, m)))


def min_plus(n: int) -> Any:
    """The min-plus product: shortest ways of two steps."""
    a, b = el.array("a", f32, (n, n)), el.array("b", f32, (n, n))
    return el.allpairs(lambda row, column: (row + column).min(), a, b.T)


def min_plus_numpy(a: Any, b: Any) -> Any:
    """The same in NumPy."""
    return (a[:, :, None] + b[None]).min(1)


def min_plus_torch(torch: Any, a: Any, b: Any) -> Any:
    """The same in torch."""
    return (a[:, None, :] + b.T[None]).amin(2)


def ellpack(n: int, k: int) -> Any:
    """A sparse matrix of at most 32 a row (ELLPACK) times a vector."""
    values, columns, x = el.array("values", f32, (n, k)), el.array("columns", i32, (n, k)), el.array("x", f32, n)
    return (values * x[columns]).sum(axis=1)


def householder(n: int, m: int) -> Any:
    """A reflection of Householder applied to a matrix."""
    a, v = el.array("a", f32, (n, m)), el.array("v", f32, n)
    return a - el.outer(v, v @ a) * (2 / (v * v).sum())


def power_step(n: int) -> Any:
    """A step of the power iteration: the vector and its length."""
    y = el.array("a", f32, (n, n)) @ el.array("x", f32, n)
    length = el.norm(y)
    return el.tuple(y / length, length)


def outer_means(b: int, n: int, d: int) -> Any:
    """Second moments of a batch: outer products, averaged."""
    x = el.array("x", f32, (b, n, d))
    return (x[:, :, :, None] * x[:, :, None, :]).mean(axis=1)


def power_torch(torch: Any, a: Any, x: Any) -> Any:
    """A step of the power iteration in torch."""
    y = a @ x
    length = torch.linalg.vector_norm(y)
    return y / length, length


def page_rank(n: int) -> Any:
    """A damped step of PageRank on a dense matrix, and how far it moved."""
    a, r = el.array("a", f32, (n, n)), el.array("r", f32, n)
    after = 0.85 * ((r / a.sum(axis=1)) @ a) + 0.15 / n
    return el.tuple(after, np.abs(after - r).sum())


def page_rank_numpy(a: Any, r: Any) -> Any:
    """The same in NumPy."""
    after = np.float32(0.85) * ((r / a.sum(1)) @ a) + np.float32(0.15 / len(r))
    return after, np.abs(after - r).sum()


def page_rank_torch(torch: Any, a: Any, r: Any) -> Any:
    """The same in torch."""
    after = 0.85 * ((r / a.sum(1)) @ a) + 0.15 / len(r)
    return after, (after - r).abs().sum()


PROGRAMS = (
    Unseen(
        "mttkrp",
        mttkrp,
        (5, 6, 7, 4),
        (512, 256, 256, 32),
        lambda x, b, c: np.einsum("ijk,jr,kr->ir", x, b, c),
        lambda torch, x, b, c: torch.einsum("ijk,jr,kr->ir", x, b, c),
        lambda rng, i, j, k, r: {"x": normal(rng, i, j, k), "b": normal(rng, j, r), "c": normal(rng, k, r)},
        atol=0.05,
    ),
    Unseen(
        "tucker_core",
        tucker,
        (6, 4),
        (256, 32),
        lambda x, a, b, c: np.einsum("ijk,ip,jq,kr->pqr", x, a, b, c, optimize=True),
        lambda torch, x, a, b, c: torch.einsum("ijk,ip,jq,kr->pqr", x, a, b, c),
        lambda rng, n, r: {"x": normal(rng, n, n, n)} | {s: normal(rng, n, r) / 16 for s in "abc"},
        atol=0.05,
    ),
    Unseen(
        "bilinear_layer",
        bilinear_layer,
        (5, 6, 7, 4),
        (1024, 128, 128, 128),
        lambda x, w, y: np.einsum("bp,kpq,bq->bk", x, w, y, optimize=True),
        lambda torch, x, w, y: torch.nn.functional.bilinear(x, y, w),
        lambda rng, n, p, q, k: {"x": normal(rng, n, p), "y": normal(rng, n, q), "w": normal(rng, k, p, q)},
        atol=0.05,
    ),
    Unseen(
        "coupled_clusters",
        coupled_clusters,
        (3, 5),
        (24, 64),
        lambda w, t: np.einsum("abcd,ijcd->ijab", w, t, optimize=True),
        lambda torch, w, t: torch.einsum("abcd,ijcd->ijab", w, t),
        lambda rng, o, v: {"w": normal(rng, v, v, v, v), "t": normal(rng, o, o, v, v)},
        atol=0.05,
    ),
    Unseen(
        "int8_linear",
        int8_linear,
        (8, 16, 12),
        (2048, 2048, 2048),
        int8_numpy,
        int8_torch,
        lambda rng, n, d, k: {
            "x": ints(rng, -128, 128, n, d, dtype="i1"),
            "w": ints(rng, -128, 128, k, d, dtype="i1"),
            "s": uniform(rng, k),
        },
    ),
    Unseen(
        "dequantised_matvec",
        dequantised_matvec,
        (8, 16),
        (16384, 16384),
        lambda w, s, z, x: ((w.astype("f4") - z[:, None]) * s[:, None]) @ x,
        lambda torch, w, s, z, x: ((w.float() - z[:, None]) * s[:, None]) @ x,
        lambda rng, k, d: {
            "w": ints(rng, 0, 256, k, d, dtype="u1"),
            "s": uniform(rng, k) / 100,
            "z": 128 * uniform(rng, k),
            "x": normal(rng, d),
        },
        atol=0.02,
    ),
    Unseen(
        "beam_power",
        beam_power,
        (4, 5, 20),
        (128, 64, 131072),
        beam_numpy,
        beam_torch,
        lambda rng, b, s, n: {"w": complexes(rng, b, s), "x": complexes(rng, s, n)},
    ),
    Unseen(
        "kronecker",
        kronecker,
        (4, 5),
        (128, 80),
        np.kron,
        lambda torch, a, b: torch.kron(a, b),
        lambda rng, n, m: {"a": normal(rng, n, n), "b": normal(rng, m, m)},
    ),
    Unseen(
        "min_plus",
        min_plus,
        (12,),
        (2048,),
        min_plus_numpy,
        min_plus_torch,
        lambda rng, n: {"a": uniform(rng, n, n), "b": uniform(rng, n, n)},
    ),
    Unseen(
        "ellpack_matvec",
        ellpack,
        (30, 5),
        (1 << 20, 32),
        lambda values, columns, x: (values * x[columns]).sum(1),
        lambda torch, values, columns, x: (values * x.index_select(0, columns.view(-1)).view_as(values)).sum(1),
        lambda rng, n, k: {"values": normal(rng, n, k), "columns": ints(rng, 0, n, n, k), "x": normal(rng, n)},
    ),
    Unseen(
        "householder",
        householder,
        (20, 12),
        (8192, 8192),
        lambda a, v: a - np.outer(v, v @ a) * (2 / (v * v).sum()),
        lambda torch, a, v: a - torch.outer(v, v @ a) * (2 / (v * v).sum()),
        lambda rng, n, m: {"a": normal(rng, n, m), "v": normal(rng, n)},
    ),
    Unseen(
        "power_step",
        power_step,
        (20,),
        (12288,),
        lambda a, x: (a @ x / np.linalg.norm(a @ x), np.linalg.norm(a @ x)),
        lambda torch, a, x: power_torch(torch, a, x),
        lambda rng, n: {"a": normal(rng, n, n), "x": normal(rng, n)},
    ),
    Unseen(
        "outer_means",
        outer_means,
        (2, 9, 5),
        (64, 4096, 64),
        lambda x: np.einsum("bni,bnj->bij", x, x) / x.shape[1],
        lambda torch, x: torch.einsum("bni,bnj->bij", x, x) / x.shape[1],
        of("x"),
    ),
    Unseen(
        "page_rank",
        page_rank,
        (15,),
        (12288,),
        page_rank_numpy,
        page_rank_torch,
        lambda rng, n: {"a": 0.1 + uniform(rng, n, n), "r": np.full(n, 1 / n, "f4")},
        atol=1e-6,
    ),
)
