"""hotspot_2d: a step of the temperatures of a chip from those around and the power that is spent (Rodinia)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around
from benchmarks.programs.shapes import GRID as SHAPES

__all__ = ["SHAPES", "inputs", "program", "reference"]

#: the step over the capacity; conductances along columns, along rows, to the ambient; the ambient temperature
STEP, RY, RX, RZ, AMBIENT = 0.1, 0.5, 0.4, 0.05, 80.0


def program(h: int, w: int) -> Any:
    """`map2 next (zip2 (slide2d 3 1 (pad2d 1 1 clamp temperature)) power)`"""
    temperature, power = el.array("temperature", el.f32, (h, w)), el.array("power", el.f32, (h, w))
    return el.stencil(later, (3, 3), 1, 1, 1, "clamp", temperature, power)


def later(w: Any, power: Any) -> Any:
    """The temperature in the middle of the window after the step."""
    return step(w[1, 1], power, w[0, 1] + w[2, 1], w[1, 0] + w[1, 2])


def step(t: Any, power: Any, column: Any, row: Any) -> Any:
    """Temperature, power, sums of the neighbours in the column and in the row; for arrays of NumPy, too."""
    return t + STEP * (power + (column - 2 * t) * RY + (row - 2 * t) * RX + (AMBIENT - t) * RZ)


def inputs(h: int, w: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(h, w)`."""
    return {"temperature": 300 + rng.random((h, w), np.float32), "power": rng.random((h, w), np.float32)}


def reference(temperature: Any, power: Any) -> Any:
    """The program in NumPy."""
    near = around(temperature)
    return step(temperature, power, near[-1, 0] + near[1, 0], near[0, -1] + near[0, 1])
