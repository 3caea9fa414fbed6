"""Products within programs: what is beside them keeps no stage from matrix units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import egglift as el
from egglift.egraph.schedules.ranking import ranked
from egglift.egraph.schedules.structures import structures
from egglift.egraph.stages.matrix_products import unit_of
from egglift.egraph.stages.partition import stages_of
from egglift.ir.lifting import as_program
from egglift.ir.types import BF16, F16, F32, Scalar
from tests.egraph.schedules.test_fragments import H200, arr

pytestmark = pytest.mark.short

N = 256
COPIED, COMPUTED = ["fragments", "streamed"], ["fragments"]


def gelu(v: Any) -> Any:
    return 0.5 * v * (1 + el.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))


def softmax(row: Any) -> Any:
    largest = row.reduce(el.maximum, float("-inf"))
    powers = row.map(lambda v: el.exp(v - largest))
    total = powers.reduce(el.add, 0.0)
    return powers.map(lambda v: v / total)


def programs(t: Scalar) -> dict[str, tuple[Callable[[], Any], list[list[str]]]]:
    """Programs, and for each of their products the ways on matrix units that a device can run."""
    a, b, c = arr("A", N, N, t=t), arr("B", N, N, t=t), arr("c", N, t=t)
    mask = arr("mask", N, N, t=t)
    q, k, v = (arr(name, N, 64, t=t) for name in "QKV")
    return {
        "bias and GELU": (lambda: (a @ b + c).map(lambda r: r.map(gelu)), [COPIED]),
        "scaled": (lambda: (a @ b) * 0.125, [COPIED]),
        "the first transposed": (lambda: a.T @ b, [COPIED]),
        "the second transposed": (lambda: a @ b.T, [COPIED]),
        "batches": (lambda: arr("A", 3, N, N, t=t) @ arr("B", 3, N, N, t=t), [COPIED]),
        "a factor masked": (lambda: (a * mask) @ b, [COMPUTED]),
        "a factor scaled": (lambda: (a * 0.125) @ b, [COMPUTED]),
        "attention": (lambda: ((q @ k.T) * 0.125).map(softmax) @ v, [COPIED, COMPUTED]),
    }


@pytest.mark.parametrize("t", [F16, BF16, F32], ids=str)
@pytest.mark.parametrize("name", programs(F16))
def test_products_take_matrix_units_beside_anything(name: str, t: Scalar) -> None:
    make, expected = programs(t)[name]
    found = []
    for stage in stages_of(as_program(make()), True).stages:
        if unit_of(stage) is None:
            continue
        signs = set()
        for s in structures(stage, "gpu", True, tf32=True):
            way = s.sign.split()[-1]
            if way in COPIED and ranked(s, H200, H200.limits) is not None:
                signs.add(way)
        found.append(sorted(signs))
    assert found == expected
