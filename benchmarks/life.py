"""A picture of Conway's Game of Life, every generation computed by a generated kernel.

python benchmarks/life.py [--device NAME] [--size 160x240] [--generations 300] [--out life.png]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script: benchmarks is not installed

import egglift as el
from benchmarks.programs import game_of_life

#: a "methuselah": seven cells that live for thousands of generations
ACORN = ((0, 1), (1, 3), (2, 0), (2, 1), (2, 4), (2, 5), (2, 6))


def first(h: int, w: int) -> Any:
    """The first generation."""
    cells = np.zeros((h, w), np.int32)
    for i, j in ACORN:
        cells[h // 2 + i, w // 2 + j] = 1
    return cells


def last_seen(cells: Any, kernel: Any, generations: int) -> tuple[Any, Any]:
    """The last generation, and for every cell how many generations ago it was alive (or -1)."""
    seen = np.where(cells == 1, 0, -1)
    for generation in range(1, generations + 1):
        cells = kernel(x=cells)
        seen[cells == 1] = generation
    return cells, np.where(seen < 0, -1, generations - seen)


def picture(ago: Any, out: Path) -> None:
    """Living cells bright, cells darker the longer they are dead."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    glow = np.where(ago < 0, 0.0, 0.25 + 0.75 * np.exp(-np.maximum(ago, 0) / 40))
    pyplot.imsave(out, glow.repeat(4, 0).repeat(4, 1), cmap="magma", vmin=0, vmax=1)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", help="part of the device's name")
    parser.add_argument("--size", default="160x240", help="rows x columns")
    parser.add_argument("--generations", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("life.png"))
    given = parser.parse_args()
    h, w = map(int, given.size.split("x"))
    kernel = el.optimize(game_of_life.program(h, w), device=given.device)
    cells, ago = last_seen(first(h, w), kernel, given.generations)
    picture(ago, given.out)
    print(f"{kernel!r}\n{int(cells.sum())} cells alive after {given.generations} generations; {given.out}")


if __name__ == "__main__":
    main()
