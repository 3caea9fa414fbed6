"""References of stencils: the neighbours of every element, for NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

#: NumPy's names for how an array goes on
NUMPY = {"clamp": "edge", "mirror": "symmetric", "wrap": "wrap", "constant": "constant"}


def around(x: Any, radius: int = 1, mode: str = "clamp") -> dict[tuple[int, ...], Any]:
    """`around(x)[-1, 0]` is the array of the neighbours above; x continued by `mode` (a constant is 0)."""
    padded = np.pad(x, radius, NUMPY[mode])  # type: ignore[call-overload]
    places = product(range(2 * radius + 1), repeat=x.ndim)
    return {
        tuple(i - radius for i in at): padded[tuple(slice(i, i + n) for i, n in zip(at, x.shape, strict=True))]
        for at in places
    }


def faces(dims: int, distance: int = 1) -> list[tuple[int, ...]]:
    """The places of the neighbours along the axes: `faces(2) == [(-1, 0), (1, 0), (0, -1), (0, 1)]`."""
    return [tuple(s * distance * (a == axis) for a in range(dims)) for axis in range(dims) for s in (-1, 1)]
