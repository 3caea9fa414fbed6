"""hotspot_3d: a step of the temperatures of a chip in layers from those around and the power spent (Rodinia)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around, faces
from benchmarks.programs.shapes import VOLUME as SHAPES

__all__ = ["SHAPES", "inputs", "program", "reference"]

#: weights of the middle, of neighbours along each axis, and of the power; the ambient temperature
MIDDLE, ALONG, POWER, AMBIENT = 0.35, (0.05, 0.12, 0.15), 0.1, 80.0


def program(d: int, h: int, w: int) -> Any:
    """`map3 next (zip3 (slide3d 3 1 (pad3d 1 1 clamp temperature)) power)`"""
    temperature, power = el.array("temperature", el.f32, (d, h, w)), el.array("power", el.f32, (d, h, w))
    return el.stencil(later, (3, 3, 3), 1, 1, 1, "clamp", temperature, power)


def later(window: Any, power: Any) -> Any:
    """The temperature in the middle of the window after the step."""
    return step(window[1, 1, 1], power, [window[1 + i, 1 + j, 1 + k] for i, j, k in faces(3)])


def step(t: Any, power: Any, near: list[Any]) -> Any:
    """Temperature, power and the six neighbours, axis by axis; for arrays of NumPy, too."""
    along = sum(c * (near[2 * a] + near[2 * a + 1]) for a, c in enumerate(ALONG))
    return MIDDLE * t + along + POWER * power + (1 - MIDDLE - 2 * sum(ALONG)) * AMBIENT


def inputs(d: int, h: int, w: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(d, h, w)`."""
    return {"temperature": 300 + rng.random((d, h, w), np.float32), "power": rng.random((d, h, w), np.float32)}


def reference(temperature: Any, power: Any) -> Any:
    """The program in NumPy."""
    near = around(temperature)
    return step(temperature, power, [near[at] for at in faces(3)])
