"""sobel: how steep a picture is, by Sobel's operators: two convolutions of one neighbourhood."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around
from benchmarks.programs.shapes import GRID as SHAPES

__all__ = ["SHAPES", "inputs", "program", "reference"]

#: weights across an edge; those of the other direction are their transposition
ACROSS = ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1))


def program(h: int, w: int) -> Any:
    """`map2 (\\w. sqrt (gx w ^ 2 + gy w ^ 2)) (slide2d 3 1 (pad2d 1 1 clamp x))`"""
    return el.stencil(steepness, (3, 3), 1, 1, 1, "clamp", el.array("x", el.f32, (h, w)))


def steepness(window: Any) -> Any:
    """The length of the gradient in the middle of a window."""
    gx = sum(ACROSS[i][j] * window[i, j] for i in range(3) for j in range(3) if ACROSS[i][j])
    gy = sum(ACROSS[j][i] * window[i, j] for i in range(3) for j in range(3) if ACROSS[j][i])
    return el.sqrt(gx * gx + gy * gy)


def inputs(h: int, w: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(h, w)`."""
    return {"x": rng.random((h, w), np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    near = around(x)
    gx = sum(ACROSS[i + 1][j + 1] * a for (i, j), a in near.items())
    gy = sum(ACROSS[j + 1][i + 1] * a for (i, j), a in near.items())
    return np.sqrt(gx * gx + gy * gy)
