"""convolution_17: a convolution with 17 by 17 weights, the example of the thesis (2.12), in four ways.

general: the weights are numbers in the program; given: an input; gaussian: numbers that are an outer product, which is
found; separable: an outer product that the program states.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.shapes import GRID as SHAPES

__all__ = ["SHAPES", "VARIANTS", "inputs", "operations", "program", "reference"]

VARIANTS = ("general", "given", "gaussian", "separable")
SIZE = 17


def bell() -> Any:
    """One dimension of the weights of a Gaussian blur."""
    at = np.arange(SIZE, dtype=np.float32) - SIZE // 2
    values = np.exp(-at * at / 32)
    return values / values.sum()


def weights(variant: str) -> Any:
    """The weights; those that are no outer product are made up."""
    if variant in ("gaussian", "separable"):
        return np.outer(bell(), bell())
    return np.random.default_rng(SIZE).random((SIZE, SIZE), np.float32) / SIZE**2


def program(h: int, w: int, variant: str) -> Any:
    """`convolution2d clamp weights x`"""
    x = el.array("x", el.f32, (h, w))
    if variant == "separable":
        return el.separable_convolution2d(bell(), bell(), "clamp", x)
    given = el.array("weights", el.f32, (SIZE, SIZE)) if variant == "given" else weights(variant)
    return el.convolution2d(given, "clamp", x)


def inputs(h: int, w: int, rng: np.random.Generator, variant: str) -> dict[str, Any]:
    """Random arguments of `program(h, w)`."""
    x = rng.random((h, w), np.float32)
    return {"x": x, "weights": weights(variant)} if variant == "given" else {"x": x}


def reference(x: Any, variant: str, weights: Any = None) -> Any:
    """The program in NumPy: weight by weight, or in two passes."""
    r = SIZE // 2
    h, w = x.shape
    padded = np.pad(x, r, "edge")
    if variant in ("gaussian", "separable"):
        rows = sum(k * padded[:, j : j + w] for j, k in enumerate(bell()))
        return sum(k * rows[i : i + h] for i, k in enumerate(bell()))
    numbers = globals()["weights"](variant) if weights is None else weights
    result = np.zeros_like(x)
    for (i, j), k in np.ndenumerate(numbers):
        result += k * padded[i : i + h, j : j + w]
    return result


def operations(h: int, w: int, variant: str) -> int:
    """A product and a sum for every weight; in two passes, 17 weights each."""
    return h * w * (4 * SIZE if variant in ("gaussian", "separable") else 2 * SIZE**2)
