"""Products that warps multiply four together: what kernels compute, what they are made of, and where there are none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.measurement.expected_results import TOLERANCE, sample_inputs
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.schedules.account import account_of
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.ranking import ranked
from egglift.egraph.schedules.structures import Structure, structures
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.stage import Stage
from egglift.ir.conversions import rounded
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.traverse import inputs_in, instantiate
from egglift.ir.types import BF16, F16, F32, F64, I8, TF32, Scalar
from tests.codegen.emulated_fragments import UNOPTIMISED, emulated
from tests.egraph.schedules.test_fragments import H200, arr, point
from tests.egraph.staged import whole
from tests.harness import run

TYPES = {"f16": F16, "bf16": BF16, "tf32": F32}
#: a warp group
ONE = {"m": 64, "n": 64, "k": 64, "q": 1, "F": 3}
#: two warp groups, each with two blocks of rows; columns that lie in two blocks of memory
FOUR = {"m": 256, "n": 128, "k": 16, "q": 2, "F": 3}
#: steps that lie in two blocks of memory; four buffers
LONG = {"m": 64, "n": 64, "k": 128, "q": 1, "F": 4}
#: of numbers of 4 bytes, steps that lie in one block
SHORT = {"m": 64, "n": 64, "k": 32, "q": 1, "F": 3}
#: factors of f32 rounded, and written, though few read them again
ROUNDED = Partitioning(again=1, rounded=True)


def programs(t: Scalar) -> dict[str, Callable[[], Any]]:
    """Programs with a product in them, by what is beside the plain one."""
    return {
        "whole tiles": lambda: arr("A", 128, 256, t=t) @ arr("B", 256, 128, t=t),
        "both transposed": lambda: arr("A", 256, 64, t=t).T @ arr("B", 64, 256, t=t).T,
        "rows by rows": lambda: arr("A", 64, 256, t=t) @ arr("B", 64, 256, t=t).T,
        "columns by columns": lambda: arr("A", 256, 256, t=t).T @ arr("B", 256, 128, t=t),
        "rows beyond the edge, and what follows": lambda: (
            el.tanh(arr("A", 70, 256, t=t) @ arr("B", 256, 64, t=t) * 0.1) + arr("c", 64, t=t)
        ),
        "steps left over": lambda: arr("A", 64, 264, t=t) @ arr("B", 264, 64, t=t),
        "batches": lambda: arr("A", 2, 64, 256, t=t) @ arr("B", 2, 256, 64, t=t),
        "two products of the same rows": lambda: (
            (arr("A", 64, 256, t=t) @ arr("B", 256, 64, t=t)).astype(el.f32)
            * (arr("A", 64, 256, t=t) @ arr("C", 256, 64, t=t)).astype(el.f32)
        ),
    }


def in_groups(program: Any, by: Partitioning = Partitioning()) -> list[Structure]:
    """The structures for warp groups of a program's stages."""
    stages = stages_of(as_program(program), True, by).stages
    return [s for stage in stages for s in structures(stage, "gpu", True) if s.sign.endswith("warp groups")]


def written(program: Any, by: Partitioning) -> dict[str, Any]:
    """Inputs of a program, of which no f32 is a tf32, and what its stages write."""
    data = {name: x / 3 if x.dtype == np.float32 else x for name, x in sample_inputs(program, 0).items()}
    for stage in stages_of(program, True, by).stages:
        data[stage.name] = evaluate(as_pattern(stage), read_by(stage, data))
    return data


def read_by(stage: Stage, data: dict[str, Any]) -> dict[str, Any]:
    """Of some arrays those that a stage reads."""
    return {x.name: np.asarray(data[x.name]) for x in inputs_in(as_pattern(stage))}


