"""Programs in what torch, JAX and CuPy share, where NumPy's way is no good peer: by blocks, or in doubles.

Each takes the library and the inputs.  A compiler can make one kernel of each.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import product
from math import pi
from typing import Any

from benchmarks.brought.series import price_of_call
from benchmarks.programs import acoustic, gaussian_blur, gaussian_kernels, nbody, neighbours, srad
from benchmarks.programs import molecular_dynamics as md


def _nbody(xp: Any, x: Any, y: Any, z: Any, mass: Any) -> Any:
    dx, dy, dz = (p[None] - p[:, None] for p in (x, y, z))
    square = dx * dx + dy * dy + dz * dz + nbody.SOFTENING
    strength = mass / (square * xp.sqrt(square))
    return (dx * strength).sum(1), (dy * strength).sum(1), (dz * strength).sum(1)


def _molecular_dynamics(xp: Any, atoms: Any, neighbours: Any) -> Any:
    dx, dy, dz = (p[:, None] - p[neighbours] for p in atoms)
    square = dx * dx + dy * dy + dz * dz
    near = (square > 0) & (square < md.CUTOFF)
    inverse = 1 / xp.where(near, square, 1.0)
    sixth = inverse * inverse * inverse
    strength = xp.where(near, inverse * sixth * (md.REPULSION * sixth - md.ATTRACTION), 0.0)
    return (dx * strength).sum(1), (dy * strength).sum(1), (dz * strength).sum(1)


def _nearest(xp: Any, queries: Any, points: Any) -> Any:
    dx, dy = (q[:, None] - p for q, p in zip(queries, points, strict=True))
    return (dx * dx + dy * dy).argmin(1)


def _kmeans(xp: Any, points: Any, centroids: Any) -> Any:
    d = points[:, None] - centroids
    return (d * d).sum(2).argmin(1)


def _mri_q(xp: Any, kx: Any, ky: Any, kz: Any, phi_r: Any, phi_i: Any, x: Any, y: Any, z: Any) -> Any:
    angle = 2 * pi * (x[:, None] * kx + y[:, None] * ky + z[:, None] * kz)
    weight = phi_r * phi_r + phi_i * phi_i
    return (weight * xp.cos(angle)).sum(1), (weight * xp.sin(angle)).sum(1)


def _gaussian_kernels(xp: Any, x: Any, y: Any, u: Any, v: Any, weight: Any) -> Any:
    dx, dy, hermite = x[:, None] - u, y[:, None] - v, gaussian_kernels.hermite
    value = weight * xp.exp((dx * dx + dy * dy) * -0.5)
    return tuple((value * hermite(i, dx) * hermite(j, dy)).sum(1) for i, j in gaussian_kernels.ORDERS)


def _manhattan(xp: Any, X: Any, Y: Any) -> Any:
    return abs(X[:, None] - Y).sum(2)


def _arg_max(xp: Any, x: Any) -> Any:
    at = x.argmax()
    return x[at], at


def _mean_variance(xp: Any, x: Any) -> Any:
    mean = x.mean()
    return mean, ((x - mean) * (x - mean)).mean()


def _around(xp: Any, x: Any, radius: int = 1, mode: str = "clamp") -> Any:
    """The neighbours of every element, as `neighbours.around` has them: slices of an array with an edge."""
    padded = xp.pad(x, radius, neighbours.NUMPY[mode])
    places = product(range(2 * radius + 1), repeat=x.ndim)
    return {
        tuple(i - radius for i in at): padded[tuple(slice(i, i + n) for i, n in zip(at, x.shape, strict=True))]
        for at in places
    }


def _life(xp: Any, x: Any) -> Any:
    count = sum(_around(xp, x, mode="wrap").values()) - x
    return ((count == 3) | ((count == 2) & (x == 1))) * xp.ones_like(x[:1, :1])


def _blur(variant: str) -> Callable[..., Any]:
    bell = gaussian_blur.weights(variant)
    radius, weights = len(bell) // 2, [float(k) for k in bell.ravel()]
    return lambda xp, x: sum(a * k for a, k in zip(_around(xp, x, radius).values(), weights, strict=True))


def _srad(xp: Any, J: Any, q0sqr: Any) -> Any:
    near = _around(xp, J)
    d = tuple(near[at] - J for at in ((-1, 0), (1, 0), (0, -1), (0, 1)))
    return srad.diffusion(J, d, q0sqr).clip(0.0, 1.0)


def _acoustic(xp: Any, now: Any, before: Any, mask: Any) -> Any:
    near = _around(xp, now, mode="constant")
    inside = mask * xp.ones_like(now[:1, :1, :1])
    later = acoustic.step(now, before, sum(near[at] for at in neighbours.faces(3)), inside)
    return xp.where(mask > 0, later, xp.zeros_like(now[:1, :1, :1]))


#: where a library keeps the error function, if not beside the others
SPECIAL = {"jax.numpy": "jax.scipy.special", "cupy": "cupyx.scipy.special"}


def _erf(xp: Any) -> Any:
    return xp.erf if hasattr(xp, "erf") else import_module(SPECIAL[xp.__name__]).erf


def _black_scholes(xp: Any, v: Any, u: Any) -> Any:
    return price_of_call(v, u, xp.log, _erf(xp))


def _gelu_of_product(xp: Any, X: Any, W: Any) -> Any:
    product = X @ W
    return 0.5 * product * (1 + _erf(xp)(product * 0.5**0.5))


#: by the key of a program
ARRAYS: dict[str, Callable[..., Any]] = {
    "nbody": _nbody,
    "molecular_dynamics": _molecular_dynamics,
    "nearest": _nearest,
    "kmeans": _kmeans,
    "mri_q": _mri_q,
    "gaussian_kernels": _gaussian_kernels,
    "pair_distances-manhattan": _manhattan,
    "arg_max": _arg_max,
    "mean_variance": _mean_variance,
    "game_of_life": _life,
    "gaussian_blur-9": _blur("9"),
    "gaussian_blur-25": _blur("25"),
    "srad-1": _srad,
    "acoustic": _acoustic,
    "brought/black_scholes": _black_scholes,
    "cases/gelu_of_product": _gelu_of_product,
}
