"""The OpenCL of conversions between f16 and bf16, which are 16 bits, and floats: to the nearest, ties to even.

f16 is converted by `vload_half` and `vstore_half`, which are core OpenCL: they need no extension.  On a CPU what is
loaded is made by operations on integers.
"""

from __future__ import annotations

from egglift.codegen.opencl.scalar_functions import CALL_BYTES, memory_type, stripped
from egglift.ir.types import F16, F32, F64, Scalar

_TO_F32 = {
    "f16": "{f} {name}({u} a) {{ return vload_half{n}(0, (const half*)&a); }}",
    "bf16": "{f} {name}({u} a) {{ return as_{f}(convert_uint{n}(a) << 16); }}",
}
#: PoCL's `vload_half` goes element by element, and takes six times as long
_TO_F32_ON_CPU = {
    "f16": (
        "{f} {name}({u} a) {{\n  const uint{n} u = convert_uint{n}(a);\n"
        "  const {f} finite = as_{f}((u & 0x7fff) << 13) * 0x1p112f;\n"
        "  const uint{n} special = (u & 0x7fff) >= 0x7c00 ? (uint{n})(0x7f800000) : (uint{n})(0);\n"
        "  return as_{f}(as_uint{n}(finite) | special | (u & 0x8000) << 16);\n}}"
    ),
    "bf16": _TO_F32["bf16"],
}
_FROM_F32 = {
    "f16": "{u} {name}({f} a) {{\n  {u} r;\n  vstore_half{n}_rte(a, 0, (half*)&r);\n  return r;\n}}",
    "bf16": (
        "{u} {name}({f} a) {{\n  const uint{n} u = as_uint{n}(a);\n"
        "  const uint{n} near = (u + 0x7fff + (u >> 16 & 1)) >> 16;\n"
        "  return convert_ushort{n}((u & 0x7fffffff) > 0x7f800000 ? u >> 16 | 64 : near);\n}}"
    ),
}
#: f64 cut off, with a last bit that says so: rounded again, it is rounded once
_ODD = """float odd_f32(double a) {
  const float near = (float)a;
  if (near == a || a != a) return near;
  const uint cut = as_uint(near) - (fabs((double)near) > fabs(a) ? 1 : 0);
  return as_float(cut | 1);
}"""


def narrow_cast(source: Scalar, target: Scalar, x: str, helpers: dict[str, str], cpu: bool, width: int = 1) -> str:
    """`x` from f16 or bf16 to f32, or from f32 or f64 to them, by a function of our own; a vector if `width` > 1."""
    return f"{_function(source, target, width, helpers, cpu)}({stripped(x)})"


def _function(source: Scalar, target: Scalar, width: int, helpers: dict[str, str], cpu: bool) -> str:
    name = f"cast_{source.name}_{target.name}" + (f"x{width}" if width > 1 else "")
    given, made = memory_type(source, width), memory_type(target, width)
    if source == F64:
        one = _function(F32, target, 1, helpers, cpu)
        helpers["odd_f32"] = _ODD
        parts = ", ".join(f"{one}(odd_f32(a.s{k:x}))" for k in range(width)) if width > 1 else ""
        text = f"({made})({parts})" if parts else f"{one}(odd_f32(a))"
        helpers[name] = f"{made} {name}({given} a) {{ return {text}; }}"
    elif width * F32.size > CALL_BYTES:
        half = _function(source, target, width // 2, helpers, cpu)
        helpers[name] = f"{made} {name}({given} a) {{ return ({made})({half}(a.lo), {half}(a.hi)); }}"
    else:
        to_f32 = _TO_F32_ON_CPU if cpu else _TO_F32
        template = to_f32[source.name] if source.is_narrow else _FROM_F32[target.name]
        types = {"f": memory_type(F32, width), "u": memory_type(F16, width), "n": str(width) if width > 1 else ""}
        helpers[name] = template.format(name=name, **types)
    return name