@pytest.mark.parametrize(
    ("unit", "name", "sizes"),
    [
        *(("f16", name, ONE) for name in programs(F16)),
        ("bf16", "whole tiles", ONE),
        ("f16", "columns by columns", FOUR),
        ("f16", "both transposed", LONG),
        ("f16", "whole tiles", LONG),
        *(("tf32", name, SHORT) for name in programs(F32)),
        ("tf32", "whole tiles", {**FOUR, "k": 32}),
        ("tf32", "both transposed", {**SHORT, "k": 64}),
    ],
    ids=str,
)
def test_warp_groups_compute_their_program(unit: str, name: str, sizes: dict[str, int]) -> None:
    t = TYPES[unit]
    program, by = as_program(programs(t)[name]()), ROUNDED if unit == "tf32" else Partitioning()
    (s,) = in_groups(program, by)
    data = read_by(s.stage, written(program, by))
    expected = np.asarray(evaluate(as_pattern(s.stage), data, wide=True)).reshape(-1)  # as the stage writes it
    found = point(s, H200.limits, **sizes)
    assert isinstance(found, Point), found
    assert f"multiply_{unit}_groups_64x{sizes['n']}x{sizes['k']}_" in found.plan.source
    (actual,) = run(emulated(found.plan), data, UNOPTIMISED)
    assert np.abs(actual.astype(np.float64) - expected).max() <= TOLERANCE[t.name] * np.abs(expected).max()


def test_kernels_in_tf32_multiply_rounded_factors() -> None:
    """All kernels of a product: two that round and write its factors, and one of warp groups, which cuts bits off."""
    a, b = np.random.default_rng(4).standard_normal((2, 128, 128), np.float32)
    stages = stages_of(as_program(arr("A", 128, 128, t=F32).T @ arr("B", 128, 128, t=F32)), True, ROUNDED)
    terms = {}
    for stage in stages.stages:
        s = next(s for s in structures(stage, "gpu", True) if s.sign.endswith(("warp groups", "moved")))
        search = Search(s.term, s.tiles, H200, H200.limits)
        sizes = {n: size for n, t in s.tiles.items() if (size := SHORT.get(t.kind))}
        terms[stage.name] = instantiate(s.term, search.fitting({**search.start(), **sizes}))
    plan = compile_term(whole(stages, terms), search.launches()[0], H200.limits)
    assert [k.source.count("cast_f32_tf32") > 0 for k in plan.kernels] == [True, True, False]
    (found,) = run(emulated(plan), {"A": a, "B": b}, UNOPTIMISED)
    exact = rounded(a, TF32).astype(np.float64).T @ rounded(b, TF32).astype(np.float64)
    assert np.abs(found.reshape(exact.shape) - exact).max() < 1e-5 * np.abs(exact).max()


def test_units_read_lines_as_they_lie() -> None:
    """A tile's rows, and its columns, are steps beside each other, or lines beside each other, as in memory."""

    def name(make: Callable[[], Any]) -> str:
        (s,) = in_groups(make())
        found = point(s, H200.limits, **{**ONE, "n": 128})
        assert isinstance(found, Point)
        (called,) = {*re.findall(r"multiply_f16_groups_64x128x64_(\w+)\(&", found.plan.source)}
        return str(called)

    halves = programs(F16)
    assert name(halves["whole tiles"]) == "along_across8192"  # two blocks of 64 columns, each of 64 rows of 128 bytes
    assert name(lambda: arr("A", 128, 256, t=F16) @ arr("B", 128, 256, t=F16).T) == "along_along"
    assert name(halves["columns by columns"]) == "across_across8192"
    assert name(lambda: arr("A", 256, 128, t=F16).T @ arr("B", 128, 256, t=F16).T) == "across_along"


def test_products_go_on_while_copies_are_waited_for() -> None:
    (s,) = in_groups(arr("A", 512, 1024, t=F16) @ arr("B", 1024, 512, t=F16))
    for buffers in (3, 4):
        found = point(s, H200.limits, m=128, n=256, k=64, q=1, F=buffers)
        assert isinstance(found, Point)
        (kernel,) = found.plan.kernels
        (loop,) = re.findall(r"\n  for \(int i\d+ = 0; i\d+ < 16; .*?\n  }\n", kernel.source, re.DOTALL)
        calls = re.findall(r"(multiply|await_copies_\d|show_units|barrier|close_copies|await_products)", loop)
        assert calls == [
            "multiply",
            f"await_copies_{buffers - 3}",
            "show_units",
            "barrier",
            "close_copies",
            "await_products",
        ]
        assert kernel.local_bytes == buffers * 2 * 64 * (128 + 256)
        assert kernel.source.count("aligned(1024)") == 2


