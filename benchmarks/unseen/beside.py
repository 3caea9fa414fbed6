"""Results of unlike shape over one array: sums along either axis, elements and their sums, sums by keys."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.unseen.drawn import ints, normal, of, uniform
from benchmarks.unseen.program import Unseen

f32, i32 = el.f32, el.i32
GROUPS = 256  # keys; others are no group's


def margins(n: int, d: int) -> Any:
    """Sums of the columns and of the rows of a table of frequencies, and its total: three results."""
    x = el.array("x", f32, (n, d))
    return el.tuple(x.sum(axis=0), x.sum(axis=1), x.sum())


def both_products(n: int, d: int) -> Any:
    """A matrix and its transpose, each times a vector: a step of biconjugate gradients."""
    x, v, w = el.array("x", f32, (n, d)), el.array("v", f32, d), el.array("w", f32, n)
    return el.tuple(x @ v, x.T @ w)


def activation_statistics(n: int, d: int) -> Any:
    """A layer's activations, their means and their largest values of each feature: three results."""
    y = el.maximum(el.array("x", f32, (n, d)), 0)
    return el.tuple(y, y.mean(axis=0), y.max(axis=0))


def quantised_rows(n: int, d: int) -> Any:
    """Rows in i8, and their norms."""
    x = el.array("x", f32, (n, d))
    return el.tuple((x * 16).cast(el.i8), el.sqrt((x * x).sum(axis=1)))


def residual_update(n: int) -> Any:
    """The residual after a step of conjugate gradients, and its square."""
    r, q, a = el.array("r", f32, n), el.array("q", f32, n), el.scalar("a", f32)
    new = r - a * q
    return el.tuple(new, (new * new).sum())


def log_returns(n: int) -> Any:
    """Logarithmic returns of prices, and the sum of their squares."""
    x = el.array("x", f32, n)
    r = np.log(x[1:] / x[:-1])
    return el.tuple(r, (r * r).sum())


def log_returns_numpy(x: Any) -> Any:
    """The same in NumPy."""
    r = np.log(x[1:] / x[:-1])
    return r, (r * r).sum(dtype="f8").astype("f4")


def power_spectrum(n: int) -> Any:
    """The logarithm of the power of a signal's coefficients, all power, and the largest: three results."""
    re, im = el.array("re", f32, n), el.array("im", f32, n)
    power = re * re + im * im
    return el.tuple(np.log1p(power), power.sum(), power.max())


def spectrum_numpy(re: Any, im: Any) -> Any:
    """The same in NumPy."""
    power = re * re + im * im
    return np.log1p(power), power.sum(dtype="f8").astype("f4"), power.max()


def projections(a: int, b: int, c: int) -> Any:
    """A volume from three sides: the largest along the first axis, means along the second, sums along the third."""
    v = el.array("v", f32, (a, b, c))
    return el.tuple(v.max(axis=0), v.mean(axis=1), v.sum(axis=2))


def group_means(n: int) -> Any:
    """Means of values by key, of which some are no group's, and how many each group has."""
    key, v = el.array("key", i32, n), el.array("v", f32, n)
    sums = el.where(key[:, None] == el.arange(GROUPS, dtype=i32), v[:, None], 0).sum(axis=0)
    counts = el.bincount(key, GROUPS)
    return el.tuple(sums / el.maximum(counts, 1).cast(f32), counts)


def group_means_numpy(key: Any, v: Any) -> Any:
    """The same in NumPy."""
    counts = np.bincount(key[key < GROUPS], minlength=GROUPS)
    return (np.bincount(key[key < GROUPS], v[key < GROUPS], GROUPS) / np.maximum(counts, 1)).astype("f4"), counts


def group_means_torch(torch: Any, key: Any, v: Any) -> Any:
    """The same in torch."""
    counts = torch.bincount(key, minlength=GROUPS + 2)[:GROUPS]
    return torch.zeros(GROUPS + 2, device=v.device).index_add_(0, key, v)[:GROUPS] / counts.clamp(1), counts


def group_deviations(n: int) -> Any:
    """Means and variances of values by key."""
    key, v = el.array("key", i32, n), el.array("v", f32, n)
    hot = key[:, None] == el.arange(GROUPS, dtype=i32)
    sums, squares = (el.where(hot, x[:, None], 0).sum(axis=0) for x in (v, v * v))
    counts = el.maximum(el.bincount(key, GROUPS), 1).cast(f32)
    return el.tuple(sums / counts, squares / counts - (sums / counts) ** 2)


