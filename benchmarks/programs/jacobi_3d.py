"""jacobi_3d: a step of Jacobi's method in space: the mean of an element and one or two neighbours each way."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around, faces
from benchmarks.programs.shapes import VOLUME as SHAPES

__all__ = ["SHAPES", "VARIANTS", "inputs", "program", "reference"]

VARIANTS = ("7", "13")


def program(d: int, h: int, w: int, variant: str) -> Any:
    """`map3 mean (slide3d (2r + 1) 1 (pad3d r r clamp x))`"""
    r = reach(variant)
    x = el.array("x", el.f32, (d, h, w))
    return el.stencil(lambda window: mean(window, r), (2 * r + 1,) * 3, 1, r, r, "clamp", x)


def reach(variant: str) -> int:
    """How far away neighbours may be."""
    return int(variant) // 6


def places(r: int) -> list[tuple[int, ...]]:
    """Where the neighbours are."""
    return [at for distance in range(1, r + 1) for at in faces(3, distance)]


def mean(window: Any, r: int) -> Any:
    """Of the middle of the window and the neighbours along the axes."""
    near = [window[r + i, r + j, r + k] for i, j, k in places(r)]
    return (window[r, r, r] + sum(near)) * (1 / (6 * r + 1))


def inputs(d: int, h: int, w: int, rng: np.random.Generator, variant: str) -> dict[str, Any]:
    """Random arguments of `program(d, h, w)`."""
    return {"x": rng.random((d, h, w), np.float32)}


def reference(x: Any, variant: str) -> Any:
    """The program in NumPy."""
    r = reach(variant)
    near = around(x, r)
    return (x + sum(near[at] for at in places(r))) * np.float32(1 / (6 * r + 1))
