"""Random inputs for random programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from egglift.costmodel.measurement.expected_results import NdArray, unflatten
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.sizes import evaluate as number
from egglift.ir.types import BOOL, Scalar, leaves

Draw = Callable[[Scalar, tuple[int, ...], np.random.Generator], NdArray]


def exact(t: Scalar, shape: tuple[int, ...], rng: np.random.Generator) -> NdArray:
    """Small numbers, of floats some halves; now and then integers of all sizes: they wrap around.

    Half of the bools that are true are other bytes than 1.
    """
    if t == BOOL:
        return np.array([0, 0, 0, 0, 1, 1, 2, 255], np.uint8)[rng.integers(0, 8, shape)].view(bool)
    if t.is_integer and rng.random() < 0.25:
        return rng.integers(*_range(t), shape, t.dtype, endpoint=True)  # type: ignore[arg-type]
    few = rng.integers(-4 if t.is_signed else 0, 5, shape).astype(t.dtype)
    return few / np.asarray(2, t.dtype) if t.is_float and rng.random() < 0.3 else few


def smooth(t: Scalar, shape: tuple[int, ...], rng: np.random.Generator) -> NdArray:
    """Multiples of 1/8 in [-1, 1]."""
    return exact(t, shape, rng) if not t.is_float else np.asarray(rng.integers(-8, 9, shape) / 8, t.dtype)


def extreme(t: Scalar, shape: tuple[int, ...], rng: np.random.Generator) -> NdArray:
    """Small numbers among NaN, infinities and zeros of both signs, or the ends of an integer type's range."""
    if t == BOOL:
        return exact(t, shape, rng)
    low, high = _range(t) if t.is_integer else (-np.inf, np.inf)
    few = [low, high, *((np.nan, -0.0, 0.0, -2.5) if t.is_float else (low + 1, high - 1)), 0, 1, 2, 3]
    return np.asarray(few, t.dtype)[rng.integers(0, len(few), shape)]


DRAWS: dict[str, Draw] = {"exact": exact, "smooth": smooth, "extreme": extreme}


def _range(t: Scalar) -> tuple[int, int]:
    found = np.iinfo(t.dtype)  # type: ignore[type-var]
    return int(found.min), int(found.max)


def random_inputs(e: Expr, style: str, seed: int) -> dict[str, Any]:
    """Values for the inputs of `e` by name, as `evaluate` takes them."""
    rng, draw = np.random.default_rng(seed), DRAWS[style]
    found = {}
    for name, t in inputs_of(e).items():
        parts = [draw(scalar, tuple(number(n) for n in shape), rng) for shape, scalar in leaves(t)]
        found[name] = unflatten(t, iter(parts))
    return found
