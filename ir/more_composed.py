"""More functions by NumPy's names that others make up: signs, remainders, comparisons, NaN left out.

On scalars and, element by element, on arrays.
"""

from __future__ import annotations

import math

import numpy as np

from egglift.ir.axes import scalar_of_elements
from egglift.ir.composed import as_floats, isnan, log1p, trunc
from egglift.ir.errors import TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.making import full_like
from egglift.ir.text import brief
from egglift.ir.types import BOOL
from egglift.ir.value import Like, Value, as_value, elementwise


def positive(x: Like) -> Value:
    """x as it is."""
    return as_value(x)


def signbit(x: Like) -> Value:
    """Is x negative, or -0.0?  Of NaN: no, whatever its sign."""
    v = as_value(x)
    negative = elementwise("lt", v, 0)
    if not scalar_of_elements(v.expr).is_float:
        return negative
    return negative | ((v == 0) & (elementwise("div", 1, v) < 0))


def copysign(x: Like, y: Like) -> Value:
    """|x| with the sign of y."""
    size = elementwise("abs", as_floats(x))
    return elementwise("where", signbit(y), -size, size)


def fmod(x: Like, y: Like) -> Value:
    """The rest of x / y, with the sign of x, as in C."""
    x, y = as_value(x), as_value(y)
    if scalar_of_elements(x.expr).is_float or scalar_of_elements(y.expr).is_float:
        rest = elementwise("mod", elementwise("abs", x), elementwise("abs", y))
        return elementwise("where", signbit(x), -rest, rest)
    rest = elementwise("mod", x, y)  # |x| of the least integer is itself
    other_side = (rest != 0) & ((rest < 0) != (x < 0))
    return elementwise("where", other_side, rest - y, rest)


def fmax(x: Like, y: Like) -> Value:
    """The greater one; the other one where one is NaN."""
    return _other_than_nan("maximum", x, y)


def fmin(x: Like, y: Like) -> Value:
    """The smaller one; the other one where one is NaN."""
    return _other_than_nan("minimum", x, y)


def _other_than_nan(op: str, x: Like, y: Like) -> Value:
    x, y = as_value(x), as_value(y)
    return elementwise("where", isnan(x), y, elementwise("where", isnan(y), x, elementwise(op, x, y)))


def logaddexp(x: Like, y: Like) -> Value:
    """log(exp(x) + exp(y)), where the powers are out of range too."""
    x, y = as_floats(x), as_floats(y)
    most = elementwise("maximum", x, y)
    return elementwise("where", x == y, x + math.log(2), most + log1p(elementwise("exp", -elementwise("abs", x - y))))


def logical_xor(x: Like, y: Like) -> Value:
    """Is exactly one of them true (not 0)?"""
    return elementwise("ne", as_value(x).cast(BOOL), as_value(y).cast(BOOL))


def heaviside(x: Like, y: Like) -> Value:
    """0 where x is negative, 1 where it is positive, y where it is 0, and NaN where it is NaN."""
    x = as_floats(x)
    side = elementwise("where", x < 0, 0.0, elementwise("where", x > 0, 1.0, x))
    return elementwise("where", x == 0, y, side)


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


def around(x: Like, decimals: int = 0) -> Value:
    """x rounded to so many decimals, ties to even, as NumPy computes it: of the product with a power of ten."""
    v = as_value(x)
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


def nan_to_num(x: Like, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Value:
    """x with numbers for NaN and the infinities: by default 0, and the largest and the least finite number."""
    v = as_value(x)
    t = scalar_of_elements(v.expr)
    if not t.is_float:
        return v
    most = float(np.finfo(t.dtype).max) if not t.is_narrow or t.name == "f16" else 3.3895313892515355e38
    above, below = most if posinf is None else posinf, -most if neginf is None else neginf
    finite = elementwise("where", v == -math.inf, below, v)
    return elementwise("where", isnan(v), nan, elementwise("where", v == math.inf, above, finite))


def isclose(x: Like, y: Like, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Value:
    """Is |x - y| at most atol + rtol |y|?  Infinities are close to themselves, NaN (with equal_nan) to NaN."""
    x, y = as_floats(x), as_floats(y)
    near = elementwise("abs", x - y) <= elementwise("abs", y) * rtol + atol
    close: Value = (x == y) | (near & (elementwise("abs", y) < math.inf))
    if equal_nan:
        close = close | (isnan(x) & isnan(y))
    return close


def fix(x: Like) -> Value:
    """The whole number next to x towards 0, as a float."""
    return trunc(as_floats(x))


def conj(x: Like) -> Value:
    """x, which is real."""
    return as_value(x)


def real(x: Like) -> Value:
    """x, which is real."""
    return as_value(x)


def imag(x: Like) -> Value:
    """0, as x is real."""
    return full_like(x, 0)


explain(globals())
