"""Functions of f32 on a CPU, as quotients of polynomials, beside what they are."""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.codegen.opencl.quotients import QUOTIENTS, quotient
from egglift.costmodel.profiles.profile import presets
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr, Level
from tests.harness import run

CPU, GPU = open_device("pocl").limits, presets()["nvidia_h200"].limits
UNITS = 7  # in the last place, that a result may be off
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "erf": (el.erf, erf),
    "tanh": (el.tanh, lambda v: float(np.tanh(np.float64(v)))),
}
SPECIAL = np.array([np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 1e-38, 3e38, -3e38], np.float32)


def computed(name: str, x: Any, lanes: int) -> Any:
    f = FUNCTIONS[name][0]
    given = el.array("x", el.f32, len(x))
    program = as_program(given.split(lanes).map(lambda v: v.map(f)))
    assert isinstance(program, p.Map)
    (out,) = run(compile_term(levelled(program, lanes), Launch(8), CPU), {"x": x})
    return out


def levelled(program: p.Map, lanes: int) -> Expr:
    inner = program.body
    assert isinstance(inner, p.Map)
    return p.Map(p.Map(inner.body, inner.x, Level("vec") if lanes > 1 else Level("seq")), program.x, Level("global", 0))


@pytest.mark.parametrize("name", QUOTIENTS)
@pytest.mark.parametrize("lanes", (1, 4, 16))
def test_quotients_are_near_their_functions(name: str, lanes: int) -> None:
    x = np.concatenate([np.linspace(-12, 12, 4000), np.geomspace(1e-30, 9, 2000)]).astype(np.float32)
    want = np.array([FUNCTIONS[name][1](float(v)) for v in x])
    got = computed(name, x, lanes).astype(np.float64)
    assert np.all(np.abs(got - want) <= UNITS * np.spacing(np.abs(want).astype(np.float32)))
    assert np.all(np.abs(got) <= 1)


@pytest.mark.parametrize("name", QUOTIENTS)
@pytest.mark.parametrize("lanes", (1, 3))
def test_ends_zeros_and_nan_are_exact(name: str, lanes: int) -> None:
    got = computed(name, SPECIAL, 1)
    np.testing.assert_array_equal(got[[0, 1, 7, 8]], [1, -1, 1, -1])
    np.testing.assert_array_equal(np.signbit(got), np.signbit(SPECIAL))
    assert np.isnan(computed(name, np.full(lanes, np.nan, np.float32), 1)).all()


def test_one_function_stands_above_the_kernels() -> None:
    helpers: dict[str, str] = {}
    assert quotient("erf", ["x"], 4, helpers) == quotient("erf", ["x"], 4, helpers) == "erf_f32x4(x)"
    assert quotient("tanh", ["y"], 1, helpers) == "tanh_f32(y)"
    assert list(helpers) == ["erf_f32x4", "tanh_f32"]
    assert helpers["tanh_f32"].startswith("float tanh_f32(float a) {")


@pytest.mark.parametrize("limits", (GPU, CPU))
def test_only_a_cpu_has_them_and_only_of_f32(limits: DeviceLimits) -> None:
    def source(t: Any) -> str:
        program = as_program(el.array("x", t, 64).map(el.erf))
        assert isinstance(program, p.Map)
        return compile_term(p.Map(program.body, program.x, Level("global", 0)), Launch(8), limits).source

    assert ("erf_f32(" in source(el.f32)) == (limits is CPU)
    assert "erf(x[" in source(el.f64)
