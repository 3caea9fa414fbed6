"""acoustic: a step of sound waves in a room; a mask says how many neighbours of a point lie in it (none: a wall)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.neighbours import around, faces
from benchmarks.programs.shapes import VOLUME as SHAPES

__all__ = ["SHAPES", "inputs", "program", "reference"]

#: the square of the Courant number, and what walls absorb
L2, LOSS = 1 / 3, 0.02


def program(d: int, h: int, w: int) -> Any:
    """`map3 next (zip3 (slide3d 3 1 (pad3d 1 1 (constant 0) now)) before mask)`"""
    now, before = el.array("now", el.f32, (d, h, w)), el.array("before", el.f32, (d, h, w))
    mask = el.array("mask", el.i32, (d, h, w))
    return el.stencil(later, (3, 3, 3), 1, 1, 1, ("constant", 0.0), now, before, mask)


def later(window: Any, before: Any, inside: Any) -> Any:
    """The pressure in the middle of the window a step later."""
    near = sum(window[1 + i, 1 + j, 1 + k] for i, j, k in faces(3))
    return el.where(inside > 0, step(window[1, 1, 1], before, near, inside.cast(el.f32)), 0.0)


def step(now: Any, before: Any, near: Any, inside: Any) -> Any:
    """Pressures now, before and, added up, around; how many of these lie inside.  For arrays of NumPy, too."""
    absorbed = LOSS * (6 - inside)
    return ((2 - L2 * inside) * now + L2 * near - (1 - absorbed) * before) / (1 + absorbed)


def inputs(d: int, h: int, w: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(d, h, w)`."""
    room = rng.random((d, h, w)) < 0.9
    count = sum(around(room.astype(np.int32), mode="constant")[at] for at in faces(3))
    waves = {name: np.where(room, rng.random((d, h, w), np.float32), np.float32(0)) for name in ("now", "before")}
    return {**waves, "mask": np.where(room, count, 0).astype(np.int32)}


def reference(now: Any, before: Any, mask: Any) -> Any:
    """The program in NumPy."""
    near = around(now, mode="constant")
    next_ = step(now, before, sum(near[at] for at in faces(3)), mask.astype(np.float32))
    return np.where(mask > 0, next_, 0).astype(np.float32)
