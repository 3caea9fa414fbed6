"""poisson: a 19-point stencil for Poisson's equation: all neighbours but those at the corners."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around
from benchmarks.programs.shapes import VOLUME as SHAPES

__all__ = ["SHAPES", "inputs", "program", "reference"]

#: weights by how many coordinates of a neighbour differ; corners do not count
WEIGHTS = (2.666, -0.166, -0.0833)


def program(d: int, h: int, w: int) -> Any:
    """`map3 (\\w. sum of weights * w) (slide3d 3 1 (pad3d 1 1 clamp x))`"""
    return el.stencil(weighted, (3, 3, 3), 1, 1, 1, "clamp", el.array("x", el.f32, (d, h, w)))


def shell(distance: int) -> list[tuple[int, int, int]]:
    """The places at which `distance` coordinates differ from the middle's."""
    steps = (-1, 0, 1)
    return [(i, j, k) for i in steps for j in steps for k in steps if (i != 0) + (j != 0) + (k != 0) == distance]


def weighted(window: Any) -> Any:
    """The weighted sum of a window."""
    return sum(c * sum(window[1 + i, 1 + j, 1 + k] for i, j, k in shell(n)) for n, c in enumerate(WEIGHTS))


def inputs(d: int, h: int, w: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(d, h, w)`."""
    return {"x": rng.random((d, h, w), np.float32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    near = around(x)
    return sum(np.float32(c) * sum(near[at] for at in shell(n)) for n, c in enumerate(WEIGHTS))
