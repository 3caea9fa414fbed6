"""Programs over run-time lengths, as NumPy has them, and the steps by which they are made for a CPU and for a GPU.

The steps are those that the search chooses for a 2-core PoCL and for an H200, with smaller tiles, such that short
lengths have edges too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import egglift as el
from egglift.candidate import Candidate
from egglift.codegen.device.device import Device, open_device
from egglift.codegen.kernel.imperative import Launch
from egglift.egraph.schedules.steps import Alone, InPieces, Made, Steps
from egglift.egraph.stages.partitioning import Partitioning
from egglift.ir.length_forms import RunTimeLength
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import lengths_of, liked
from egglift.length_kernel import LengthKernel


@dataclass(frozen=True)
class Program:
    """A program; axes: lengths of each input's axes, letters or numbers; meaning: by NumPy; cpu, gpu: steps."""

    expr: Expr
    axes: Mapping[str, str]
    meaning: Callable[..., Any]
    cpu: Steps
    gpu: Steps
    launch: Launch = field(default_factory=lambda: Launch(16))

    @property
    def letters(self) -> str:
        """The names of its lengths."""
        return "".join(n.name for n in lengths_of(self.expr))

    def lengths(self, numbers: Mapping[str, int]) -> dict[RunTimeLength, int]:
        """Numbers for its lengths."""
        return {n: numbers[n.name] for n in lengths_of(self.expr)}

    def data(self, numbers: Mapping[str, int], seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
        """Inputs of these lengths."""
        rng = np.random.default_rng(seed)
        shapes = {name: [int(c) if c.isdigit() else numbers[c] for c in axes] for name, axes in self.axes.items()}
        return {name: rng.random(shape, dtype=np.float32) for name, shape in shapes.items()}

    def kernel(self) -> LengthKernel:
        """The kernel by these steps, on PoCL: nothing is searched."""
        device = pocl()
        chosen = Candidate("given", liked(self.expr), {}, self.launch, device.limits, 0.0, steps=self.cpu)
        return LengthKernel(self.expr, chosen, device, [chosen])

    def is_right(self, kernel: LengthKernel, numbers: Mapping[str, int]) -> bool:
        """Is the kernel's result NumPy's?"""
        data = self.data(numbers)
        found, wanted = kernel(**data), self.meaning(*data.values())
        return np.shape(found) == np.shape(wanted) and np.allclose(found, wanted, rtol=1e-3, atol=1e-4)


@cache
def pocl() -> Device:
    """The CPU's device."""
    return open_device("pocl")


def steps(*stages: Alone | InPieces, row: int | None = None) -> Steps:
    """Steps of the usual stages."""
    return Steps(Partitioning(), stages, row)


def alone(way: str, rows: int | None = None, starts: bool = False, **sizes: int) -> Alone:
    """A stage by a way, with these sizes of tiles."""
    return Alone(Made(way, rows, starts=starts), tuple(sizes.items()))


n, m, k = (el.size(name, min=0, like=1 << 12) for name in "nmk")
x, y, v = el.array("x", el.f32, n), el.array("y", el.f32, n), el.array("v", el.f32, m)
A, B, P = el.array("A", el.f32, (n, m)), el.array("B", el.f32, (m, k)), el.array("P", el.f32, (n, 3))


def _softmax(row: Any) -> Any:
    largest = row.reduce(el.maximum, float("-inf"))
    powers = row.map(lambda e: el.exp(e - largest))
    total = powers.reduce(el.add, 0.0)
    return powers.map(lambda e: e / total)


def _softmax_rows(a: Any) -> Any:
    powers = np.exp(a - a.max(1, keepdims=True, initial=-np.inf))
    return powers / powers.sum(1, keepdims=True)


def _star(w: Any) -> Any:
    return (w[0][1] + w[1][0] + w[1][1] + w[1][2] + w[2][1]) * 0.2


def _jacobi(a: Any) -> Any:
    p = np.pad(a, 1)
    return (p[:-2, 1:-1] + p[1:-1, :-2] + p[1:-1, 1:-1] + p[1:-1, 2:] + p[2:, 1:-1]) * np.float32(0.2)


def _pull(a: Any) -> Any:
    def one(b: Any) -> Any:
        d = [b[i] - a[i] for i in range(3)]
        return d[0] * el.rsqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01)

    return P.map(one).reduce(el.add, 0.0)


def _pulls(p: Any) -> Any:
    d = p[None] - p[:, None]
    return (d[..., 0] / np.sqrt((d * d).sum(-1) + np.float32(0.01))).sum(1)


def _program(value: Any, axes: Mapping[str, str], meaning: Callable[..., Any], cpu: Steps, gpu: Steps) -> Program:
    return Program(el.as_program(value), axes, meaning, cpu, gpu)


_MOVED = alone("moved", 0, m0=4, n1=8, v1=4)
_ROWS = {"g0": 4, "l1": 8, "w1": 4}
_CHUNKS = {"a0": 4, "a1": 4, "c0": 2, "c1": 2, "f0": 0, "k2": 4, "m0": 16, "n1": 16, "q0": 2, "q1": 2}
PROGRAMS = {
    "scal": _program(
        2 * x + 1,
        {"x": "n"},
        lambda x: 2 * x + 1,
        steps(alone("moved", n0=8, v0=4)),
        steps(alone("each", l0=32, w0=2)),
    ),
    "sum": _program(
        x.reduce(el.add, 0.0),
        {"x": "n"},
        lambda x: x.sum(),
        steps(alone("lanes", w0=16)),
        steps(alone("lanes", l0=32, w0=4)),
    ),
    "dot in pieces": _program(
        (x * y).reduce(el.add, 0.0),
        {"x": "n", "y": "n"},
        np.dot,
        steps(InPieces(4, alone("lanes", w1=8), alone("lanes", w0=2))),
        steps(InPieces(8, alone("row", l1=8, w1=4), alone("lanes", l0=8, w0=1))),
    ),
    "gemv": _program(
        A @ v,
        {"A": "nm", "v": "m"},
        np.matmul,
        steps(alone("lanes", w1=16)),
        steps(alone("lanes", **_ROWS)),
    ),
    "product": _program(
        A @ B,
        {"A": "nm", "B": "mk"},
        np.matmul,
        steps(alone("packed", 0, m0=4, n1=8, v1=4)),
        steps(alone("chunks", 0, **_CHUNKS)),
    ),
    "softmax": _program(
        A.map(_softmax),
        {"A": "nm"},
        _softmax_rows,
        steps(alone("lanes", w1=16), _MOVED),
        steps(alone("lanes", starts=True, g0=1, l1=16, w1=4), row=0),
    ),
    "jacobi": _program(
        el.stencil(_star, (3, 3), (1, 1), (1, 1), (1, 1), ("constant", 0.0), A),
        {"A": "nm"},
        _jacobi,
        steps(_MOVED),
        steps(alone("moved", 0, a0=0, a1=0, a2=0, a3=0, a4=0, i0=16, i1=16, o0=4)),
    ),
    "n-body": _program(
        P.map(_pull),
        {"P": "n3"},
        _pulls,
        steps(alone("lanes", w1=16)),
        steps(alone("lanes", **_ROWS)),
    ),
    "transpose": _program(
        A.T + 1,
        {"A": "nm"},
        lambda a: a.T + 1,
        steps(_MOVED),
        steps(alone("moved", 0, a0=1, i0=16, i1=16, o0=4)),
    ),
}
