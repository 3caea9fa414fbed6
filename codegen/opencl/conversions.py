"""The OpenCL of conversions between scalar types, for scalars and vectors (their meaning: ir/conversions.py).

Saturating conversions are functions of our own, made of comparisons and choices: those of OpenCL (`convert_int_sat`)
are library calls on CPUs.  A number out of range is replaced before it is converted, for C leaves open what that gives.
"""

from __future__ import annotations

from egglift.codegen.opencl.narrow_casts import narrow_cast
from egglift.codegen.opencl.natives import Natives
from egglift.codegen.opencl.scalar_functions import C_NAMES, MASKS, literal, memory_type, stripped, vector_function
from egglift.ir.conversions import integers, is_saturating
from egglift.ir.types import BOOL, F32, SCALARS, TF32, Scalar

#: the type of a mask that is as wide as a number, by bytes
_WHOLE = {s.size: s for s in SCALARS.values() if s.is_integer and s.is_signed}


def scalar_cast(source: Scalar, target: Scalar, x: str, helpers: dict[str, str], has: Natives) -> str:
    """`x` converted, as an expression; has: what the device's compiler does."""
    if source == target or (source, target) == (TF32, F32):
        return x
    if target == BOOL:
        return f"({x} != 0)"
    if source.is_narrow or target.is_narrow:
        return narrow_cast(source, target, x, helpers, has)
    if not is_saturating(source, target):
        return f"({C_NAMES[target.name]}){x}"
    name, (least, most) = f"cast_{source.name}_{target.name}", integers(target)
    low, top, c = _number(least, source), _number(most + 1, source), C_NAMES[target.name]
    helpers[name] = (
        f"{c} {name}({C_NAMES[source.name]} a) {{\n"
        f"  return a >= {top} ? {literal(most, target)} : a >= {low} ? ({c})a : "
        f"{'0' if least == 0 else f'a != a ? 0 : {literal(least, target)}'};\n}}"
    )
    return f"{name}({stripped(x)})"


def vector_cast(source: Scalar, target: Scalar, x: str, width: int, helpers: dict[str, str], has: Natives) -> str:
    """A vector of numbers converted, component by component; neither type is bool."""
    if (source, target) == (TF32, F32):
        return x
    if source.is_narrow or target.is_narrow:
        return narrow_cast(source, target, x, helpers, has, width)
    if not is_saturating(source, target):
        return vector_function(f"convert_{memory_type(target)}", source, target, [stripped(x)], width, helpers)
    name, given = f"cast_{source.name}_{target.name}x{width}", memory_type(source, width)
    least, most = integers(target)
    low, zero = f"({given})({_number(least, source)})", f"({given})({_number(0, source)})"
    if most < 1 << source.digits:  # the bounds are numbers of the source
        top = f"({given})({_number(most, source)})"
        kept = f"a > {top} ? {top} : a >= {low} ? a : {low}"
        result = _converted(source, target, f"a == a ? ({kept}) : {zero}" if least else kept, width, helpers)
        body = f"  return {result};\n"
    else:
        whole, c = _WHOLE[source.size], memory_type(target, width)
        kept = _converted(
            source, target, f"(a >= {low}) & (a < {_number(most + 1, source)}) ? a : {zero}", width, helpers
        )

        def mask(test: str) -> str:
            if source.size == target.size:
                return test
            return vector_function(f"convert_{MASKS[target.size]}", whole, _WHOLE[target.size], [test], width, helpers)

        above, below = mask(f"a >= ({given})({_number(most + 1, source)})"), mask(f"a < {low}")
        body = f"  {c} r = {kept};\n  r = {above} ? ({c})({literal(most, target)}) : r;\n"
        body += f"  return {below} ? ({c})({literal(least, target)}) : r;\n"
    helpers[name] = f"{memory_type(target, width)} {name}({given} a) {{\n{body}}}"
    return f"{name}({stripped(x)})"


def _number(value: int, t: Scalar) -> str:
    """A whole number, which `t` holds, as a float."""
    return literal(float(value), t)


def _converted(source: Scalar, target: Scalar, x: str, width: int, helpers: dict[str, str]) -> str:
    return vector_function(f"convert_{memory_type(target)}", source, target, [x], width, helpers)
