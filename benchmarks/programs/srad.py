"""srad: speckle-reducing anisotropic diffusion of a picture (Rodinia): coefficients (1), then the picture (2).

The second half has neighbourhoods of two grids.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around
from benchmarks.programs.shapes import GRID as SHAPES

__all__ = ["SHAPES", "VARIANTS", "inputs", "program", "reference"]

VARIANTS = ("1", "2")
LAMBDA = 0.5


def program(h: int, w: int, variant: str) -> Any:
    """`map2 coefficient (slide2d 3 1 (pad2d 1 1 clamp J))`, and `map2 updated (...)` of the same of `zip2 J c`."""
    picture = el.array("J", el.f32, (h, w))
    if variant == "1":
        q0sqr = el.scalar("q0sqr", el.f32)
        return el.stencil(lambda w: coefficient(w, q0sqr), (3, 3), 1, 1, 1, "clamp", picture)
    both = el.map(el.zip, picture, el.array("c", el.f32, (h, w)))
    return el.stencil(updated, (3, 3), 1, 1, 1, "clamp", both)


def differences(w: Any) -> tuple[Any, ...]:
    """From the middle to the north, south, west and east."""
    return w[0, 1] - w[1, 1], w[2, 1] - w[1, 1], w[1, 0] - w[1, 1], w[1, 2] - w[1, 1]


def coefficient(w: Any, q0sqr: Any) -> Any:
    """How much the middle of a window diffuses: 0 to 1."""
    return el.minimum(1.0, el.maximum(0.0, diffusion(w[1, 1], differences(w), q0sqr)))


def diffusion(j: Any, d: tuple[Any, ...], q0sqr: Any) -> Any:
    """The coefficient before it is limited; for arrays of NumPy, too."""
    g2 = sum(x * x for x in d) / (j * j)
    laplace = sum(d) / j
    scale = 1 + 0.25 * laplace
    qsqr = (0.5 * g2 - 0.0625 * (laplace * laplace)) / (scale * scale)
    return 1 / (1 + (qsqr - q0sqr) / (q0sqr * (1 + q0sqr)))


def updated(w: Any) -> Any:
    """The middle of a window of pairs (J, c) a step later."""
    (north, south, west, east), (j, c) = [w[i, k][0] - w[1, 1][0] for i, k in ((0, 1), (2, 1), (1, 0), (1, 2))], w[1, 1]
    return j + 0.25 * LAMBDA * (c * north + w[2, 1][1] * south + c * west + w[1, 2][1] * east)


def inputs(h: int, w: int, rng: np.random.Generator, variant: str) -> dict[str, Any]:
    """Random arguments of `program(h, w)`."""
    picture = np.exp(rng.random((h, w), np.float32))
    if variant == "1":
        return {"J": picture, "q0sqr": np.float32(0.05)}
    return {"J": picture, "c": rng.random((h, w), np.float32)}


def reference(J: Any, variant: str, q0sqr: Any = None, c: Any = None) -> Any:
    """The program in NumPy."""
    near = around(J)
    d = tuple(near[at] - J for at in ((-1, 0), (1, 0), (0, -1), (0, 1)))
    if variant == "1":
        return np.clip(diffusion(J, d, q0sqr), 0, 1).astype(np.float32)
    below, right = around(c)[1, 0], around(c)[0, 1]
    return J + np.float32(0.25 * LAMBDA) * (c * d[0] + below * d[1] + c * d[2] + right * d[3])
