"""Exported programs over run-time lengths: a call says them, and they are right at all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.codegen.export.c_compiler import compiled, execute
from tests.deep import sampled
from tests.run_time_programs import PROGRAMS, Program

HERE = Path(__file__).parent
#: of one length; of several: nothing, one, the edges of tiles, more
SHORT = [(n, 0, 0) for n in (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 128, 1000, 4099)]
EDGES = [(0, 1, 2), (1, 1, 1), (2, 0, 3), (3, 5, 0), (4, 8, 8), (5, 7, 9), (16, 16, 16), (33, 70, 31), (257, 130, 200)]
OFTEN = {"scal", "dot in pieces", "gemv"}


def rows_of(name: str) -> list[dict[str, int]]:
    """Lengths at which a program means something: no window of 3 fits into a grid of nothing and its edges."""
    rows = SHORT if len(PROGRAMS[name].letters) == 1 else EDGES
    return [dict(zip("nmk", row)) for row in rows if name != "jacobi" or row[0] * row[1]]


def ran(p: Program, example: Path, numbers: dict[str, int], folder: Path) -> Any:
    """What the example of an exported program writes at these lengths."""
    data = p.data(numbers)
    wanted = np.asarray(p.meaning(*data.values()))
    files = [folder / f"{name}.bin" for name in data]
    for file, array in zip(files, data.values(), strict=True):
        array.tofile(file)
    done = execute(example, *(numbers[c] for c in p.letters), *files, folder / "out.bin")
    assert done.returncode == 0, done.stderr
    return np.fromfile(folder / "out.bin", np.float32).reshape(wanted.shape), wanted


@pytest.mark.parametrize("name", sampled(PROGRAMS, OFTEN.__contains__))
def test_c_is_right_at_all_lengths(name: str, tmp_path: Path) -> None:
    p = PROGRAMS[name]
    p.kernel().export(tmp_path / "made", name="program")
    example = compiled(tmp_path / "example", *sorted((tmp_path / "made").glob("*.c")))
    for numbers in rows_of(name):
        found, wanted = ran(p, example, numbers, tmp_path)
        assert np.allclose(found, wanted, rtol=1e-3, atol=1e-4), numbers
