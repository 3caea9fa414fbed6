"""The OpenCL of conversions between f16 and bf16, which are 16 bits, and floats: to the nearest, ties to even.

f16 is converted by `vload_half` and `vstore_half`, which are core OpenCL: they need no extension.
"""

from __future__ import annotations

from egglift.codegen.opencl.scalar_functions import CALL_BYTES, memory_type, stripped
from egglift.ir.types import F16, F32, F64, Scalar

_LOAD = {
    "f16": "{f} {name}({u} a) {{ return vload_half{n}(0, (const half*)&a); }}",
    "bf16": "{f} {name}({u} a) {{ return as_{f}(convert_uint{n}(a) << 16); }}",
}
_STORE = {
    "f16": "{u} {name}({f} a) {{\n  {u} r;\n  vstore_half{n}_rte(a, 0, (half*)&r);\n  return r;\n}}",
    "bf16": (
        "{u} {name}({f} a) {{\n  const uint{n} u = as_uint{n}(a);\n"
        "  const uint{n} near = (u + 0x7fff + (u >> 16 & 1)) >> 16;\n"
        "  return convert_ushort{n}((u & 0x7fffffff) > 0x7f800000 ? u >> 16 | 64 : near);\n}}"
    ),
}
#: f64 cut off, with a last bit that says so: rounded again, it is rounded once
_ODD = """float f32_of_f64(double a) {
  const float near = (float)a;
  if (near == a || a != a) return near;
  const uint cut = as_uint(near) - (fabs((double)near) > fabs(a) ? 1 : 0);
  return as_float(cut | 1);
}"""


def narrow_cast(source: Scalar, target: Scalar, x: str, helpers: dict[str, str]) -> str:
    """`x`, a scalar, from f16 or bf16 to f32, or from f32 or f64 to them."""
    return f"{_function(source, target, 1, helpers)}({stripped(x)})"


def narrow_vector_cast(source: Scalar, target: Scalar, x: str, width: int, helpers: dict[str, str]) -> str:
    """The same of a vector."""
    return f"{_function(source, target, width, helpers)}({stripped(x)})"


def _function(source: Scalar, target: Scalar, width: int, helpers: dict[str, str]) -> str:
    name = f"{target.name}_of_{source.name}" + (f"x{width}" if width > 1 else "")
    given, made = memory_type(source, width), memory_type(target, width)
    if source == F64:
        one = _function(F32, target, 1, helpers)
        helpers["f32_of_f64"] = _ODD
        if width == 1:
            text = f"{made} {name}({given} a) {{ return {one}(f32_of_f64(a)); }}"
        else:
            parts = ", ".join(f"{one}(f32_of_f64(a.s{k:x}))" for k in range(width))
            text = f"{made} {name}({given} a) {{ return ({made})({parts}); }}"
    elif width * F32.size > CALL_BYTES:
        half = _function(source, target, width // 2, helpers)
        text = f"{made} {name}({given} a) {{ return ({made})({half}(a.lo), {half}(a.hi)); }}"
    else:
        template = _LOAD[source.name] if source.is_narrow else _STORE[target.name]
        types = {"f": memory_type(F32, width), "u": memory_type(F16, width), "n": str(width) if width > 1 else ""}
        text = template.format(name=name, **types)
    helpers[name] = text
    return name
