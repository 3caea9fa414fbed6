"""Products on matrix units whose tiles are copied ahead: what kernels compute, what they are made of, and where not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.kernel.fragment_sums import UNITS
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.measurement.expected_results import TOLERANCE, sample_inputs
from egglift.costmodel.search.sizes import Point
from egglift.egraph.schedules.account import account_of
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.ranking import ranked
from egglift.egraph.schedules.structures import Structure, structures
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.types import BF16, F16, F32, F64, Scalar
from tests.codegen.emulated_fragments import UNOPTIMISED, emulated
from tests.egraph.schedules.test_fragments import H200, LIMITS, arr, point
from tests.harness import run

TYPES = {"f16": F16, "bf16": BF16, "tf32": F32, "f64": F64}
#: two warps of rows, two of columns; three buffers
WARPS = {"m": 32, "n": 32, "k": 16, "R": 2, "E": 2, "F": 3}
#: a warp whose fragments are read two steps of the unit at once; two buffers
TALL = {"m": 16, "n": 16, "k": 32, "R": 2, "E": 1, "F": 2}
#: two warps of rows; two buffers
SMALL = {"m": 32, "n": 16, "k": 16, "R": 2, "E": 1, "F": 2}
#: as large as on a GPU
LARGE = {"m": 128, "n": 128, "k": 32, "R": 8, "E": 2, "F": 3}


def typed(t: Scalar) -> dict[str, Callable[[], Any]]:
    """Programs with a product in them, by what is beside the plain one."""
    return {
        "whole tiles": lambda: arr("A", 64, 96, t=t) @ arr("B", 96, 64, t=t),
        "both transposed": lambda: arr("A", 64, 128, t=t).T @ arr("B", 64, 64, t=t).T,
        "rows by rows": lambda: arr("A", 64, 64, t=t) @ arr("B", 64, 64, t=t).T,
        "columns by columns": lambda: arr("A", 64, 64, t=t).T @ arr("B", 64, 64, t=t),
        "rows beyond the edge, and what follows": lambda: (
            el.tanh(arr("A", 70, 64, t=t) @ arr("B", 64, 64, t=t) * 0.1) + arr("c", 64, t=t)
        ),
        "steps left over": lambda: arr("A", 64, 98, t=t) @ arr("B", 98, 64, t=t),
        "batches": lambda: arr("A", 2, 64, 64, t=t) @ arr("B", 2, 64, 64, t=t),
    }


def streamed(program: Any, tf32: bool = True) -> list[Structure]:
    stages = stages_of(as_program(program), True).stages
    return [s for stage in stages for s in structures(stage, "gpu", True, tf32) if s.sign.endswith("streamed")]


@pytest.mark.parametrize(
    ("unit", "name", "sizes"),
    [
        *(("f16", name, WARPS) for name in typed(F16)),
        ("f16", "whole tiles", TALL),
        ("f16", "both transposed", TALL),
        ("tf32", "whole tiles", WARPS),
        ("tf32", "both transposed", TALL),
        *(("f64", name, SMALL) for name in typed(F64)),
    ],
    ids=str,
)
def test_kernels_that_copy_ahead_compute_their_program(unit: str, name: str, sizes: dict[str, int]) -> None:
    t = TYPES[unit]
    program = as_program(typed(t)[name]())
    data = sample_inputs(program, 0)
    (s,) = streamed(program)
    expected = np.asarray(evaluate(as_pattern(s.stage), data, wide=True)).reshape(-1)  # as the stage writes it
    found = point(s, replace(LIMITS, local_bytes=36 << 10), **sizes)
    assert isinstance(found, Point), found
    assert f"multiply_{unit}_" in found.plan.source and "  copy_16(" in found.plan.source
    (actual,) = run(emulated(found.plan), {name: np.asarray(x) for name, x in data.items()}, UNOPTIMISED)
    rounding = {"tf32": 2.0**-9, "f64": 1e-13}.get(unit) or TOLERANCE[t.name]
    assert np.abs(actual.astype(np.float64) - expected).max() <= rounding * np.abs(expected).max()


def test_lines_in_memory_are_read_as_matrices() -> None:
    def calls(make: Callable[[], Any], register: str) -> set[str]:
        (s,) = streamed(make())
        found = point(s, H200.limits, **TALL)
        assert isinstance(found, Point)
        lines = [line for line in found.plan.source.splitlines() if f"(&{register}0[" in line]
        return {line.split("(&")[0].strip() for line in lines}

    halves, floats = typed(F16), typed(F32)
    plain, transposed = {"load_matrices_4"}, {"load_matrices_4_transposed"}
    assert (calls(halves["whole tiles"], "a"), calls(halves["whole tiles"], "b")) == (plain, transposed)
    assert (calls(halves["rows by rows"], "a"), calls(halves["rows by rows"], "b")) == (plain, plain)
    columns = halves["columns by columns"]
    assert (calls(columns, "a"), calls(columns, "b")) == (transposed, transposed)
    # of 4 bytes, none are transposed
    assert (calls(floats["whole tiles"], "a"), calls(floats["whole tiles"], "b")) == (plain, set())
    assert (calls(floats["rows by rows"], "a"), calls(floats["rows by rows"], "b")) == (plain, plain)
    assert (calls(floats["columns by columns"], "a"), calls(floats["columns by columns"], "b")) == (set(), set())


def test_each_step_of_copied_tiles_has_one_barrier() -> None:
    (s,) = streamed(arr("A", 256, 256, t=F16) @ arr("B", 256, 256, t=F16))
    for buffers, open in ((2, 0), (3, 1), (4, 2)):
        found = point(s, replace(H200.limits, local_bytes=96 << 10), **{**LARGE, "F": buffers})
        assert isinstance(found, Point)
        (kernel,) = found.plan.kernels
        loops = re.findall(r"\n  for \(int i\d+ = 0; i\d+ < 8; .*?\n  }\n", kernel.source, re.DOTALL)
        (loop,) = [text for text in loops if "await_copies" in text]
        assert loop.count("barrier(") == 1 and loop.count("  close_copies();") == 1
        assert loop.count(f"  await_copies_{open}();") == 1
        assert kernel.local_bytes == buffers * 2 * (128 * 32 + 32 * 128)
        assert "aligned(128)" in kernel.source


def test_fragments_are_loaded_a_product_ahead() -> None:
    """Of two products in a step, what the first multiplies was loaded before the step."""
    (s,) = streamed(typed(F16)["whole tiles"]())
    ahead, alone = (point(s, H200.limits, **{**WARPS, "k": k}) for k in (32, 16))
    assert isinstance(ahead, Point) and isinstance(alone, Point)
    calls = re.findall(r"load_matrices_4\w*\(&([ab]\d)|(barrier)\(|multiply_f16\w+\(&.* (a\d)\[0\]", ahead.plan.source)
    order = [next(filter(None, call)) for call in calls]
    first = order.index("a1")  # where the loop begins
    assert order[first:] == ["a1", "b1", "a0", "a0", "barrier", "a0", "b0", "a1", "a1"]
    assert "a1[" not in alone.plan.source  # one product in a step: none to load beside it


@pytest.mark.parametrize(
    ("make", "limits", "why"),
    [
        ("whole tiles", replace(H200.limits, asynchronous_copies=False), "this device copies nothing asynchronously"),
        ("columns beyond the edge", H200.limits, "its elements are copied 2 bytes at a time"),
        ("odd rows", H200.limits, "its elements are copied 2 bytes at a time"),
        ("computed factors", H200.limits, "its elements are computed, not copied"),
    ],
)
def test_what_cannot_be_copied_ahead_is_refused(make: str, limits: DeviceLimits, why: str) -> None:
    program = {
        **typed(F16),
        "columns beyond the edge": lambda: arr("A", 64, 96, t=F16) @ arr("B", 96, 40, t=F16),
        "odd rows": lambda: arr("A", 64, 98, t=F16) @ arr("B", 98, 33, t=F16),
        "computed factors": lambda: el.exp(arr("A", 64, 96, t=F16)) @ arr("B", 96, 64, t=F16),
    }[make]()
    (s,) = streamed(program)
    assert why in str(point(s, limits, **WARPS))
    assert ranked(s, H200, limits) is None  # as the closed prices say, without code


@pytest.mark.parametrize("unit", TYPES)
def test_closed_prices_of_copied_tiles_are_of_legal_kernels(unit: str) -> None:
    t = TYPES[unit]
    (s,) = streamed(arr("A", 4096, 4096, t=t) @ arr("B", 4096, 4096, t=t))
    found = ranked(s, H200, H200.limits)
    assert found is not None
    for i in range(0, len(found.seconds), 1 + len(found.seconds) // 6):
        exact = found.search.point(found.sizes(i), found.launch_of(i))
        assert isinstance(exact, Point), (found.sizes(i), exact)
        assert 0.7 < found.seconds[i] / exact.estimate.seconds < 1.5, found.sizes(i)


def test_units_multiply_beside_instructions() -> None:
    """Their products take as long as the units need, however few warps there are to fill each other's gaps."""
    (s,) = streamed(arr("A", 4096, 4096, t=F16) @ arr("B", 4096, 4096, t=F16))
    found = point(s, H200.limits, **LARGE)
    assert isinstance(found, Point)
    terms = found.estimate.kernels[0].terms
    least = 4096**3 * H200.matrix_costs["f16"] / H200.issue_rate
    assert least <= terms["units"] <= 1.05 * least  # all but the last round of groups fill the device
    assert terms["instructions"] < terms["units"] / 2


