"""game_of_life: a generation of Conway's cellular automaton on a torus."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around
from benchmarks.programs.shapes import GRID as SHAPES

__all__ = ["SHAPES", "inputs", "program", "reference"]


def program(h: int, w: int) -> Any:
    """A cell is alive (1) if three of its eight neighbours are, or two and the cell itself; else dead (0)."""
    return el.stencil(next_state, (3, 3), 1, 1, 1, "wrap", el.array("x", el.i32, (h, w)))


def next_state(window: Any) -> Any:
    """A cell's next state, from its neighbourhood."""
    alive = window[1, 1]
    count = window.join().reduce(el.add) - alive
    return ((count == 3) | ((count == 2) & (alive == 1))).cast(el.i32)


def inputs(h: int, w: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(h, w)`."""
    return {"x": rng.integers(0, 2, (h, w), np.int32)}


def reference(x: Any) -> Any:
    """The program in NumPy."""
    count = sum(around(x, mode="wrap").values()) - x
    return ((count == 3) | ((count == 2) & (x == 1))).astype(np.int32)
