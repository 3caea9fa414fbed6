"""All pairs of points: kernels, distances, forces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import egglift as el
from benchmarks.unseen.drawn import normal, of, uniform
from benchmarks.unseen.program import Unseen

f32 = el.f32


def rbf_predict(n: int, m: int, d: int) -> Any:
    """A kernel ridge's prediction: a Gaussian kernel, never stored, times weights."""
    x, y, a = el.array("x", f32, (n, d)), el.array("y", f32, (m, d)), el.array("a", f32, m)
    return x.map(lambda p: (y.map(lambda q: np.exp(-0.05 * ((p - q) ** 2).sum())) * a).sum())


def rbf_numpy(x: Any, y: Any, a: Any) -> Any:
    """The same in NumPy."""
    return np.exp(-0.05 * ((x[:, None] - y[None]) ** 2).sum(2)) @ a


def rbf_torch(torch: Any, x: Any, y: Any, a: Any) -> Any:
    """The same in torch."""
    d = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
    return torch.exp(-0.05 * d) @ a


def laplacian_kernel(n: int, d: int) -> Any:
    """The Laplacian kernel of all pairs: of sums of absolute differences."""
    x, y = el.array("x", f32, (n, d)), el.array("y", f32, (n, d))
    return np.exp(-0.1 * el.norm(x[:, None, :] - y[None, :, :], ord=1, axis=2))


def laplacian_numpy(x: Any, y: Any) -> Any:
    """The same in NumPy."""
    return np.exp(-0.1 * np.abs(x[:, None] - y[None]).sum(2))


def laplacian_torch(torch: Any, x: Any, y: Any) -> Any:
    """The same in torch."""
    return torch.exp(-0.1 * torch.cdist(x, y, p=1))


def jaccard(n: int, d: int) -> Any:
    """Jaccard similarities of rows of 0 and 1."""
    x = el.array("x", f32, (n, d))
    both, counts = x @ x.T, x.sum(axis=1)
    return both / (counts[:, None] + counts - both)


def jaccard_numpy(x: Any) -> Any:
    """The same in NumPy."""
    both, counts = x @ x.T, x.sum(1)
    return both / (counts[:, None] + counts - both)


def chebyshev_nearest(n: int, m: int) -> Any:
    """The nearest of m points by Chebyshev's distance: how far, and which."""
    x, y = el.array("x", f32, (n, 3)), el.array("y", f32, (m, 3))
    distances = np.abs(x[:, None, :] - y).max(axis=2)
    return el.tuple(distances.min(axis=1), distances.argmin(axis=1))


def chebyshev_numpy(x: Any, y: Any) -> Any:
    """The same in NumPy."""
    d = np.abs(x[:, None] - y).max(2)
    return d.min(1), d.argmin(1)


def chebyshev_torch(torch: Any, x: Any, y: Any) -> Any:
    """The same in torch."""
    d, place = torch.cdist(x, y, p=float("inf")).min(1)
    return d, place


def lj_energy(n: int) -> Any:
    """The energy of Lennard-Jones, of all pairs."""
    p = el.array("p", f32, (n, 3))
    places = el.arange(n)

    def pair(q: Any, i: Any, r: Any, j: Any) -> Any:
        d = q - r
        inverse = 1 / el.where(i == j, 1.0, (d * d).sum())
        six = inverse * inverse * inverse
        return el.where(i == j, 0.0, six * six - six)

    return 2 * p.map(lambda q, i: p.map(lambda r, j: pair(q, i, r, j), places).sum(), places).sum()


def lj_numpy(p: Any) -> Any:
    """The same in NumPy."""
    d2 = ((p[:, None] - p) ** 2).sum(2) + np.eye(len(p), dtype="f4")
    six = (1 / d2) ** 3
    return 2 * (six * six - six).sum()


def lj_torch(torch: Any, p: Any) -> Any:
    """The same in torch."""
    d = p[:, None] - p
    d2 = (d * d).sum(2) + torch.eye(len(p), device=p.device)
    inverse = 1 / d2
    six = inverse * inverse * inverse
    return 2 * (six * six - six).sum()


def ray_spheres(n: int, m: int) -> Any:
    """Rays against spheres: the nearest hit of each ray."""
    rays, centres, radii = el.array("rays", f32, (n, 3)), el.array("centres", f32, (m, 3)), el.array("radii", f32, m)

    def hit(ray: Any, centre: Any, radius: Any) -> Any:
        b = (ray * centre).sum()
        under = b * b - (centre * centre).sum() + radius * radius
        t = b - np.sqrt(np.maximum(under, 0))
        return el.where((under > 0) & (t > 0), t, np.inf)

    return rays.map(lambda ray: centres.map(lambda c, r: hit(ray, c, r), radii).min())


def rays_with(rays: Any, centres: Any, radii: Any, sqrt: Any, positive: Any, where: Any) -> Any:
    """The hits of all rays and spheres by functions of a library."""
    b = rays @ centres.T
    under = b * b - (centres * centres).sum(1) + radii * radii
    t = b - sqrt(positive(under))
    return where((under > 0) & (t > 0), t)


def rays_numpy(rays: Any, centres: Any, radii: Any) -> Any:
    """The same in NumPy."""
    return rays_with(
        rays, centres, radii, np.sqrt, lambda v: np.maximum(v, 0), lambda c, t: np.where(c, t, np.inf)
    ).min(1)


