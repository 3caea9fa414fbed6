"""What a kernel's text may take from the device's compiler beside the core of OpenCL C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from egglift.codegen.kernel.imperative import Call, DeviceLimits, ScalarValue
from egglift.codegen.opencl.quotients import QUOTIENTS
from egglift.codegen.opencl.scalar_functions import by_comparison
from egglift.ir.types import F32

COMPONENTS = "0123456789abcdef"
PTX = {"minimum": "min", "maximum": "max"}
#: is the compiler NVIDIA's?  Each of its extensions is a macro
NVIDIAS = "defined(__NV_CL_C_VERSION) || defined(cl_nv_pragma_unroll) || defined(cl_nv_compiler_options)"


@dataclass(frozen=True)
class Natives:
    """What the device's compiler has, and has right.

    halves: OpenCL's conversions of f16.  extrema: NVIDIA's instructions for the lesser and the greater of two f32 of
    which a NaN is the result; by comparisons these are three instructions.  by_lanes: does it call functions for which
    it has no instructions for each lane of a vector?
    """

    halves: bool = False
    extrema: bool = False
    by_lanes: bool = False

    def extremum(self, v: ScalarValue) -> bool:
        """Is `v` the lesser or the greater of two numbers, for which there is an instruction?"""
        return self.extrema and isinstance(v, Call) and v.op in PTX and v.type == F32

    def quotient(self, v: ScalarValue) -> bool:
        """Is `v` computed faster as a quotient of polynomials?"""
        return self.by_lanes and isinstance(v, Call) and v.op in QUOTIENTS and v.type == F32


def natives(limits: DeviceLimits) -> Natives:
    """What the compiler of a device with these limits has."""
    return Natives(limits.half_functions, limits.nan_extrema, by_lanes=limits.warp == 1)


def extremum(op: str, args: Sequence[str], width: int, helpers: dict[str, str]) -> str:
    """A call for the lesser or the greater of two f32, or of vectors of `width`, one by one, in one instruction each;
    where an exported kernel runs on another maker's device, by comparisons.

    `minimum` of a and b -> `minimum_f32(a, b)`, of four each -> `minimum_f32x4(a, b)`.
    """
    name = f"{op}_f32"
    helpers[name] = (
        f"float {name}(float a, float b) {{\n#if {NVIDIAS}\n"
        f'  float c;\n  asm("{PTX[op]}.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));\n  return c;\n'
        f"#else\n  return {by_comparison(op, F32)};\n#endif\n}}"
    )
    if width > 1:
        each, name = [f"{name}(a.s{k}, b.s{k})" for k in COMPONENTS[:width]], f"{name}x{width}"
        c = f"float{width}"
        helpers[name] = f"{c} {name}({c} a, {c} b) {{ return ({c})({', '.join(each)}); }}"
    return f"{name}({', '.join(args)})"
