"""Programs of chemistry, biology, geostatistics, signals and of data by groups."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.unseen.drawn import ints, normal, of, uniform
from benchmarks.unseen.program import Unseen

f32, i32 = el.f32, el.i32
BINS = 32  # of distances


def one_hot_sums(n: int, k: int) -> Any:
    """The sums of the weights of each of k classes, by one-hot rows."""
    i, w = el.array("i", i32, n), el.array("w", f32, n)
    return np.where(i[:, None] == el.arange(k, dtype=i32), w[:, None], 0).sum(axis=0)


def one_hot_torch(torch: Any, i: Any, w: Any) -> Any:
    """The same in torch, for as many classes as there are."""
    return torch.bincount(i, w.double(), 1).float()


def classes(rng: np.random.Generator, n: int, k: int) -> Any:
    """Classes, all of which there are, and weights."""
    i = ints(rng, 0, k, n)
    i[:k] = np.arange(k)
    return {"i": i, "w": normal(rng, n)}


def group_centre(n: int, k: int) -> Any:
    """Values less the mean of their group."""
    g, v = el.array("g", i32, n), el.array("v", f32, n)
    hot = g[:, None] == el.arange(k, dtype=i32)
    means = np.where(hot, v[:, None], 0).sum(axis=0) / np.maximum(hot.sum(axis=0, dtype=f32), 1)
    return v - means[g]


def centre_numpy(g: Any, v: Any) -> Any:
    """The same in NumPy."""
    return v - (np.bincount(g, v) / np.maximum(np.bincount(g), 1))[g]


def centre_torch(torch: Any, g: Any, v: Any) -> Any:
    """The same in torch."""
    return v - (torch.bincount(g, v.double()) / torch.bincount(g).clamp(min=1)).float()[g.long()]


def variogram(n: int) -> Any:
    """Squared differences of all pairs of samples, added up by their distance."""
    q, z = el.array("q", f32, (n, 2)), el.array("z", f32, n)
    d = q[:, None, :] - q[None, :, :]
    lag = (np.sqrt((d * d).sum(axis=2)) * (BINS / 2)).astype(i32)
    squares = (z[:, None] - z) ** 2
    return np.where(lag[:, :, None] == el.arange(BINS, dtype=i32), squares[:, :, None], 0).sum(axis=(0, 1))


def variogram_of(q: Any, z: Any, sqrt: Any, counted: Any) -> Any:
    """The same, by functions of a library."""
    d = q[:, None, :] - q[None, :, :]
    lag = sqrt((d * d).sum(2)) * (BINS / 2)
    return counted(lag.reshape(-1), ((z[:, None] - z) ** 2).reshape(-1))


def samples(rng: np.random.Generator, n: int) -> Any:
    """Places in a square, and what is measured there."""
    return {"q": uniform(rng, n, 2), "z": normal(rng, n)}


def biquads(t: int, c: int) -> Any:
    """A filter of the second order for each channel, and how its output changes."""
    x = el.array("x", f32, (t, c))
    zero = 0 * x[0]

    def step(s: Any, v: Any) -> Any:
        y = 0.2 * v + s[0]
        return el.tuple(0.4 * v + 0.5 * y + s[1], 0.2 * v - 0.3 * y)

    states = el.unzip(el.accumulate(step, el.tuple(zero, zero), x))[0]
    return states[1:] - states[:-1]


def biquads_of(x: Any, stack: Any) -> Any:
    """The same, by a library's `stack`."""
    a = b = 0 * x[0]
    states = []
    for v in x:
        y = 0.2 * v + a
        a, b = 0.4 * v + 0.5 * y + b, 0.2 * v - 0.3 * y
        states.append(a)
    whole = stack(states)
    return whole[1:] - whole[:-1]


def style_loss(n: int, c: int, s: int) -> Any:
    """How far the Gram matrices of two images' features are apart."""
    a, b = el.array("a", f32, (n, c, s)), el.array("b", f32, (n, c, s))
    return (((a @ np.swapaxes(a, 1, 2) - b @ np.swapaxes(b, 1, 2)) / s) ** 2).sum(axis=(1, 2))


def style_numpy(a: Any, b: Any) -> Any:
    """The same in NumPy."""
    return (((a @ a.swapaxes(1, 2) - b @ b.swapaxes(1, 2)) / a.shape[2]) ** 2).sum((1, 2))


