"""Functions by NumPy's names that other scalar functions make up.  On scalars and, element by element, on arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from egglift.ir import patterns as p
from egglift.ir import promotion
from egglift.ir.axes import scalar_of_elements
from egglift.ir.errors import TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.lifting import is_number
from egglift.ir.promotion import float_of
from egglift.ir.reducing import recast
from egglift.ir.scalars import OF_PARTS
from egglift.ir.text import brief
from egglift.ir.types import BOOL, C128, F64, Scalar
from egglift.ir.value import Like, Value, as_value, elementwise, typed


def isnan(x: Like) -> Value:
    """Is x NaN?  Of integers: no."""
    return elementwise("ne", as_value(x), as_value(x))


def isfinite(x: Like) -> Value:
    """Is x neither infinite nor NaN?  Of integers: yes; of complex numbers: both parts."""
    if is_complex(x):
        return _of_parts("logical_and", isfinite, x)
    return _beside_infinity(x, "lt", "eq")


def isinf(x: Like) -> Value:
    """Is x infinite?  Of integers: no; of complex numbers: one of the parts."""
    if is_complex(x):
        return _of_parts("logical_or", isinf, x)
    return _beside_infinity(x, "eq", "ne")


def is_complex(x: Like) -> bool:
    """Is x complex, or an array of complex numbers?"""
    return scalar_of_elements(as_value(x).expr).is_complex


def _of_parts(op: str, f: Callable[[Like], Value], x: Like) -> Value:
    return elementwise(op, f(elementwise("real", x)), f(elementwise("imag", x)))


def _beside_infinity(x: Like, op: str, of_integers: str) -> Value:
    """How |x| compares with infinity; of integers, how x does with itself."""
    x = as_value(x)
    if scalar_of_elements(x.expr).is_float:
        return elementwise(op, elementwise("abs", x), math.inf)
    return elementwise(of_integers, x, x)


def clip(x: Like, min: Like = None, max: Like = None) -> Value:
    """x, but at least `min` and at most `max`; None: no bound.  NaN is propagated."""
    x = as_value(x) if min is None else elementwise("maximum", x, min)
    return x if max is None else elementwise("minimum", x, max)


def square(x: Like) -> Value:
    """x * x."""
    return elementwise("mul", as_value(x), as_value(x))


def trunc(x: Like) -> Value:
    """The whole number next to x towards 0.  Integers are as they are."""
    return elementwise("trunc", as_value(x))


def rint(x: Like) -> Value:
    """The whole number next to x, the even one of two that are as near."""
    return elementwise("rint", as_floats(x))


def reciprocal(x: Like) -> Value:
    """1 / x of floats.  TypeMismatch of integers, for which NumPy gives 0 but for 1 and -1."""
    x = as_value(x)
    if not scalar_of_elements(x.expr).is_inexact:
        raise TypeMismatch(f"reciprocal of {brief(x.expr)}, which is {x.type}: cast it to a float type, or write 1 / x")
    return elementwise("div", 1, x)


def log1p(x: Like) -> Value:
    """log(1 + x), exactly so where 1 + x is rounded to 1."""
    x = as_floats(x)
    u = 1 + x
    return elementwise("where", (u == 1) | (u == math.inf), x, elementwise("log", u) * (x / (u - 1)))


def expm1(x: Like) -> Value:
    """exp(x) - 1, exactly so where exp(x) is rounded to 1."""
    x = as_floats(x)
    u = elementwise("exp", x)
    less = u - 1
    rough = (u == 1) | (u == math.inf) | (less == -1)
    return elementwise("where", rough, elementwise("where", u == 1, x, less), less * (x / elementwise("log", u)))


def log10(x: Like) -> Value:
    """The logarithm to base 10."""
    return elementwise("mul", elementwise("log", x if is_complex(x) else as_floats(x)), 1 / math.log(10))


def sinh(x: Like) -> Value:
    """The hyperbolic sine."""
    x = as_floats(x)
    size = elementwise("abs", x)
    e, half = expm1(size), elementwise("exp", size / 2)
    above = elementwise("where", size < 1, (e + e / (e + 1)) / 2, (half / 2) * half - 0.5 / half / half)
    return elementwise("where", x < 0, -above, above)


def cosh(x: Like) -> Value:
    """The hyperbolic cosine."""
    half = elementwise("exp", elementwise("abs", as_floats(x)) / 2)
    return (half / 2) * half + 0.5 / half / half


def hypot(x: Like, y: Like) -> Value:
    """sqrt(x^2 + y^2), the length of (x, y), where the squares are out of range too."""
    a, b = (elementwise("abs", v) for v in met_floats(x, y))
    most, least = elementwise("maximum", a, b), elementwise("minimum", a, b)
    ratio = elementwise("where", most == 0, most, least / most)
    length = most * elementwise("sqrt", 1 + ratio * ratio)
    return elementwise("where", (a == math.inf) | (b == math.inf), math.inf, length)


def deg2rad(x: Like) -> Value:
    """Degrees as radians."""
    return as_floats(x) * (math.pi / 180)


def rad2deg(x: Like) -> Value:
    """Radians as degrees."""
    return as_floats(x) * (180 / math.pi)


def around(x: Like, decimals: int = 0) -> Value:
    """x rounded to so many decimals, ties to even, as NumPy computes it: of the product with a power of ten."""
    v = as_value(x)
    if is_complex(v):
        raise TypeMismatch(f"around of {brief(v.expr)}, which is {v.type}: round x.real and x.imag")
    if not scalar_of_elements(v.expr).is_float:
        if decimals >= 0:
            return v
        raise TypeMismatch(f"around of {brief(v.expr)}, which is {v.type}, to {decimals} decimals: cast it to floats")
    if decimals == 0:
        return elementwise("rint", v)
    power = float(10 ** abs(decimals))
    if decimals > 0:
        return elementwise("rint", v * power) / power
    return elementwise("rint", v / power) * power


def fix(x: Like) -> Value:
    """The whole number next to x towards 0, as a float."""
    return trunc(as_floats(x))


def sinc(x: Like) -> Value:
    """sin(pi x) / (pi x), and 1 for 0."""
    x = as_floats(x) * math.pi
    return elementwise("where", x == 0, 1.0, elementwise("sin", x) / x)


def cbrt(x: Like) -> Value:
    """The cube root."""
    x = as_floats(x)
    size = elementwise("abs", x)
    rough = elementwise("pow", size, 1 / 3)
    root = rough - (rough - size / (rough * rough)) / 3
    whole = elementwise("where", (size == 0) | (size == math.inf), size, root)
    return elementwise("where", x < 0, -whole, elementwise("where", x == 0, x, whole))


def logical_xor(x: Like, y: Like) -> Value:
    """Is exactly one of them true (not 0)?"""
    return elementwise("ne", as_value(x).cast(BOOL), as_value(y).cast(BOOL))


def float_power(x: Like, y: Like) -> Value:
    """x to the power y in f64, or in c128 where one is complex, whatever the types: `power` is computed in theirs."""
    x, y = _as_one((x, y), lambda operands: C128 if promotion.common(operands).is_complex else F64)
    return elementwise("pow", x, y)


def met(*operands: Like) -> tuple[Value, ...]:
    """Operands in the type in which NumPy combines them, where Python's numbers are weak."""
    return _as_one(operands, promotion.common)


def met_floats(*operands: Like) -> tuple[Value, ...]:
    """Operands in the float type in which NumPy computes a function of them; TypeMismatch of complex numbers."""
    return tuple(map(as_floats, _as_one(operands, promotion.common_float)))


def _as_one(operands: Sequence[Like], at: Callable[[Sequence[promotion.Operand]], Scalar]) -> tuple[Value, ...]:
    given = [x if isinstance(x, promotion.Number) and is_number(x) else as_value(x) for x in operands]
    t = at([p.Arg(scalar_of_elements(x.expr)) if isinstance(x, Value) else x for x in given])
    return tuple(typed(recast(x.expr, t)) if isinstance(x, Value) else Value(promotion.literal(x, t)) for x in given)


def as_floats(x: Like) -> Value:
    """x, integers and bools as the floats in which NumPy computes functions of them; TypeMismatch if x is complex."""
    v = as_value(x)
    t = scalar_of_elements(v.expr)
    if t.is_complex:
        raise TypeMismatch(f"a function of floats is given {brief(v.expr)}, which is {v.type}: {OF_PARTS}")
    return v if t.is_float else v.cast(float_of(t))


explain(globals())
