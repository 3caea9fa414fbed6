"""What a kernel's text may take from the device's compiler beside the core of OpenCL C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from egglift.codegen.kernel.imperative import Call, DeviceLimits, ScalarValue
from egglift.codegen.opencl.quotients import QUOTIENTS
from egglift.codegen.opencl.scalar_functions import by_comparison, scalar_call
from egglift.ir.types import F32

COMPONENTS = "0123456789abcdef"
#: functions of f32 that are one instruction of NVIDIA's: extrema of which a NaN is the result, and powers of 2
PTX = {"minimum": "min.NaN.f32", "maximum": "max.NaN.f32", "exp2_or_zero": "ex2.approx.ftz.f32"}
#: is the compiler NVIDIA's?  Each of its extensions is a macro
NVIDIAS = "defined(__NV_CL_C_VERSION) || defined(cl_nv_pragma_unroll) || defined(cl_nv_compiler_options)"


@dataclass(frozen=True)
class Natives:
    """What the device's compiler has, and has right.

    halves: OpenCL's conversions of f16.  ptx: NVIDIA's instructions, of which OpenCL C has some as several only: of the
    lesser of two numbers three.  by_lanes: does it call functions for which it has no instructions for each lane of a
    vector?
    """

    halves: bool = False
    ptx: bool = False
    by_lanes: bool = False

    def instruction(self, v: ScalarValue) -> bool:
        """Is there one instruction for `v`?"""
        return self.ptx and isinstance(v, Call) and v.op in PTX and v.type == F32

    def quotient(self, v: ScalarValue) -> bool:
        """Is `v` computed faster as a quotient of polynomials?"""
        return self.by_lanes and isinstance(v, Call) and v.op in QUOTIENTS and v.type == F32


def natives(limits: DeviceLimits) -> Natives:
    """What the compiler of a device with these limits has."""
    return Natives(limits.half_functions, limits.ptx_functions, by_lanes=limits.warp == 1)


def instruction(op: str, args: Sequence[str], width: int, helpers: dict[str, str]) -> str:
    """A call for a function of f32, or of vectors of `width`, number by number, in one instruction each; where an
    exported kernel runs on another maker's device, as OpenCL C has it.

    `minimum` of a and b -> `minimum_f32(a, b)`, of four each -> `minimum_f32x4(a, b)`.
    """
    name, names = f"{op}_f32", "ab"[: len(args)]
    parameters = ", ".join(f"float {x}" for x in names)
    places, inputs = ", ".join(f"%{i}" for i in range(len(names) + 1)), ", ".join(f'"f"({x})' for x in names)
    plain = by_comparison(op, F32) if len(names) > 1 else scalar_call(op, F32, [*names], helpers)
    helpers[name] = (
        f"float {name}({parameters}) {{\n#if {NVIDIAS}\n"
        f'  float c;\n  asm("{PTX[op]} {places};" : "=f"(c) : {inputs});\n  return c;\n'
        f"#else\n  return {plain};\n#endif\n}}"
    )
    if width > 1:
        each = [f"{name}({', '.join(f'{x}.s{k}' for x in names)})" for k in COMPONENTS[:width]]
        name, c = f"{name}x{width}", f"float{width}"
        of_vectors = ", ".join(f"{c} {x}" for x in names)
        helpers[name] = f"{c} {name}({of_vectors}) {{ return ({c})({', '.join(each)}); }}"
    return f"{name}({', '.join(args)})"
