"""Products of f16, bf16 and rounded f32 on matrix units: which programs have them, and what kernels compute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device import device as devices
from egglift.codegen.kernel.fragment_sums import UNITS
from egglift.codegen.kernel.warp_groups import GROUP_UNITS
from egglift.costmodel.measurement.expected_results import TOLERANCE, sample_inputs
from egglift.costmodel.search.sizes import Point
from egglift.egraph.schedules.account import account_of
from egglift.egraph.schedules.ranking import ranked
from egglift.egraph.schedules.structures import Structure, structures
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.ir.conversions import rounded
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.types import BF16, F16, F32, TF32, Scalar
from tests.codegen.emulated_fragments import UNOPTIMISED, emulated
from tests.deep import every
from tests.egraph.schedules.test_fragments import ACROSS, H200, LIMITS, SMALL, TALL, arr, point
from tests.harness import run

pytestmark = pytest.mark.short

TYPES = {"f16": F16, "bf16": BF16, "tf32": F32}


def typed(t: Scalar) -> dict[str, Callable[[], Any]]:
    """Programs with a product in them, by what is beside the plain one."""
    return {
        "whole tiles": lambda: arr("A", 64, 64, t=t) @ arr("B", 64, 32, t=t),
        "tiles that reach beyond the edges": lambda: arr("A", 67, 40, t=t) @ arr("B", 40, 21, t=t),
        "both transposed": lambda: arr("A", 48, 65, t=t).T @ arr("B", 33, 48, t=t).T,
        "rows by rows": lambda: arr("A", 64, 64, t=t) @ arr("B", 32, 64, t=t).T,
        "a matrix by itself": lambda: arr("A", 50, 68, t=t).T @ arr("A", 50, 68, t=t),
        "computed factors": lambda: el.exp(arr("A", 64, 32, t=t)) @ (arr("B", 32, 16, t=t) * 2.0 + 1.0),
        "what follows it": lambda: el.tanh(arr("A", 70, 32, t=t) @ arr("B", 32, 24, t=t) * 0.1) + arr("c", 24, t=t),
        "sums of the type itself": lambda: arr("A", 64, 32, t=t).map(
            lambda r: arr("B", 32, 32, t=t).map(lambda c: el.reduce(el.add, 0.0, r * c))
        ),
        "two products of the same rows, one by the other": lambda: (
            el.tanh((arr("A", 70, 32, t=t) @ arr("B", 32, 24, t=t)).astype(F32) * 0.1)
            * (arr("A", 70, 32, t=t) @ arr("C", 32, 24, t=t)).astype(F32)
        ).astype(t),
        "batches": lambda: arr("A", 3, 66, 32, t=t) @ arr("B", 3, 32, 17, t=t),
    }


def fragments(program: Any, tf32: bool = False, reassociate: bool = True) -> list[Structure]:
    stages = stages_of(as_program(program), reassociate).stages
    return [s for stage in stages for s in structures(stage, "gpu", reassociate, tf32) if s.sign.endswith("fragments")]


@pytest.mark.parametrize(("unit", "name", "sizes"), every(4, TYPES, typed(F32), (SMALL, TALL, ACROSS)))
def test_kernels_of_fragments_compute_their_program(unit: str, name: str, sizes: dict[str, int]) -> None:
    t = TYPES[unit]
    program = as_program(typed(t)[name]())
    data = sample_inputs(program, 0)
    (s,) = fragments(program, tf32=unit == "tf32")
    expected = np.asarray(evaluate(as_pattern(s.stage), data, wide=True)).reshape(-1)  # as the stage writes it
    found = point(s, **sizes)
    assert isinstance(found, Point), found
    assert f"multiply_{unit}_" in found.plan.source
    (actual,) = run(emulated(found.plan), {name: np.asarray(x) for name, x in data.items()}, UNOPTIMISED)
    scale = np.sqrt(np.mean(expected**2))
    rounding = TOLERANCE[t.name] if t.is_narrow else 2.0**-9
    assert actual.dtype == t.dtype
    assert np.abs(actual.astype(np.float64) - expected).max() <= rounding * max(scale, np.abs(expected).max())


def test_f32_is_rounded_for_units_only_where_that_is_allowed() -> None:
    program = typed(F32)["whole tiles"]()
    assert not fragments(program) and not fragments(program, tf32=True, reassociate=False)
    (s,) = fragments(program, tf32=True)
    found = point(s, **SMALL)
    assert isinstance(found, Point)
    x = np.random.default_rng(3).normal(size=(64, 64)).astype(np.float32)
    y = np.random.default_rng(4).normal(size=(64, 32)).astype(np.float32)
    (actual,) = run(emulated(found.plan), {"A": x, "B": y})
    exact = rounded(x, TF32).astype(np.float64) @ rounded(y, TF32)
    np.testing.assert_allclose(actual.reshape(64, 32), exact, rtol=1e-4, atol=1e-4)
    assert np.abs(actual.reshape(64, 32) - x.astype(np.float64) @ y).max() > 1e-4
    assert "rounded to tf32, 11 bits" in account_of(s.stage, s.sign, s.schedule, {}).text


@pytest.mark.parametrize("way", ["fragments", "streamed"])
def test_factors_written_as_tf32_are_not_rounded_again(way: str) -> None:
    """By warps, too, where there are no warp groups: rows of an odd length are copied number by number."""
    program = as_program(arr("A", 67, 43, t=F32) @ arr("B", 43, 37, t=F32))
    stage = stages_of(program, by=Partitioning(again=1, rounded=True)).stages[-1]
    s = next(s for s in structures(stage, "gpu", True) if s.sign.endswith(way))
    rng = np.random.default_rng(5)
    x, y = (rounded(rng.standard_normal(shape), TF32) for shape in ((67, 43), (37, 43)))
    found = point(s, m=32, n=32, k=16, R=2, E=2, f=1, F=2)
    assert isinstance(found, Point), found
    assert "multiply_rounded_tf32_16x8x8(" in found.plan.source and "fma" not in found.plan.source
    (actual,) = run(emulated(found.plan), {"%stage0": x, "%stage1": y}, UNOPTIMISED)
    np.testing.assert_allclose(actual.reshape(67, 37), x.astype(np.float64) @ y.T, rtol=1e-4, atol=1e-4)


def test_factors_of_different_types_are_no_unit_s() -> None:
    a, b = arr("A", 64, 64, t=F16), arr("B", 64, 32, t=BF16)
    assert not fragments(a @ b)
    assert not fragments(a @ arr("B", 64, 32, t=F32))
    assert [s.sign for s in fragments(a @ b, tf32=True)] == ["tile 01 fragments"]  # as f32s, rounded


@pytest.mark.parametrize("t", [F16, BF16], ids=str)
def test_factors_are_staged_as_they_are(t: Scalar) -> None:
    (s,) = fragments(typed(t)["whole tiles"]())
    found = point(s, H200.limits, m=64, n=32, k=16, R=4, E=2, f=1)
    assert isinstance(found, Point)
    (kernel,) = found.plan.kernels
    assert kernel.local_bytes == t.size * (64 * 16 + 16 * 32)  # rows are rotated, not padded
    assert f"cast_{t}_f32" not in kernel.source
    assert "*(local uint4*)&s1[" in kernel.source and "ushort8*)" not in kernel.source  # by words


@pytest.mark.parametrize("unit", TYPES)
def test_units_are_estimated_to_be_faster_than_multiply_adds(unit: str) -> None:
    t = TYPES[unit]
    stage = stages_of(as_program(arr("A", 2048, 2048, t=t) @ arr("B", 2048, 2048, t=t)), True).stages[0]
    best = {s.sign: ranked(s, H200, H200.limits) for s in structures(stage, "gpu", True, True)}
    units, plain = best["tile 01 fragments"], best["tile 01 chunks"]
    assert units is not None and plain is not None
    assert units.best < plain.best


@pytest.mark.parametrize("unit", TYPES)
def test_the_kernel_of_a_product_on_matrix_units(request: pytest.FixtureRequest, unit: str) -> None:
    t = TYPES[unit]
    (s,) = fragments(arr("A", 128, 64, t=t) @ arr("B", 64, 128, t=t), tf32=True)
    found = point(s, H200.limits, m=64, n=32, k=16, R=4, E=2, f=1)
    assert isinstance(found, Point)
    path = Path(__file__).with_name(f"product_on_{unit}_units.cl")
    if request.config.getoption("--update-golden"):
        path.write_text(found.plan.source)
    assert found.plan.source == path.read_text(), "pytest --update-golden writes what it looks like now"


def test_devices_have_units_from_a_compute_capability_on() -> None:
    class Raw:
        def __init__(self, major: int, minor: int) -> None:
            self.compute_capability_major_nv, self.compute_capability_minor_nv = major, minor

    versions = ((7, 5), (8, 0), (8, 9), (9, 0), (10, 0))
    units = {version: set(devices._matrix_units(Raw(*version))) for version in versions}
    of_warps, of_groups = {*UNITS}, {unit.name for unit in GROUP_UNITS.values()}
    assert units[7, 5] == set() and units[8, 0] == units[8, 9] == of_warps - {"f64"}
    assert units[9, 0] == of_warps | of_groups and units[10, 0] == of_warps
    assert set(H200.matrix_costs) == of_warps | of_groups and LIMITS.matrix_units == tuple(H200.matrix_costs)
