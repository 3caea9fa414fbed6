"""All pairs of points: kernels, and the distance of two sets."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.brought.program import Brought, Sizes
from benchmarks.brought.vectors import apart, floats, largest, total


def manhattan_kernel(n: int, d: int) -> Any:
    """`exp(-|p - q|)` by the sum of absolute differences, of all pairs of n and n points."""
    Q = floats("Q", n, d)

    def distance(p: Any, q: Any) -> Any:
        return total(p.map(lambda a, b: el.abs(a - b), q))

    return floats("P", n, d).map(lambda p: Q.map(lambda q: el.exp(-distance(p, q))))


def kernel_sums(n: int, d: int) -> Any:
    """Of each point p the sum of `exp(-|p - q|^2)` over all q, as estimates of a density are."""
    Q = floats("Q", n, d)
    return floats("P", n, d).map(lambda p: total(Q.map(lambda q: el.exp(-apart(p, q)))))


def rbf_matvec(n: int, d: int) -> Any:
    """`K w` for `K[i, j] = exp(-|p_i - q_j|^2 / 2)`, which is not kept."""
    Q, w = floats("Q", n, d), floats("w", n)
    return floats("P", n, d).map(lambda p: total(Q.map(lambda q, a: el.exp(-0.5 * apart(p, q)) * a, w)))


def hausdorff(n: int, d: int) -> Any:
    """How far any p is from the nearest q at most: the directed distance of Hausdorff."""
    Q = floats("Q", n, d)

    def to_nearest(p: Any) -> Any:
        return Q.map(lambda q: apart(p, q)).reduce(el.minimum, float("inf"))

    return el.sqrt(largest(floats("P", n, d).map(to_nearest)))


# ---------------------------------------------------------------------------------------- what they mean


def _apart(P: Any, Q: Any) -> Any:
    """All squared distances, by the products of the points."""
    return np.maximum((P * P).sum(1)[:, None] - 2 * P @ Q.T + (Q * Q).sum(1), 0)


def _manhattan(P: Any, Q: Any) -> Any:
    distances = np.zeros((len(P), len(Q)), P.dtype)
    for p, q in zip(P.T, Q.T):
        distances += np.abs(p[:, None] - q)
    return np.exp(-distances)


def _hausdorff_in_torch(torch: Any, P: Any, Q: Any) -> Any:
    return torch.cdist(P, Q).min(1).values.max()


POINTS = Sizes((10, 5), (512, 16), (4096, 32))
MANY = Sizes((10, 4), (2048, 16), (8192, 16))
PROGRAMS = (
    Brought(manhattan_kernel, POINTS, _manhattan, lambda torch, P, Q: torch.exp(-torch.cdist(P, Q, p=1))),
    Brought(
        kernel_sums,
        POINTS,
        lambda P, Q: np.exp(-_apart(P, Q)).sum(1),
        lambda torch, P, Q: torch.exp(-torch.cdist(P, Q).square()).sum(1),
    ),
    Brought(
        rbf_matvec,
        MANY,
        lambda P, Q, w: np.exp(-0.5 * _apart(P, Q)) @ w,
        lambda torch, P, Q, w: torch.exp(-0.5 * torch.cdist(P, Q).square()) @ w,
    ),
    Brought(hausdorff, MANY, lambda P, Q: _apart(P, Q).min(1).max() ** 0.5, _hausdorff_in_torch),
)
