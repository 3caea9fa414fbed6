"""stencil_2d: nine weighted points, a weight each for the middle, the sides and the corners (SHOC's Stencil2D)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around
from benchmarks.programs.shapes import GRID as SHAPES

__all__ = ["SHAPES", "inputs", "program", "reference"]

#: weights by how many coordinates of a neighbour differ
WEIGHTS = (0.25, 0.15, 0.05)


def program(h: int, w: int) -> Any:
    """`map2 (\\w. c * middle + s * sides + d * corners) (slide2d 3 1 (pad2d 1 1 clamp x))`"""
    return el.stencil(weighted, (3, 3), 1, 1, 1, "clamp", el.array("x", el.f32, (h, w)))


def shell(distance: int) -> list[tuple[int, int]]:
    """The places at which `distance` coordinates differ from the middle's."""
    return [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i != 0) + (j != 0) == distance]


def weighted(window: Any) -> Any:
    """The weighted sum of a window."""
    return sum(c * sum(window[1 + i, 1 + j] for i, j in shell(n)) for n, c in enumerate(WEIGHTS))


def inputs(h: int, w: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(h, w)`."""
    return {"x": rng.random((h, w), np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    near = around(x)
    return sum(np.float32(c) * sum(near[at] for at in shell(n)) for n, c in enumerate(WEIGHTS))