def deviations_numpy(key: Any, v: Any) -> Any:
    """The same in NumPy."""
    own, x = key[key < GROUPS], v[key < GROUPS].astype("f8")
    counts = np.maximum(np.bincount(own, minlength=GROUPS), 1)
    means = np.bincount(own, x, GROUPS) / counts
    return means.astype("f4"), (np.bincount(own, x * x, GROUPS) / counts - means**2).astype("f4")


def deviations_torch(torch: Any, key: Any, v: Any) -> Any:
    """The same in torch."""
    counts = torch.bincount(key, minlength=GROUPS + 2)[:GROUPS].clamp(1)
    sums, squares = (torch.zeros(GROUPS + 2, device=v.device).index_add_(0, key, x)[:GROUPS] for x in (v, v * v))
    return sums / counts, squares / counts - (sums / counts) ** 2


def draw_keys(rng: Any, n: int) -> Any:
    """Keys, of which two are no group's, and values."""
    return {"key": ints(rng, 0, GROUPS + 2, n), "v": normal(rng, n)}


PROGRAMS = (
    Unseen(
        "margins",
        margins,
        (6, 9),
        (8192, 8192),
        lambda x: (x.sum(0), x.sum(1), x.sum(dtype="f8").astype("f4")),
        lambda torch, x: (x.sum(0), x.sum(1), x.sum()),
        of("x"),
    ),
    Unseen(
        "both_products",
        both_products,
        (6, 9),
        (8192, 8192),
        lambda x, v, w: (x @ v, x.T @ w),
        lambda torch, x, v, w: (x @ v, x.T @ w),
        lambda rng, n, d: {"x": normal(rng, n, d), "v": normal(rng, d), "w": normal(rng, n)},
    ),
    Unseen(
        "activation_statistics",
        activation_statistics,
        (9, 6),
        (65536, 1024),
        lambda x: (np.maximum(x, 0), np.maximum(x, 0).mean(0), np.maximum(x, 0).max(0)),
        lambda torch, x: (x.relu(), x.relu().mean(0), x.relu().amax(0)),
        of("x"),
    ),
    Unseen(
        "quantised_rows",
        quantised_rows,
        (6, 9),
        (65536, 1024),
        lambda x: ((x * 16).astype("i1"), np.sqrt((x * x).sum(1))),
        lambda torch, x: ((x * 16).to(torch.int8), (x * x).sum(1).sqrt()),
        lambda rng, n, d: {"x": np.clip(normal(rng, n, d), -7, 7)},
    ),
    Unseen(
        "residual_update",
        residual_update,
        (50,),
        (1 << 26,),
        lambda r, q, a: (r - a * q, ((r - a * q) ** 2).sum(dtype="f8").astype("f4")),
        lambda torch, r, q, a: (r - a * q, (r - a * q).square().sum()),
        lambda rng, n: {"r": normal(rng, n), "q": normal(rng, n), "a": np.float32(0.5)},
    ),
    Unseen(
        "log_returns",
        log_returns,
        (50,),
        (1 << 26,),
        log_returns_numpy,
        lambda torch, x: ((x[1:] / x[:-1]).log(), (x[1:] / x[:-1]).log().square().sum()),
        lambda rng, n: {"x": 0.5 + uniform(rng, n)},
    ),
    Unseen(
        "power_spectrum",
        power_spectrum,
        (50,),
        (1 << 25,),
        spectrum_numpy,
        lambda torch, re, im: (
            torch.log1p(re * re + im * im),
            (re * re + im * im).sum(),
            (re * re + im * im).max(),
        ),
        of("re", "im"),
    ),
    Unseen(
        "projections",
        projections,
        (4, 5, 6),
        (512, 512, 256),
        lambda v: (v.max(0), v.mean(1), v.sum(2)),
        lambda torch, v: (v.amax(0), v.mean(1), v.sum(2)),
        of("v"),
    ),
    Unseen("group_means", group_means, (50,), (1 << 26,), group_means_numpy, group_means_torch, draw_keys),
    Unseen("group_deviations", group_deviations, (50,), (1 << 26,), deviations_numpy, deviations_torch, draw_keys),
)
