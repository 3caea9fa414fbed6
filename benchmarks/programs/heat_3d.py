"""heat_3d: a step of the heat equation in space, what lies outside kept at zero."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around, faces
from benchmarks.programs.shapes import VOLUME as SHAPES

__all__ = ["SHAPES", "inputs", "program", "reference"]

C = 0.125


def program(d: int, h: int, w: int) -> Any:
    """`map3 (\\w. w + c * (the six neighbours - 6 w)) (slide3d 3 1 (pad3d 1 1 (constant 0) x))`"""
    return el.stencil(diffused, (3, 3, 3), 1, 1, 1, ("constant", 0.0), el.array("x", el.f32, (d, h, w)))


def diffused(window: Any) -> Any:
    """The middle of the window a step later."""
    middle = window[1, 1, 1]
    return middle + C * (sum(window[1 + i, 1 + j, 1 + k] for i, j, k in faces(3)) - 6 * middle)


def inputs(d: int, h: int, w: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(d, h, w)`."""
    return {"x": rng.random((d, h, w), np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    near = around(x, mode="constant")
    return x + np.float32(C) * (sum(near[at] for at in faces(3)) - 6 * x)
