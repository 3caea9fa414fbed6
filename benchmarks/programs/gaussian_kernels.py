"""gaussian_kernels: sums of the derivatives of Gaussian kernels around points, up to the third order (Jepsen)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.blocks import by_rows

__all__ = ["SHAPES", "inputs", "operations", "program", "reference"]

SHAPES = ((1, 1), (3, 17), (17, 13), (127, 257), (1000, 1003), (4608, 4608))
#: the derivatives by x and y: (1, 0) is d/dx, (1, 2) is d3/dx dy dy
ORDERS = tuple((i, order - i) for order in (1, 2, 3) for i in range(order, -1, -1))

add_all = el.operator(
    lambda a, b: tuple(s + t for s, t in zip(a, b, strict=True)),
    associative=True,
    commutative=True,
    neutral=(0.0,) * len(ORDERS),
    name="add_all",
)


def program(n: int, m: int) -> Any:
    """`map (\\p. reduce (+) 0 (map (\\q. weight q * derivatives of exp (-|p - q|^2 / 2)) centres)) points`"""
    points = el.zip(el.array("x", el.f32, n), el.array("y", el.f32, n))
    centres = el.zip(*(el.array(name, el.f32, m) for name in ("u", "v", "weight")))
    return points.map(lambda p: centres.map(lambda q: derivatives(p, q)).reduce(add_all))


def derivatives(p: Any, q: Any) -> Any:
    """Those of one kernel at one point."""
    x, y = p[0] - q[0], p[1] - q[1]
    value = q[2] * el.exp((x * x + y * y) * -0.5)
    return tuple(value * hermite(i, x) * hermite(j, y) for i, j in ORDERS)


def hermite(order: int, t: Any) -> Any:
    """What a derivative of `exp(-t^2 / 2)` is a multiple of it by."""
    return (1, -t, t * t - 1, t * (3 - t * t))[order]


def inputs(n: int, m: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n, m)`."""
    lengths = {"x": n, "y": n, "u": m, "v": m}
    points = {name: (4 * rng.random(length)).astype(np.float32) for name, length in lengths.items()}
    return {**points, "weight": rng.random(m, np.float32)}


def reference(x: Any, y: Any, u: Any, v: Any, weight: Any) -> Any:
    """The program in NumPy."""
    u, v = u.astype(np.float64), v.astype(np.float64)

    def sums(rows: slice) -> Any:
        dx, dy = x[rows, None] - u, y[rows, None] - v
        value = np.exp((dx * dx + dy * dy) * -0.5)
        return np.stack([(value * hermite(i, dx) * hermite(j, dy)) @ weight for i, j in ORDERS])

    return tuple(by_rows(sums, len(x), len(u)).astype(np.float32))


def operations(n: int, m: int) -> int:
    """Arithmetic of every pair, the exponential as one."""
    return 49 * n * m
