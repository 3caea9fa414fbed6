"""Products of bytes on matrix units: exact sums in i32, of lines that are read as matrices and of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.measurement.expected_results import sample_inputs
from egglift.costmodel.search.sizes import Point
from egglift.egraph.schedules.structures import Structure, structures
from egglift.egraph.stages.partition import stages_of
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.types import I8, I32
from tests.codegen.emulated_fragments import UNOPTIMISED, emulated
from tests.deep import every
from tests.egraph.schedules.test_fragments import LIMITS, arr, point
from tests.harness import run

pytestmark = pytest.mark.short

SMALL = {"m": 16, "n": 16, "k": 32, "R": 2, "E": 1, "f": 0}
WARPS = {"m": 32, "n": 32, "k": 64, "R": 2, "E": 2, "F": 2}


def wide(name: str, *shape: int) -> Any:
    return arr(name, *shape, t=I8).cast(I32)


PRODUCTS: dict[str, Callable[[], Any]] = {
    "whole tiles": lambda: wide("A", 64, 64) @ wide("B", 64, 32),
    "the second transposed": lambda: wide("A", 64, 128) @ wide("B", 64, 128).T,
    "rows beyond the edge": lambda: wide("A", 67, 64) @ wide("B", 32, 64).T,
    "columns beyond the edge": lambda: wide("A", 64, 64) @ wide("B", 29, 64).T,
    "scaled and cast": lambda: ((wide("A", 64, 64) @ wide("B", 32, 64).T).cast(el.f32) * 0.01).cast(el.f16),
}


def of_way(program: Any, way: str) -> list[Structure]:
    stages = stages_of(as_program(program), True).stages
    return [s for stage in stages for s in structures(stage, "gpu", True) if s.sign.endswith(way)]


@pytest.mark.parametrize(("name", "way"), every(2, PRODUCTS, ("fragments", "streamed")))
def test_sums_of_products_of_bytes_are_exact(name: str, way: str) -> None:
    sizes = SMALL if way == "fragments" else WARPS
    program = as_program(PRODUCTS[name]())
    rng = np.random.default_rng(0)
    data = {n: rng.integers(-128, 128, np.shape(x), np.int8) for n, x in sample_inputs(program).items()}
    expected = np.asarray(evaluate(program, data)).reshape(-1)
    (s,) = of_way(program, way)
    found = point(s, LIMITS, **sizes)
    assert isinstance(found, Point), found
    assert "multiply_i8_16x8x32(" in found.plan.source
    (actual,) = run(emulated(found.plan), dict(data), UNOPTIMISED)
    np.testing.assert_array_equal(np.asarray(actual).reshape(-1).astype(expected.dtype), expected)


def test_bytes_that_are_not_cast_wrap_around_and_take_no_unit() -> None:
    assert not of_way(arr("A", 64, 64, t=I8) @ arr("B", 64, 32, t=I8), "fragments")
    assert not of_way(arr("A", 64, 64, t=I8).cast(el.f32) @ arr("B", 64, 32, t=I8).cast(el.f32), "fragments")


def test_bytes_are_packed_by_fours_or_read_as_matrices() -> None:
    (plain,) = of_way(PRODUCTS["whole tiles"](), "streamed")
    (transposed,) = of_way(PRODUCTS["the second transposed"](), "streamed")
    sources = [found.plan.source for s in (plain, transposed) if isinstance(found := point(s, LIMITS, **WARPS), Point)]
    packed = "(uint)(uchar)b0[0] | (uint)(uchar)b0[1] << 8 | (uint)(uchar)b0[2] << 16 | (uint)(uchar)b0[3] << 24"
    assert [packed in source for source in sources] == [True, False]
    assert "load_matrices_4(&b0[0]" in sources[1]
