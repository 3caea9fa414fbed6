"""gaussian_blur: a picture convolved with a bell of 3 by 3 or 5 by 5 binomial weights (thesis, definition 2.20)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around
from benchmarks.programs.shapes import GRID as SHAPES

__all__ = ["SHAPES", "VARIANTS", "inputs", "program", "reference"]

#: one dimension of the weights, which are an outer product
BELLS = {"9": (1, 2, 1), "25": (1, 4, 6, 4, 1)}
VARIANTS = tuple(BELLS)


def weights(variant: str) -> Any:
    """The weights, which add up to one."""
    bell = np.array(BELLS[variant], np.float32)
    return np.outer(bell, bell) / bell.sum() ** 2


def program(h: int, w: int, variant: str) -> Any:
    """`convolution2d clamp weights x`"""
    return el.convolution2d(weights(variant), "clamp", el.array("x", el.f32, (h, w)))


def inputs(h: int, w: int, rng: np.random.Generator, variant: str) -> dict[str, Any]:
    """Random arguments of `program(h, w)`."""
    return {"x": rng.random((h, w), np.float32)}


def reference(x: Any, variant: str) -> Any:
    """The program in NumPy."""
    bell = weights(variant)
    return sum(a * k for a, k in zip(around(x, len(bell) // 2).values(), bell.ravel(), strict=True))