def style_torch(torch: Any, a: Any, b: Any) -> Any:
    """The same in torch."""
    return style_numpy(a, b)


def falls(z: Any, stack: Any) -> Any:
    """How far it goes down to each of eight neighbours, by a library's `stack`."""
    c, (h, w) = z[1:-1, 1:-1], z.shape
    around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    return stack([(c - z[1 + i : h - 1 + i, 1 + j : w - 1 + j]) / (1.41421 if i and j else 1.0) for i, j in around])


def flow(h: int, w: int) -> Any:
    """Which of its eight neighbours the water of each place runs to."""
    return falls(el.array("z", f32, (h, w)), lambda parts: np.stack(parts, axis=0)).argmax(axis=0)


def slopes(z: Any) -> Any:
    """The normals of a field of heights, not yet of length 1."""
    gx, gy = (z[1:-1, 2:] - z[1:-1, :-2]) / 2, (z[2:, 1:-1] - z[:-2, 1:-1]) / 2
    return -gx, -gy, 1 + 0 * gx


def height_normals(h: int, w: int) -> Any:
    """The normals of a field of heights."""
    n = np.stack(slopes(el.array("z", f32, (h, w))), axis=2)
    return n / np.sqrt((n * n).sum(axis=2, keepdims=True))


def normals_numpy(z: Any) -> Any:
    """The same in NumPy."""
    n = np.stack(slopes(z), axis=2)
    return n / np.linalg.norm(n, axis=2, keepdims=True)


def normals_torch(torch: Any, z: Any) -> Any:
    """The same in torch."""
    return torch.nn.functional.normalize(torch.stack(slopes(z), dim=2), dim=2)


def relevance(x: Any, a: Any, scale: Any, exp: Any) -> Any:
    """The gradient of a kernel's likelihood by the scale of each feature, by a library's `exp`."""
    e = (x[:, None, :] - x[None, :, :]) * scale
    k = exp(-0.5 * (e * e).sum(2)) * (a[:, None] * a)
    return (k[:, :, None] * e * e).sum((0, 1))


def ard_gradient(n: int, d: int) -> Any:
    """The gradient of a kernel's likelihood by the scale of each feature."""
    x, a, scale = el.array("x", f32, (n, d)), el.array("a", f32, n), el.array("scale", f32, d)
    e = (x[:, None, :] - x[None, :, :]) * scale
    k = np.exp(-0.5 * (e * e).sum(axis=2)) * (a[:, None] * a)
    return (k[:, :, None] * e * e).sum(axis=(0, 1))


def biased_softmax(b: int, h: int, n: int, buckets: int) -> Any:
    """Scores with a bias for each bucket of distances, as shares."""
    s, t = el.array("s", f32, (b, h, n, n)), el.array("t", f32, (h, buckets))
    x = s + t[:, el.array("k", i32, (n, n))]
    e = np.exp(x - x.max(axis=3, keepdims=True))
    return e / e.sum(axis=3, keepdims=True)


def biased_numpy(s: Any, t: Any, k: Any) -> Any:
    """The same in NumPy."""
    x = s + t[:, k]
    e = np.exp(x - x.max(3, keepdims=True))
    return e / e.sum(3, keepdims=True)


def contacts(n: int) -> Any:
    """How many atoms are near each, and the sum of their places."""
    r = el.array("r", f32, (n, 3))
    d = r[:, None, :] - r[None, :, :]
    near = (d * d).sum(axis=2) < 0.25
    return el.tuple(near.sum(axis=1), near.astype(f32) @ r)


def contacts_numpy(r: Any) -> Any:
    """The same in NumPy."""
    near = ((r[:, None] - r[None]) ** 2).sum(2) < 0.25
    return near.sum(1), near.astype("f4") @ r


def contacts_torch(torch: Any, r: Any) -> Any:
    """The same in torch."""
    near = ((r[:, None] - r[None]) ** 2).sum(2) < 0.25
    return near.sum(1), near.float() @ r


def normal_equations(n: int, d: int) -> Any:
    """Both sides of weighted least squares."""
    a, w, b = el.array("a", f32, (n, d)), el.array("w", f32, n), el.array("b", f32, n)
    weighted = a * w[:, None]
    return el.tuple(weighted.T @ a, weighted.T @ b)


