"""What is shared out, with inputs that are quickly made: each has a size for GPUs and one that a test takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs import black_scholes

f32 = el.f32
PERIOD = 1 << 20


@dataclass(frozen=True)
class Shared:
    """A program of `size`, and its inputs; steps: how often one repeats itself, else 1."""

    name: str
    make: Callable[[int, int], Any]
    inputs: Callable[[int], Mapping[str, Any]]
    size: int
    small: int
    steps: int = 1


def drawn(*shape: int) -> Any:
    """Numbers in 0.5..1.5, which repeat: drawing is slow."""
    few = np.random.default_rng(0).random(min(PERIOD, int(np.prod(shape))), np.float32) + np.float32(0.5)
    return np.resize(few, shape)


def _product(n: int, _: int) -> Any:
    return el.array("A", f32, (n, n)) @ el.array("B", f32, (n, n))


def _heat(n: int, steps: int) -> Any:
    def mean(w: Any) -> Any:
        return (w[0, 1] + w[1, 0] + w[1, 2] + w[2, 1]) * 0.25

    return el.iterate(steps, lambda s: el.stencil(mean, (3, 3), 1, 1, 1, "clamp", s), el.array("h", f32, (n, n)))


def _bodies(n: int, _: int) -> Any:
    points = el.zip(*(el.array(name, f32, n) for name in "xyz"))

    def pull(a: Any, b: Any) -> Any:
        dx, dy, dz = (b[k] - a[k] for k in range(3))
        return dx * el.rsqrt(dx * dx + dy * dy + dz * dz + 0.01)

    return points.map(lambda a: points.map(lambda b: pull(a, b)).sum())


def _distances(n: int, _: int) -> Any:
    a, b = el.array("a", f32, (n, 64)), el.array("b", f32, (n, 64))
    return a.map(lambda p: b.map(lambda q: el.abs(p - q).sum()))


def _options(n: int) -> Mapping[str, Any]:
    return {"price": 20 * drawn(n), "strike": 30 * drawn(n), "years": drawn(n)}


PROGRAMS = (
    Shared("matrix product", _product, lambda n: {"A": drawn(n, n), "B": drawn(n, n)}, 16384, 96),
    Shared("N-body", _bodies, lambda n: {name: drawn(n) for name in "xyz"}, 1 << 19, 200),
    Shared("Manhattan distances", _distances, lambda n: {"a": drawn(n, 64), "b": drawn(n, 64)}, 32768, 40),
    Shared("sum", lambda n, _: el.array("x", f32, n).sum(), lambda n: {"x": drawn(n)}, 1 << 30, 5000),
    Shared("Black-Scholes", lambda n, _: black_scholes.program(n), _options, 1 << 29, 3000),
    Shared("Jacobi, 200 steps", _heat, lambda n: {"h": drawn(n, n)}, 16384, 48, 200),
)
