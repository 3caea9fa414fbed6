"""jacobi_2d: a step of Jacobi's method on a grid: the mean of an element and four or eight neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around, faces
from benchmarks.programs.shapes import GRID as SHAPES

__all__ = ["SHAPES", "VARIANTS", "inputs", "program", "reference"]

VARIANTS = ("5", "9")


def program(h: int, w: int, variant: str) -> Any:
    """`map2 mean (slide2d 3 1 (pad2d 1 1 mirror x))`"""
    mean = mean_of_cross if variant == "5" else mean_of_all
    return el.stencil(mean, (3, 3), 1, 1, 1, "mirror", el.array("x", el.f32, (h, w)))


def mean_of_cross(w: Any) -> Any:
    """Of the middle and the neighbours beside it."""
    return 0.2 * (w[0, 1] + w[1, 0] + w[1, 1] + w[1, 2] + w[2, 1])


def mean_of_all(w: Any) -> Any:
    """Of the whole window."""
    return w.join().reduce(el.add) * (1 / 9)


def inputs(h: int, w: int, rng: np.random.Generator, variant: str) -> dict[str, Any]:
    """Random arguments of `program(h, w)`."""
    return {"x": rng.random((h, w), np.float32)}


def reference(x: Any, variant: str) -> Any:
    """The program in NumPy."""
    near = around(x, mode="mirror")
    if variant == "5":
        return np.float32(0.2) * (x + sum(near[at] for at in faces(2)))
    return sum(near.values()) * np.float32(1 / 9)
