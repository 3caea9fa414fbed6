"""Statistics of tables, and places of the greatest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import egglift as el
from benchmarks.unseen.drawn import normal, of, uniform
from benchmarks.unseen.program import Unseen

f32, f64 = el.f32, el.f64


def correlation(n: int, d: int) -> Any:
    """The correlation matrix of columns."""
    x = el.array("x", f32, (n, d))
    centred = x - x.mean(axis=0)
    unit = centred / el.norm(centred, axis=0)
    return unit.T @ unit


def shape_of_columns(n: int, d: int) -> Any:
    """Skewness and kurtosis of columns: two results."""
    x = el.array("x", f32, (n, d))
    c = x - x.mean(axis=0)
    m2, m3, m4 = (c * c).mean(axis=0), (c * c * c).mean(axis=0), (c * c * c * c).mean(axis=0)
    return el.tuple(m3 / m2**1.5, m4 / (m2 * m2) - 3)


def shape_numpy(x: Any) -> Any:
    """The same in NumPy."""
    c = x - x.mean(0)
    m2, m3, m4 = (c * c).mean(0), (c * c * c).mean(0), (c * c * c * c).mean(0)
    return m3 / m2**1.5, m4 / (m2 * m2) - 3


def z_score(n: int, a: int, b: int) -> Any:
    """The z-score along the first axis of a cube, clipped."""
    x = el.array("x", f32, (n, a, b))
    return np.clip((x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6), -3, 3)


def mixture(n: int, k: int, d: int) -> Any:
    """The mean log-likelihood of a Gaussian mixture with diagonal variances."""
    x = el.array("x", f32, (n, d))
    mu, inverse, log_pi = el.array("mu", f32, (k, d)), el.array("inverse", f32, (k, d)), el.array("log_pi", f32, k)
    terms = (
        log_pi + 0.5 * np.log(inverse).sum(axis=1) - 0.5 * el.einsum("nkd,kd->nk", (x[:, None, :] - mu) ** 2, inverse)
    )
    top = terms.max(axis=1)
    return (np.log(np.exp(terms - top[:, None]).sum(axis=1)) + top).mean()


def mixture_numpy(x: Any, mu: Any, inverse: Any, log_pi: Any) -> Any:
    """The same in NumPy."""
    t = log_pi + 0.5 * np.log(inverse).sum(1) - 0.5 * (((x[:, None] - mu) ** 2) * inverse).sum(2)
    top = t.max(1)
    return (np.log(np.exp(t - top[:, None]).sum(1)) + top).mean()


def mixture_torch(torch: Any, x: Any, mu: Any, inverse: Any, log_pi: Any) -> Any:
    """The same in torch."""
    quadratic = (x * x) @ inverse.T - 2 * x @ (mu * inverse).T + (mu * mu * inverse).sum(1)
    return torch.logsumexp(log_pi + 0.5 * inverse.log().sum(1) - 0.5 * quadratic, 1).mean()


def logsumexp_doubles(n: int, d: int) -> Any:
    """The log of the sum of exponentials of each row of f64."""
    x = el.array("x", f64, (n, d))
    top = x.max(axis=1)
    return np.log(np.exp(x - top[:, None]).sum(axis=1)) + top


def logsumexp_numpy(x: Any) -> Any:
    """The same in NumPy."""
    top = x.max(1)
    return np.log(np.exp(x - top[:, None]).sum(1)) + top


def top_two(rows: int, n: int) -> Any:
    """Of each row the greatest, its place, and the second greatest."""
    x = el.array("x", f32, (rows, n))
    better = el.operator(
        lambda a, b: el.tuple(np.maximum(a[0], b[0]), np.maximum(np.minimum(a[0], b[0]), np.maximum(a[1], b[1]))),
        neutral=(-np.inf, -np.inf),
        check=False,
    )
    low = el.literal(np.float32(-np.inf))
    pairs = x.map(lambda row: el.reduce(better, None, row.map(lambda v: el.tuple(v, low))))
    return el.tuple(pairs.map(lambda p: p[0]), x.argmax(axis=1), pairs.map(lambda p: p[1]))


def top_two_numpy(x: Any) -> Any:
    """The same in NumPy."""
    ends = np.sort(x, 1)
    return ends[:, -1], x.argmax(1), ends[:, -2]


def top_two_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    values, places = x.topk(2, 1)
    return values[:, 0], places[:, 0], values[:, 1]


def draw_mixture(rng: Any, n: int, k: int, d: int) -> Any:
    """Points, and means, inverse variances and logarithms of shares of classes."""
    return {
        "x": normal(rng, n, d),
        "mu": normal(rng, k, d),
        "inverse": 0.5 + uniform(rng, k, d),
        "log_pi": np.full(k, -math.log(k), "f4"),
    }


def batcher(n: int) -> list[tuple[int, int]]:
    """The pairs that Batcher's network of n compares."""
    pairs, p = [], 1
    while p < n:
        k = p
        while k >= 1:
            for j in range(k % p, n - k, 2 * k):
                pairs += [
                    (i + j, i + j + k) for i in range(min(k, n - j - k)) if (i + j) // (2 * p) == (i + j + k) // (2 * p)
                ]
            k //= 2
        p *= 2
    return pairs


