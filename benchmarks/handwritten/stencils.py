"""Grids: SHOC's Stencil2D, nine points of tiles in local memory."""

from __future__ import annotations

from benchmarks.brought.program import Sizes
from benchmarks.handwritten.kernel import ByHand, Call, Subject, Way
from benchmarks.programs import stencil_2d
from benchmarks.programs.catalogue import Size
from egglift.codegen.device.device import Device

#: rows and columns of a tile, and the work-items of a group, the columns' first
TILES = ((16, 16, (16, 16)), (8, 32, (32, 8)), (8, 64, (64, 4)), (32, 64, (64, 4)), (8, 256, (256, 1)))
POINTS = Subject(
    "stencil_2d",
    stencil_2d.program,
    stencil_2d.inputs,
    stencil_2d.reference,
    Sizes((70, 90), (1000, 1003), (8192, 8192)),
    lambda h, w: 8 * h * w,
)


def ways(size: Size, device: Device) -> list[Way]:
    """Tiles of several shapes."""
    h, w = size
    weights = dict(zip(("MIDDLE", "SIDE", "CORNER"), (f"{v}f" for v in stencil_2d.WEIGHTS), strict=True))
    return [
        Way(
            {**weights, "ROWS": rows, "COLUMNS": columns},
            (Call("stencil", ("x", "out_0"), size, (-(-w // columns) * gx, -(-h // rows) * gy), (gx, gy)),),
        )
        for rows, columns, (gx, gy) in TILES
    ]


KERNELS = (ByHand("stencil_2d", POINTS, ("stencil_2d",), ways),)
