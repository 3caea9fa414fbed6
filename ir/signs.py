"""Signs and parts of numbers by NumPy's names: of numbers, of remainders, of complex numbers.

On scalars and, element by element, on arrays.
"""

from __future__ import annotations

from egglift.ir.axes import scalar_of_elements
from egglift.ir.composed import as_floats, is_complex, met, met_floats, rad2deg
from egglift.ir.keywords import explain
from egglift.ir.making import full_like
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
    x, y = met_floats(x, y)
    size = elementwise("abs", x)
    return elementwise("where", signbit(y), -size, size)


def fmod(x: Like, y: Like) -> Value:
    """The rest of x / y, with the sign of x, as in C."""
    x, y = met(x, y)
    if scalar_of_elements(x.expr).is_float:
        rest = elementwise("mod", elementwise("abs", x), elementwise("abs", y))
        return elementwise("where", signbit(x), -rest, rest)
    rest = elementwise("mod", x, y)  # |x| of the least integer is itself
    other_side = (rest != 0) & ((rest < 0) != (x < 0))
    return elementwise("where", other_side, rest - y, rest)


def heaviside(x: Like, y: Like) -> Value:
    """0 where x is negative, 1 where it is positive, y where it is 0, and NaN where it is NaN."""
    x, y = met_floats(x, y)
    side = elementwise("where", x < 0, 0.0, elementwise("where", x > 0, 1.0, x))
    return elementwise("where", x == 0, y, side)


def conj(x: Like) -> Value:
    """The complex conjugate, re - im i; x itself where that is real."""
    return elementwise("conj", x) if is_complex(x) else as_value(x)


def real(x: Like) -> Value:
    """The real part of a complex number; x itself where that is real."""
    return elementwise("real", x) if is_complex(x) else as_value(x)


def imag(x: Like) -> Value:
    """The imaginary part of a complex number; 0 where x is real."""
    return elementwise("imag", x) if is_complex(x) else full_like(x, 0)


def angle(x: Like, deg: bool = False) -> Value:
    """The angle of a complex number, from -pi to pi, or with `deg` in degrees; of a real one 0 or pi."""
    v = as_value(x) if is_complex(x) else as_floats(x)
    found = elementwise("atan2", imag(v), real(v))
    return rad2deg(found) if deg else found


explain(globals())
