"""What the programs are made of: inputs, and functions of vectors."""

from __future__ import annotations

from typing import Any

import egglift as el


def floats(name: str, *shape: int) -> Any:
    """An input array of f32."""
    return el.array(name, el.f32, shape)


def total(xs: Any) -> Any:
    """The sum."""
    return xs.reduce(el.add, 0.0)


def squares(xs: Any) -> Any:
    """The sum of the squares."""
    return total(xs.map(lambda v: v * v))


def largest(xs: Any) -> Any:
    """The maximum."""
    return xs.reduce(el.maximum, float("-inf"))


def dot(xs: Any, ys: Any) -> Any:
    """The inner product."""
    return total(xs.map(lambda x, y: x * y, ys))


def apart(xs: Any, ys: Any) -> Any:
    """The squared distance of two points."""
    return total(xs.map(lambda x, y: (x - y) * (x - y), ys))


def sigmoid(v: Any) -> Any:
    """`1 / (1 + exp(-v))`"""
    return 1.0 / (1.0 + el.exp(-v))
