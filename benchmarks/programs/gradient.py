"""gradient: the slopes of a surface along both axes, by central differences; two outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around
from benchmarks.programs.shapes import GRID as SHAPES

__all__ = ["SHAPES", "inputs", "program", "reference"]


def program(h: int, w: int) -> Any:
    """`map2 (\\w. (dy w, dx w)) (slide2d 3 1 (pad2d 1 1 mirror x))`"""
    return el.stencil(slopes, (3, 3), 1, 1, 1, "mirror", el.array("x", el.f32, (h, w)))


def slopes(window: Any) -> Any:
    """The slopes in the middle of a window: downwards and to the right."""
    return 0.5 * (window[2, 1] - window[0, 1]), 0.5 * (window[1, 2] - window[1, 0])


def inputs(h: int, w: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(h, w)`."""
    return {"x": rng.random((h, w), np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    near, half = around(x, mode="mirror"), np.float32(0.5)
    return half * (near[1, 0] - near[-1, 0]), half * (near[0, 1] - near[0, -1])
