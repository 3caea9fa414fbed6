"""The thirteen convolutions of Hagedorn's thesis: kernels 00 to 12 of its table 1, by listings 24 to 36.

Where the thesis' listings are wrong (rows of 4095 elements, tiles 32 apart of which 16 are computed) these are right,
and lengths are arguments.  Kernels 06, 10 and 11 have no listing: they are 05, 07 and 08, copied as listing 36 copies.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.brought.program import Inputs, Sizes
from benchmarks.handwritten.kernel import ByHand, Call, Subject, Way
from benchmarks.programs import convolution_forms as forms
from benchmarks.programs.catalogue import Size
from benchmarks.programs.convolution_17 import SIZE, bell, weights
from egglift.codegen.device.device import Device

GRIDS = Sizes((64, 128), (1024, 1024), (4096, 4096))
TILE, COPIED = 16, 32  # results of a tile, and a group's work-items where some idle
ACROSS, DOWN = 128, 64  # results of a tile of the first pass and of the second
WHOLE, PASSES = ("x", "weights", "out_0"), (("x", "row", "along"), ("along", "column", "out_0"))


def _sizes(h: int, w: int) -> forms.Sizes:
    return forms.Sizes(h, w, SIZE, (TILE, TILE), ACROSS, (DOWN, 16))


def whole_inputs(h: int, w: int, rng: np.random.Generator) -> Inputs:
    """A grid, and weights that are no outer product, one row behind the other."""
    return {"x": rng.random((h, w), np.float32), "weights": weights("general").astype(np.float32).ravel()}


def passes_inputs(h: int, w: int, rng: np.random.Generator) -> Inputs:
    """A grid, and weights for each direction."""
    return {"x": rng.random((h, w), np.float32), "row": bell(), "column": bell()[::-1].copy()}


def whole_reference(x: Any, weights: Any) -> Any:
    """All weights, one by one."""
    r, (h, w), result = SIZE // 2, x.shape, np.zeros_like(x)
    padded = np.pad(x, r, "edge")
    for (i, j), k in np.ndenumerate(weights.reshape(SIZE, SIZE)):
        result += k * padded[i : i + h, j : j + w]
    return result


def passes_reference(x: Any, row: Any, column: Any) -> Any:
    """Along the rows, then along the columns."""
    r, (h, w) = SIZE // 2, x.shape
    padded = np.pad(x, r, "edge")
    along = sum(k * padded[:, j : j + w] for j, k in enumerate(row))
    return sum(k * along[i : i + h] for i, k in enumerate(column))


IN_ONE = Subject(
    "17 x 17 weights",
    lambda h, w: forms.high_level(_sizes(h, w)),
    whole_inputs,
    whole_reference,
    GRIDS,
    lambda h, w: 8 * h * w,
    lambda h, w: 2 * SIZE**2 * h * w,
)
IN_TWO = Subject(
    "17 weights along rows, 17 along columns",
    lambda h, w: forms.high_level_separated(_sizes(h, w)),
    passes_inputs,
    passes_reference,
    GRIDS,
    lambda h, w: 8 * h * w,
    lambda h, w: 4 * SIZE * h * w,
)


def in_one(number: int, size: Size, device: Device) -> list[Way]:
    """Kernels 00 to 02."""
    h, w = size
    macros: dict[str, int | str] = {"N": SIZE, "TILE": TILE, "SIDE": COPIED}
    group = (COPIED, COPIED) if number == 1 else (TILE, TILE)
    items = (w, h)
    if number == 1:  # half of the groups in each direction, as the listing: each takes several tiles
        items = (max(w // TILE // 2, 1) * COPIED, max(h // TILE // 2, 1) * COPIED)
    return [Way(macros, (Call("whole", WHOLE, size, items, group),))]


def in_two(number: int, size: Size, device: Device) -> list[Way]:
    """Kernels 03 to 12."""
    h, w = size
    between = {"along": h * w}
    if number == 3:
        calls = tuple(Call(name, b, size, (w, h), (16, 8)) for name, b in zip(("rows", "columns"), PASSES))
        return [Way({"N": SIZE}, calls, between)]
    rows, width = (1, 1) if number == 4 else (4, 16)
    macros: dict[str, int | str] = {"N": SIZE, "ACROSS": ACROSS, "DOWN": DOWN, "ROWS": rows, "WIDTH": width}
    if number >= 7:
        macros |= {"TURNED": 1, "MORE": (number - 7) % 3}
    if number in (6, 10, 11, 12):
        macros |= {"UNCHECKED": 1}
    first = Call("rows", PASSES[0], size, (w // ACROSS * 16, h), (16, rows))
    second = Call("columns", PASSES[1], size, (w, h // DOWN * 8), (width, 8))
    return [Way(macros, (first, second), between)]


def _file(number: int) -> str:
    return ("naive", "idle", "tiled", "separated")[number] if number < 4 else "separated_tiled"


def _by_hand(name: str) -> ByHand:
    number = int(name)
    subject, ways = (IN_ONE, in_one) if number < 3 else (IN_TWO, in_two)
    derived = forms.FORMS[name]
    return ByHand(
        f"convolution_{name}",
        subject,
        (f"convolution_{_file(number)}",),
        partial(ways, number),
        derived=lambda size: derived(_sizes(*size)),
    )


KERNELS = tuple(_by_hand(name) for name in forms.FORMS)
