"""Random inputs: of single arrays, and of a program's by name."""

from __future__ import annotations

from typing import Any

import numpy as np


def normal(rng: np.random.Generator, *shape: int) -> Any:
    """Normal numbers of f32."""
    return rng.standard_normal(shape, dtype=np.float32)


def uniform(rng: np.random.Generator, *shape: int) -> Any:
    """f32 numbers in [0, 1)."""
    return rng.random(shape, dtype=np.float32)


def ints(rng: np.random.Generator, low: int, high: int, *shape: int, dtype: str = "i4") -> Any:
    """Integers from low to high - 1."""
    return rng.integers(low, high, shape, dtype=dtype)


def bytes_of(name: str) -> Any:
    """Draws an array of bytes."""
    return lambda rng, *shape: {name: ints(rng, 0, 256, *shape, dtype="u1")}


def floats_of(*names: str) -> Any:
    """Draws arrays of one shape, f32 numbers in [0, 1)."""
    return lambda rng, *shape: {name: uniform(rng, *shape) for name in names}


def complexes(rng: Any, *shape: int) -> Any:
    """Normal complex numbers of two f32."""
    return (normal(rng, *shape) + 1j * normal(rng, *shape)).astype("c8")


def of(*names: str) -> Any:
    """Draws arrays of one shape, normal f32 numbers."""
    return lambda rng, *shape: {name: normal(rng, *shape) for name in names}
