"""Into how many pieces reductions are shared out: those whose results alone do not fill the device."""

from __future__ import annotations

from typing import Any

import pytest

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.pieces import numbers_of_pieces
from egglift.egraph.stages.merging import merged_reductions
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import add_up, arr

GPU, CPU = presets()["nvidia_h200"], presets()["pocl_cpu"]


def product(m: int, k: int, n: int) -> Any:
    return arr("A", m, k) @ arr("B", k, n)


def contraction() -> Any:
    return el.einsum("abcd,ijcd->ijab", arr("w", 64, 64, 64, 64), arr("t", 24, 24, 64, 64))


@pytest.mark.parametrize(
    ("program", "pieces"),
    [
        (lambda: add_up(arr("x", 1 << 24)), [256, 1024, 4096]),  # one result
        (lambda: add_up(arr("x", 20)), []),  # of too few elements
        (lambda: product(1000, 1003, 997), [4]),
        (lambda: product(576, 4096, 4096), [2, 4]),  # some tiles, which do not come out even
        (contraction, [2, 4]),  # the same along four dimensions
        (lambda: product(576, 512, 4096), []),
        (lambda: product(4096, 4096, 4096), []),  # tiles enough
    ],
)
def test_gpus_are_filled_with_groups(program: Any, pieces: list[int]) -> None:
    assert numbers_of_pieces(merged_reductions(only_stage(program())), GPU) == pieces


def test_cpus_share_out_few_rows_only() -> None:
    assert numbers_of_pieces(only_stage(add_up(arr("x", 1 << 24))), CPU)
    assert numbers_of_pieces(only_stage(product(576, 4096, 4096)), CPU) == []
