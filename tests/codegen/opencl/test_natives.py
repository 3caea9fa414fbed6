"""What a device's compiler has beside the core of OpenCL C is used there, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import presets
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import BF16, F16, F32, F64, I32, Scalar
from tests.codegen.low import fmap, op, vector
from tests.harness import run

PLAIN = DeviceLimits(warp=32)
NVIDIAS = replace(PLAIN, ptx_functions=True)


def text(name: str, t: Scalar, limits: DeviceLimits, width: int = 1) -> str:
    """The kernel of a function of the numbers of two arrays, some at a time."""
    both = p.Zip((vector("x", 64, t=t), vector("y", 64, t=t)))

    def body(pair: Expr) -> Expr:
        return op(name, p.Get(0, pair), p.Get(1, pair))

    one_by_one = fmap(body, both, "global")
    several = p.Join(fmap(lambda row: fmap(body, row, "vec"), p.Split(width, both), "global"))
    return compile_term(one_by_one if width == 1 else several, limits=limits).source


@pytest.mark.parametrize(("name", "ptx"), [("minimum", "min.NaN.f32"), ("maximum", "max.NaN.f32")])
@pytest.mark.parametrize("width", [1, 4])
def test_extrema_of_f32_are_one_instruction_on_nvidia(name: str, ptx: str, width: int) -> None:
    source = text(name, F32, NVIDIAS, width)
    assert source.count(f'asm("{ptx} ') == 1
    assert f"{name}_f32x4(" in source if width == 4 else "x4" not in source


@pytest.mark.parametrize("width", [1, 2, 4])
def test_powers_of_two_are_one_instruction_on_nvidia(width: int) -> None:
    x = vector("x", 64)
    whole = fmap(lambda v: op("exp2_or_zero", v), x, "global")
    rows = p.Join(fmap(lambda row: fmap(lambda v: op("exp2_or_zero", v), row, "vec"), p.Split(width, x), "global"))
    plan = compile_term(whole if width == 1 else rows, limits=NVIDIAS)
    assert plan.source.count('asm("ex2.approx.ftz.f32 ') == 1
    given = np.linspace(-30, 3, 64, dtype=np.float32)
    (found,) = run(plan, {"x": given})  # as other compilers have it
    np.testing.assert_allclose(found, np.exp2(given), rtol=1e-6)


@pytest.mark.parametrize("t", [F16, BF16], ids=str)
@pytest.mark.parametrize("width", [1, 2, 8])
def test_numbers_are_rounded_in_pairs_on_nvidia(t: Scalar, width: int) -> None:
    x = vector("x", 64)
    whole = fmap(lambda v: p.Cast(t, v), x, "global")
    rows = p.Join(fmap(lambda row: fmap(lambda v: p.Cast(t, v), row, "vec"), p.Split(width, x), "global"))
    plan = compile_term(whole if width == 1 else rows, limits=NVIDIAS)
    assert f"cvt.rn.{t.name}{'x2' if width > 1 else ''}.f32" in plan.source
    assert ("as_uint" in plan.source.split("kernel ")[-1]) is (width > 1), "pairs stay together where they are stored"
    given = np.linspace(-300, 300, 64, dtype=np.float32) ** 3
    (found,) = run(plan, {"x": given})
    np.testing.assert_array_equal(found, given.astype(t.dtype))


@pytest.mark.parametrize("t", [F16, F64, I32])
def test_extrema_of_other_types_are_comparisons(t: Scalar) -> None:
    assert ("asm" in text("minimum", t, NVIDIAS)) is (t == F16), "f16 is computed in f32"
    assert "asm" not in text("minimum", t, PLAIN)


@pytest.mark.parametrize("name", ["add", "mul", "atan2"])
def test_other_functions_are_written_as_everywhere(name: str) -> None:
    assert text(name, F32, NVIDIAS) == text(name, F32, PLAIN)


def test_profiles_say_which_devices_have_them() -> None:
    known = presets()
    assert {name: known[name].limits.ptx_functions for name in ("generic_gpu", "nvidia_h200", "pocl_cpu")} == {
        "generic_gpu": False,
        "nvidia_h200": True,
        "pocl_cpu": False,
    }


def test_kernels_for_nvidia_compute_the_same_elsewhere() -> None:
    both = p.Zip((vector("x", 64), vector("y", 64)))
    lesser = fmap(lambda pair: op("minimum", p.Get(0, pair), p.Get(1, pair)), both, "global")
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    x[3], y = np.nan, x[::-1].copy()
    plan = compile_term(lesser, limits=NVIDIAS)
    assert "asm" in plan.source
    (found,) = run(plan, {"x": x, "y": y})
    np.testing.assert_array_equal(found, np.minimum(x, y))
