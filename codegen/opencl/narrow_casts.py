"""The OpenCL of conversions between f16 and bf16, which are 16 bits, and floats: to the nearest, ties to even.

Those of tf32 are floats already, and ties go away from 0.

f16 is converted by `vload_half` and `vstore_half`, number by number, where the device has them right: they are core
OpenCL, and need no extension.  The rest are operations on integers, of whole vectors.  PoCL (3.0) takes six times as
long for its `vload_half`, and its `vstore_half` loses numbers between barriers.  NVIDIA has instructions that
round two numbers at once, which OpenCL C leaves out.
"""

from __future__ import annotations

from dataclasses import replace

from egglift.codegen.opencl.natives import NVIDIAS, Natives
from egglift.codegen.opencl.scalar_functions import CALL_BYTES, memory_type, stripped
from egglift.ir.types import BF16, F16, F32, F64, Scalar

#: of single numbers
_BUILT_IN = {
    (F16, F32): "float {name}(ushort a) {{ return vload_half(0, (const half*)&a); }}",
    (F32, F16): "ushort {name}(float a) {{\n  ushort r;\n  vstore_half_rte(a, 0, (half*)&r);\n  return r;\n}}",
}
_TO_F32 = {
    "f16": (
        "{f} {name}({u} a) {{\n  const uint{n} u = convert_uint{n}(a);\n"
        "  const {f} finite = as_{f}((u & 0x7fff) << 13) * 0x1p112f;\n"
        "  const uint{n} special = (u & 0x7fff) >= 0x7c00 ? (uint{n})(0x7f800000) : (uint{n})(0);\n"
        "  return as_{f}(as_uint{n}(finite) | special | (u & 0x8000) << 16);\n}}"
    ),
    "bf16": "{f} {name}({u} a) {{ return as_{f}(convert_uint{n}(a) << 16); }}",
}
_FROM_F32 = {
    "f16": (
        "{u} {name}({f} a) {{\n  const uint{n} u = as_uint{n}(a) & 0x7fffffff;\n"
        "  const uint{n} tiny = as_uint{n}(as_{f}(u) + 0.5f) - 0x3f000000;\n"
        "  const uint{n} near = (u + 0xc8000fff + (u >> 13 & 1)) >> 13;\n"
        "  const uint{n} beyond = u > 0x7f800000 ? (uint{n})(0x7e00) : (uint{n})(0x7c00);\n"
        "  const uint{n} r = u < 0x38800000 ? tiny : u < 0x47800000 ? near : beyond;\n"
        "  return convert_ushort{n}(r | (as_uint{n}(a) >> 16 & 0x8000));\n}}"
    ),
    "bf16": (
        "{u} {name}({f} a) {{\n  const uint{n} u = as_uint{n}(a);\n"
        "  const uint{n} near = (u + 0x7fff + (u >> 16 & 1)) >> 16;\n"
        "  return convert_ushort{n}((u & 0x7fffffff) > 0x7f800000 ? u >> 16 | 64 : near);\n}}"
    ),
    "tf32": (
        "{f} {name}({f} a) {{\n  const uint{n} u = as_uint{n}(a);\n"
        "  return as_{f}(((u & 0x7fffffff) > 0x7f800000 ? u | 0x400000 : u + 0x1000) & 0xffffe000);\n}}"
    ),
}
#: f64 cut off, with a last bit that says so: rounded again, it is rounded once
_ODD = """float odd_f32(double a) {
  const float near = (float)a;
  if (near == a || a != a) return near;
  const uint cut = as_uint(near) - (fabs((double)near) > fabs(a) ? 1 : 0);
  return as_float(cut | 1);
}"""


#: one number, and two at once: of which the second one is the upper half
_PTX = {
    1: ('ushort r;\n  asm("cvt.rn.{t}.f32 %0, %1;" : "=h"(r) : "f"(a));', "r"),
    2: ('uint r;\n  asm("cvt.rn.{t}x2.f32 %0, %1, %2;" : "=r"(r) : "f"(a.s1), "f"(a.s0));', "as_ushort2(r)"),
}


def narrow_cast(source: Scalar, target: Scalar, x: str, helpers: dict[str, str], has: Natives, width: int = 1) -> str:
    """`x` from a narrow type to f32, or from f32 or f64 to it, by a function of our own; a vector if `width` > 1."""
    return f"{_function(source, target, width, helpers, has)}({stripped(x)})"


def _function(source: Scalar, target: Scalar, width: int, helpers: dict[str, str], has: Natives) -> str:
    if has.ptx and source == F32 and target in (F16, BF16) and width <= 2:
        return _rounding(target, width, helpers, has)
    name = f"cast_{source.name}_{target.name}" + (f"x{width}" if width > 1 else "")
    given, made = memory_type(source, width), memory_type(target, width)
    components = [f"a.s{k:x}" for k in range(width)] if width > 1 else ["a"]
    text = ""
    if source == F64:
        one = _function(F32, target, 1, helpers, has)
        helpers["odd_f32"] = _ODD
        text = ", ".join(f"{one}(odd_f32({x}))" for x in components)
    elif width * F32.size > CALL_BYTES or (has.ptx and width > 2 and target in (F16, BF16)):
        half = _function(source, target, width // 2, helpers, has)
        text = f"{half}(a.lo), {half}(a.hi)"
    elif has.halves and (source, target) in _BUILT_IN and width > 1:
        one = _function(source, target, 1, helpers, has)
        text = ", ".join(f"{one}({x})" for x in components)
    if text:
        helpers[name] = f"{made} {name}({given} a) {{ return {f'({made})({text})' if width > 1 else text}; }}"
        return name
    of_integers = _TO_F32[source.name] if source.is_narrow else _FROM_F32[target.name]
    template = _BUILT_IN.get((source, target), of_integers) if has.halves else of_integers
    types = {"f": memory_type(F32, width), "u": memory_type(F16, width), "n": str(width) if width > 1 else ""}
    helpers[name] = template.format(name=name, **types)
    return name


def _rounding(target: Scalar, width: int, helpers: dict[str, str], has: Natives) -> str:
    """The function that rounds one f32, or two, in one instruction; where an exported kernel runs on another maker's
    device, as OpenCL C has it."""
    name = f"round_{target.name}" + (f"x{width}" if width > 1 else "")
    plain = _function(F32, target, width, helpers, replace(has, ptx=False))
    own, result = _PTX[width]
    helpers[name] = (
        f"{memory_type(target, width)} {name}({memory_type(F32, width)} a) {{\n#if {NVIDIAS}\n"
        f"  {own.format(t=target.name)}\n  return {result};\n#else\n  return {plain}(a);\n#endif\n}}"
    )
    return name
