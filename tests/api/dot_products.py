"""Two vectors, their dot product, and what the model chooses for it: what tests of `optimize` have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el

N = 3000
RNG = np.random.default_rng(5)
X, Y = (RNG.integers(-8, 9, N).astype(np.float32) for _ in range(2))


def vectors(n: int = N, type: Any = el.f32) -> tuple[Any, Any]:
    return el.array("x", type, n), el.array("y", type, n)


def dot(n: int = N) -> Any:
    x, y = vectors(n)
    return el.reduce(el.add, 0.0, el.map(lambda q: q[0] * q[1], el.zip(x, y)))


def by_model(program: Any, **options: Any) -> el.Kernel:
    return el.optimize(program, "pocl", measure="none", **options)
