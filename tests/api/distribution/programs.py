"""Programs that several devices compute, at any length, and inputs for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import egglift as el
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.types import Scalar, leaves

#: a constant border, or another of the modes by name
Mode = Any


def total(n: int) -> Any:
    return el.sum(el.array("x", el.f32, n))


def dot(n: int) -> Any:
    x, y = el.array("x", el.f32, n), el.array("y", el.f32, n)
    return el.reduce(el.add, 0.0, el.zip(x, y).map(lambda p: p[0] * p[1]))


def scan(n: int) -> Any:
    x = el.array("x", el.f32, n)
    return el.cumsum(x * x)


def product(n: int) -> Any:
    return el.array("A", el.f32, (n, 12)) @ el.array("B", el.f32, (12, 8))


def manhattan(n: int) -> Any:
    a, b = el.array("A", el.f32, (n, 5)), el.array("B", el.f32, (7, 5))
    return a.map(lambda r: b.map(lambda s: el.sum(el.abs(r - s))))


def blur(n: int, mode: Mode = "clamp") -> Any:
    weights = np.outer([1, 2, 1], [1, 2, 1]).astype(np.float32) / 16
    return el.convolution2d(weights, mode, el.array("x", el.f32, (n, 9)))


def jacobi(n: int, mode: Mode = "clamp", steps: int = 100) -> Any:
    def mean(w: el.Value) -> Any:
        return (w[0, 1] + w[1, 0] + w[1, 2] + w[2, 1]) / 4

    return el.iterate(steps, lambda s: el.stencil(mean, (3, 3), 1, 1, 1, mode, s), el.array("x", el.f32, (n, 8)))


def forces(n: int) -> Any:
    """The accelerations of bodies: every device needs all of them, and has some of its own."""
    x, y = el.array("x", el.f32, n), el.array("y", el.f32, n)
    bodies = el.zip(x, y)

    def pull(a: el.Value, b: el.Value) -> Any:
        dx, dy = b[0] - a[0], b[1] - a[1]
        return dx * el.rsqrt(dx * dx + dy * dy + 0.01)

    return bodies.map(lambda a: bodies.map(lambda b: pull(a, b)).reduce(el.add, 0.0))


def softmax(n: int) -> Any:
    def row(r: el.Value) -> Any:
        powers = el.exp(r - r.reduce(el.maximum, float("-inf")))
        return powers / powers.reduce(el.add, 0.0)

    return el.array("x", el.f32, (n, 6)).map(row)


def black_scholes(n: int) -> Any:
    """Prices of calls and of puts: an array of pairs."""
    spot = el.array("spot", el.f32, n)

    def normal(v: Any) -> Any:
        return (1 + el.erf(v / float(np.sqrt(2)))) / 2

    def price(s: el.Value) -> Any:
        d1 = (el.log(s + 1) + 0.03) / 0.2
        call = s * normal(d1) - 0.98 * normal(d1 - 0.2)
        return el.tuple(call, call - s + 0.98)

    return spot.map(price)


def histogram(n: int) -> Any:
    return el.histogram(el.array("x", el.f32, n), 8, (0, 1))[0]


def centred(n: int) -> Any:
    """Two steps: all devices need the mean, which all have a part in."""
    x = el.array("x", el.f32, n)
    return x - el.mean(x)


PROGRAMS: dict[str, Callable[[int], Any]] = {
    f.__name__: f
    for f in (
        *(total, dot, scan, product, manhattan, blur, jacobi, forces, softmax, black_scholes, histogram, centred),
    )
}


def values(program: Expr, seed: int = 0) -> dict[str, Any]:
    """Random inputs between 0 and 1."""
    rng = np.random.default_rng(seed)

    def one(shape: tuple[Any, ...], scalar: Scalar) -> Any:
        return rng.random(shape).astype(scalar.dtype)

    return {name: one(*leaves(t)[0]) for name, t in inputs_of(program).items()}


def agree(one: Any, other: Any) -> bool:
    """Are two results equal, but for the order of additions?"""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(agree, one, other))
    one, other = np.asarray(one), np.asarray(other)
    return one.shape == other.shape and one.dtype == other.dtype and bool(np.allclose(one, other, 2e-4, 1e-5))