def rays_torch(torch: Any, rays: Any, centres: Any, radii: Any) -> Any:
    """The same in torch."""
    return rays_with(rays, centres, radii, torch.sqrt, torch.relu, lambda c, t: t.masked_fill(~c, float("inf"))).amin(1)


def draw_rays(rng: Any, n: int, m: int) -> Any:
    """Rays of length 1, and spheres."""
    rays = normal(rng, n, 3)
    return {
        "rays": (rays / np.linalg.norm(rays, axis=1, keepdims=True)).astype("f4"),
        "centres": 10 * normal(rng, m, 3),
        "radii": 0.5 + uniform(rng, m),
    }


def lattice(rng: Any, n: int) -> Any:
    """Points near those of a cubic lattice, so that no two are very near."""
    side = math.ceil(n ** (1 / 3))
    places = np.stack(np.unravel_index(np.arange(n), (side,) * 3), 1)
    return {"p": (1.2 * places + 0.1 * uniform(rng, n, 3)).astype("f4")}


def jaccard_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    both, counts = x @ x.T, x.sum(1)
    return both / (counts[:, None] + counts - both)


def ranks(n: int) -> Any:
    """Ranks by counting those that are less."""
    x = el.array("x", f32, n)
    return x.map(lambda a: (x < a).sum())


def lj_forces(n: int) -> Any:
    """The forces of Lennard-Jones."""
    p = el.array("p", f32, (n, 3))

    def force(q: Any, r: Any) -> Any:
        d = q - r
        square = (d * d).sum()
        inverse = el.where(square > 0, 1 / el.where(square > 0, square, 1), 0)
        six = inverse * inverse * inverse
        return d * (inverse * six * (48 * six - 24))

    return p.map(lambda q: p.map(lambda r: force(q, r)).sum(axis=0))


def lj_forces_numpy(p: Any) -> Any:
    """The same in NumPy."""
    d = p[:, None] - p
    square = (d * d).sum(2)
    inverse = np.where(square > 0, 1 / np.where(square > 0, square, 1), 0)
    six = inverse**3
    return (d * (inverse * six * (48 * six - 24))[:, :, None]).sum(1)


def lj_forces_torch(torch: Any, p: Any) -> Any:
    """The same in torch."""
    d = p[:, None] - p
    square = (d * d).sum(2)
    inverse = torch.where(
        square > 0, 1 / torch.where(square > 0, square, torch.ones_like(square)), torch.zeros_like(square)
    )
    six = inverse * inverse * inverse
    return (d * (inverse * six * (48 * six - 24))[:, :, None]).sum(1)


def most_similar(n: int, m: int, d: int) -> Any:
    """The most similar of m keys to each query, by cosine."""
    q, k = el.array("q", f32, (n, d)), el.array("k", f32, (m, d))
    keys = k / el.norm(k, axis=1, keepdims=True)
    return (q @ keys.T).argmax(axis=1)


def similar_numpy(q: Any, k: Any) -> Any:
    """The same in NumPy."""
    return (q @ (k / np.linalg.norm(k, axis=1, keepdims=True)).T).argmax(1)


def similar_torch(torch: Any, q: Any, k: Any) -> Any:
    """The same in torch."""
    return (q @ torch.nn.functional.normalize(k, dim=1).T).argmax(1)


PROGRAMS = (
    Unseen(
        "rbf_predict",
        rbf_predict,
        (9, 11, 5),
        (16384, 16384, 16),
        rbf_numpy,
        rbf_torch,
        lambda rng, n, m, d: {"x": normal(rng, n, d), "y": normal(rng, m, d), "a": normal(rng, m)},
        atol=0.05,
    ),
    Unseen("laplacian_kernel", laplacian_kernel, (9, 5), (4096, 32), laplacian_numpy, laplacian_torch, of("x", "y")),
    Unseen(
        "jaccard",
        jaccard,
        (9, 12),
        (4096, 512),
        jaccard_numpy,
        lambda torch, x: jaccard_torch(torch, x),
        lambda rng, n, d: {"x": np.maximum(uniform(rng, n, d) < 0.3, np.arange(d) == 0).astype("f4")},
    ),
    Unseen(
        "chebyshev_nearest",
        chebyshev_nearest,
        (9, 11),
        (32768, 8192),
        chebyshev_numpy,
        chebyshev_torch,
        lambda rng, n, m: {"x": normal(rng, n, 3), "y": normal(rng, m, 3)},
    ),
    Unseen("lennard_jones_energy", lj_energy, (27,), (16384,), lj_numpy, lj_torch, lattice),
    Unseen("ray_spheres", ray_spheres, (20, 9), (1 << 18, 256), rays_numpy, rays_torch, draw_rays, rtol=1e-2),
    Unseen(
        "ranks_by_counting",
        ranks,
        (50,),
        (65536,),
        lambda x: (x < x[:, None]).sum(1),
        lambda torch, x: (x < x[:, None]).sum(1),
        of("x"),
    ),
    Unseen("lennard_jones_forces", lj_forces, (27,), (16384,), lj_forces_numpy, lj_forces_torch, lattice, atol=1e-2),
    Unseen(
        "most_similar",
        most_similar,
        (7, 9, 5),
        (4096, 16384, 128),
        similar_numpy,
        similar_torch,
        lambda rng, n, m, d: {"q": normal(rng, n, d), "k": normal(rng, m, d)},
    ),
)