@pytest.mark.parametrize(
    "limits",
    [
        replace(H200.limits, matrix_units=("f16",)),
        replace(H200.limits, group_unit_bytes=0),
        replace(H200.limits, group_unit_bytes=64 << 10),
    ],
)
def test_a_device_without_warp_groups_has_no_such_kernels(limits: DeviceLimits) -> None:
    (s,) = in_groups(arr("A", 512, 1024, t=F16) @ arr("B", 1024, 512, t=F16))
    assert ranked(s, H200, limits) is None or limits.group_unit_bytes
    found = point(s, limits, m=128, n=256, k=64, q=1, F=3)
    assert "bytes of local memory, the device has" in str(found)


def test_two_buffers_are_too_few_and_left_to_warps() -> None:
    """Two buffers are too few for units that read one while another is waited for."""
    (s,) = in_groups(programs(F16)["whole tiles"]())
    found = point(s, H200.limits, **{**ONE, "F": 2})
    assert isinstance(found, Point)
    assert "multiply_f16_16x8x16(" in found.plan.source and "_groups_" not in found.plan.source


@pytest.mark.parametrize("t", [F32, F64, I8])
def test_other_types_have_no_warp_groups(t: Scalar) -> None:
    """f32s have some where they are rounded, and written, before."""
    factors = arr("A", 256, 256, t=t), arr("B", 256, 256, t=t)
    assert not in_groups(factors[0] @ factors[1])


def test_closed_prices_of_warp_groups_are_of_legal_kernels() -> None:
    for t, by in ((F16, Partitioning()), (F32, ROUNDED)):
        large = arr("A", 4096, 4096, t=t) @ arr("B", 4096, 4096, t=t)
        for program in (programs(t)["batches"](), large):
            (s,) = in_groups(program, by)
            found = ranked(s, H200, H200.limits)
            assert found is not None
            for i in range(0, len(found.seconds), 1 + len(found.seconds) // 5):
                exact = found.search.point(found.sizes(i), found.launch_of(i))
                assert isinstance(exact, Point), (found.sizes(i), exact)
                assert "_groups_" in exact.plan.source, found.sizes(i)
                assert 0.7 < found.seconds[i] / exact.estimate.seconds < 1.5, found.sizes(i)


def test_large_products_are_found_for_warp_groups() -> None:
    """The tiles that were the fastest of many on an H200 are the model's choice."""
    program = as_program(arr("A", 4096, 4096, t=F16) @ arr("B", 4096, 4096, t=F16))
    best = scheduled(program, H200, H200.limits, True)[0]
    sizes = {"m0": 128, "n1": 256, "k2": 64, "q0": 1, "F0": 4}
    assert (best.sign, dict(best.sizes)) == ("tile 01 warp groups", sizes)


def test_large_products_in_tf32_are_found_for_warp_groups() -> None:
    """Where they may be rounded: rounding both matrices takes less than warps would take longer."""
    program = as_program(arr("A", 4096, 4096, t=F32) @ arr("B", 4096, 4096, t=F32))
    ways = [
        c.sign.split(" | ") for c in (scheduled(program, H200, H200.limits, True, tf32=x)[0] for x in (True, False))
    ]
    assert ways[0] == ["tile 1 each", "tile 01 moved", "tile 01 warp groups"] and ways[1] == ["tile 01 chunks"]


@pytest.mark.parametrize("unit", ["f16", "tf32"])
def test_the_kernel_of_a_product_by_warp_groups(request: pytest.FixtureRequest, unit: str) -> None:
    t, by, k = (F32, ROUNDED, 32) if unit == "tf32" else (F16, Partitioning(), 64)
    (s,) = in_groups(arr("A", 256, 256, t=t) @ arr("B", 256, 256, t=t), by)
    found = point(s, H200.limits, m=128, n=64, k=k, q=1, F=3)
    assert isinstance(found, Point)
    path = Path(__file__).with_name(f"product_by_warp_groups_{unit}.cl")
    if request.config.getoption("--update-golden"):
        path.write_text(found.plan.source)
    assert found.plan.source == path.read_text(), "pytest --update-golden writes what it looks like now"


def test_an_account_says_how_operands_lie() -> None:
    (s,) = in_groups(programs(F16)["whole tiles"]())
    text = account_of(s.stage, s.sign, s.schedule, {}).text
    assert "keep operand 0 in local memory, as warp groups read it" in text and "tf32" not in text
    (s,) = in_groups(programs(F32)["whole tiles"](), ROUNDED)
    assert "on matrix units, factors were rounded to tf32, 11 bits" in account_of(s.stage, s.sign, s.schedule, {}).text