def network(columns: list[Any], low: Any, high: Any) -> list[Any]:
    """The columns, sorted by the network."""
    for a, b in batcher(len(columns)):
        columns[a], columns[b] = low(columns[a], columns[b]), high(columns[a], columns[b])
    return columns


def sort_rows(n: int, k: int) -> Any:
    """Rows of 16 sorted by Batcher's network."""
    x = el.array("x", f32, (n, k))
    return x.map(lambda row: el.stack(network([row[i] for i in range(k)], np.minimum, np.maximum)))


def sort_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    return torch.sort(x, 1).values


def peaks(n: int, d: int) -> Any:
    """The greatest of each row and where it is, with a margin to the mean."""
    x = el.array("x", f32, (n, d))
    top = x.max(axis=1)
    return el.tuple(top, x.argmax(axis=1), top - x.mean(axis=1))


def batch_covariance(b: int, c: int, t: int) -> Any:
    """Covariances of batches of signals."""
    x = el.array("x", f32, (b, c, t))
    y = x - x.mean(axis=2, keepdims=True)
    return el.einsum("bit,bjt->bij", y, y) / (t - 1)


def batch_covariance_numpy(x: Any) -> Any:
    """The same in NumPy."""
    y = x - x.mean(2, keepdims=True)
    return y @ y.swapaxes(1, 2) / (x.shape[2] - 1)


def batch_covariance_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    y = x - x.mean(2, keepdim=True)
    return y @ y.transpose(1, 2) / (x.shape[2] - 1)


def kmeans_step(n: int, k: int, d: int) -> Any:
    """A step of k-means: the means of the nearest, by one-hot products."""
    x, c = el.array("x", f32, (n, d)), el.array("c", f32, (k, d))
    place = ((c * c).sum(axis=1) - 2 * (x @ c.T)).argmin(axis=1)
    member = (place[:, None] == el.arange(k)).astype(f32)
    return (member.T @ x) / np.maximum(member.sum(axis=0), 1)[:, None]


def kmeans_numpy(x: Any, c: Any) -> Any:
    """The same in NumPy."""
    place = ((c * c).sum(1) - 2 * (x @ c.T)).argmin(1)
    member = (place[:, None] == np.arange(len(c))).astype("f4")
    return (member.T @ x) / np.maximum(member.sum(0), 1)[:, None]


def kmeans_torch(torch: Any, x: Any, c: Any) -> Any:
    """The same in torch."""
    place = ((c * c).sum(1) - 2 * (x @ c.T)).argmin(1)
    member = torch.nn.functional.one_hot(place, len(c)).float()
    return (member.T @ x) / member.sum(0).clamp(min=1)[:, None]


PROGRAMS = (
    Unseen(
        "correlation",
        correlation,
        (30, 7),
        (65536, 256),
        lambda x: np.corrcoef(x.T),
        lambda torch, x: torch.corrcoef(x.T),
        lambda rng, n, d: {"x": normal(rng, n, d)},
    ),
    Unseen(
        "skewness_kurtosis",
        shape_of_columns,
        (50, 7),
        (65536, 1024),
        shape_numpy,
        lambda torch, x: shape_numpy(x),
        lambda rng, n, d: {"x": normal(rng, n, d)},
    ),
    Unseen(
        "z_score_cube",
        z_score,
        (12, 5, 6),
        (64, 512, 1024),
        lambda x: np.clip((x - x.mean(0)) / (x.std(0) + 1e-6), -3, 3),
        lambda torch, x: ((x - x.mean(0)) / (x.std(0, unbiased=False) + 1e-6)).clamp(-3, 3),
        of("x"),
    ),
    Unseen("mixture_likelihood", mixture, (20, 4, 5), (131072, 64, 32), mixture_numpy, mixture_torch, draw_mixture),
    Unseen(
        "logsumexp_doubles",
        logsumexp_doubles,
        (9, 20),
        (8192, 8192),
        logsumexp_numpy,
        lambda torch, x: torch.logsumexp(x, 1),
        lambda rng, n, d: {"x": rng.normal(size=(n, d))},
        rtol=1e-10,
        atol=1e-10,
    ),
    Unseen("top_two", top_two, (6, 20), (16384, 8192), top_two_numpy, top_two_torch, of("x")),
    Unseen(
        "sort_rows_16",
        sort_rows,
        (9, 16),
        (1 << 21, 16),
        lambda x: np.sort(x, 1),
        sort_torch,
        lambda rng, n, k: {"x": normal(rng, n, k)},
    ),
    Unseen(
        "peaks",
        peaks,
        (9, 21),
        (16384, 8192),
        lambda x: (x.max(1), x.argmax(1), x.max(1) - x.mean(1)),
        lambda torch, x: (*x.max(1), x.amax(1) - x.mean(1)),
        of("x"),
    ),
    Unseen(
        "batch_covariance",
        batch_covariance,
        (3, 5, 20),
        (256, 64, 4096),
        batch_covariance_numpy,
        batch_covariance_torch,
        of("x"),
    ),
    Unseen(
        "kmeans_step",
        kmeans_step,
        (30, 4, 3),
        (262144, 64, 64),
        kmeans_numpy,
        kmeans_torch,
        lambda rng, n, k, d: {"x": normal(rng, n, d), "c": normal(rng, k, d)},
    ),
)