@pytest.mark.parametrize(("unit", "steps"), [("f16", 32), ("tf32", 16)])
def test_large_products_are_found_by_copying_ahead(unit: str, steps: int) -> None:
    """The tiles that were the fastest of many on an H200, by warps, are among the few that are to be measured."""
    t = TYPES[unit]
    program = as_program(arr("A", 4096, 4096, t=t) @ arr("B", 4096, 4096, t=t))
    by_warps = replace(H200.limits, matrix_units=tuple(UNITS))
    choices = scheduled(program, H200, by_warps, True, tf32=True)
    sizes = [dict(c.sizes) for c in choices if c.sign == "tile 01 streamed" and c.launch.swizzle == 8]
    assert {"m0": 128, "n1": 128, "k2": steps, "R0": 8, "E1": 2, "F0": 3} in sizes


@pytest.mark.parametrize("unit", ["f16", "tf32"])
def test_the_kernel_of_a_product_that_copies_ahead(request: pytest.FixtureRequest, unit: str) -> None:
    t = TYPES[unit]
    (s,) = streamed(arr("A", 128, 256, t=t) @ arr("B", 256, 128, t=t))
    found = point(s, H200.limits, m=64, n=64, k=UNITS[unit].steps * 2, R=4, E=2, F=3)
    assert isinstance(found, Point)
    path = Path(__file__).with_name(f"streamed_product_on_{unit}_units.cl")
    if request.config.getoption("--update-golden"):
        path.write_text(found.plan.source)
    assert found.plan.source == path.read_text(), "pytest --update-golden writes what it looks like now"


def test_an_account_says_what_is_copied_ahead() -> None:
    (s,) = streamed(typed(F16)["whole tiles"]())
    text = account_of(s.stage, s.sign, s.schedule, {}).text
    assert "sequential, copied ahead into F0 buffers" in text
    assert "keep operand 0 in local memory, each row rotated by 16 bytes more" in text