def equations_numpy(a: Any, w: Any, b: Any) -> Any:
    """The same in NumPy."""
    weighted = a * w[:, None]
    return weighted.T @ a, weighted.T @ b


def harmonics(p: Any, length: Any, stack: Any) -> Any:
    """Nine spherical harmonics of directions, by functions of a library."""
    x, y, z = (p / length(p)).T
    parts = 0.28 + 0 * x, 0.49 * y, 0.49 * z, 0.49 * x, 1.09 * x * y, 1.09 * y * z
    return stack((*parts, 0.32 * (3 * z * z - 1), 1.09 * x * z, 0.55 * (x * x - y * y)))


def sky_light(n: int) -> Any:
    """Nine spherical harmonics of each direction."""
    p = el.array("p", f32, (n, 3))
    return harmonics(p, lambda v: np.sqrt((v * v).sum(axis=1, keepdims=True)), lambda a: np.stack(a, axis=1))


PROGRAMS = (
    Unseen(
        "one_hot_sums",
        one_hot_sums,
        (5000, 12),
        (1 << 24, 256),
        lambda i, w: np.bincount(i, w),
        one_hot_torch,
        classes,
    ),
    Unseen(
        "group_centre",
        group_centre,
        (5000, 12),
        (1 << 22, 512),
        centre_numpy,
        centre_torch,
        lambda rng, n, k: {"g": ints(rng, 0, k, n), "v": normal(rng, n)},
    ),
    Unseen(
        "variogram",
        variogram,
        (70,),
        (8192,),
        lambda q, z: variogram_of(q, z, np.sqrt, lambda lag, s: np.bincount(lag.astype("i4"), s, BINS)),
        lambda torch, q, z: variogram_of(q, z, torch.sqrt, lambda lag, s: torch.bincount(lag.int(), s, BINS)),
        samples,
    ),
    Unseen(
        "biquads",
        biquads,
        (9, 12),
        (4096, 4096),
        lambda x: biquads_of(x, np.stack),
        lambda torch, x: biquads_of(x, torch.stack),
        of("x"),
    ),
    Unseen("style_loss", style_loss, (2, 5, 20), (16, 256, 4096), style_numpy, style_torch, of("a", "b")),
    Unseen(
        "flow_directions",
        flow,
        (9, 11),
        (4096, 4096),
        lambda z: falls(z, np.stack).argmax(0),
        lambda torch, z: falls(z, torch.stack).argmax(0),
        of("z"),
    ),
    Unseen("height_normals", height_normals, (9, 11), (4096, 4096), normals_numpy, normals_torch, of("z")),
    Unseen(
        "ard_gradient",
        ard_gradient,
        (30, 4),
        (4096, 8),
        lambda x, a, scale: relevance(x, a, scale, np.exp),
        lambda torch, x, a, scale: relevance(x, a, scale, torch.exp),
        lambda rng, n, d: {"x": normal(rng, n, d), "a": normal(rng, n), "scale": uniform(rng, d)},
    ),
    Unseen(
        "biased_softmax",
        biased_softmax,
        (2, 3, 6, 5),
        (64, 12, 512, 64),
        biased_numpy,
        lambda torch, s, t, k: torch.softmax(s + t[:, k.long()], 3),
        lambda rng, b, h, n, buckets: {
            "s": normal(rng, b, h, n, n),
            "t": normal(rng, h, buckets),
            "k": ints(rng, 0, buckets, n, n),
        },
    ),
    Unseen(
        "contacts", contacts, (40,), (16384,), contacts_numpy, contacts_torch, lambda rng, n: {"r": normal(rng, n, 3)}
    ),
    Unseen(
        "normal_equations",
        normal_equations,
        (30, 5),
        (1 << 20, 32),
        equations_numpy,
        lambda torch, a, w, b: equations_numpy(a, w, b),
        lambda rng, n, d: {"a": normal(rng, n, d), "w": uniform(rng, n), "b": normal(rng, n)},
    ),
    Unseen(
        "sky_light",
        sky_light,
        (30,),
        (1 << 22,),
        lambda p: harmonics(p, lambda v: np.linalg.norm(v, axis=1, keepdims=True), lambda a: np.stack(a, axis=1)),
        lambda torch, p: harmonics(p, lambda v: v.norm(dim=1, keepdim=True), lambda a: torch.stack(a, dim=1)),
        lambda rng, n: {"p": normal(rng, n, 3)},
    ),
)
