"""Inverse circular and hyperbolic functions, by NumPy's names.  On scalars and, element by element, on arrays."""

from __future__ import annotations

import math

from egglift.ir.composed import as_floats, log1p
from egglift.ir.keywords import explain
from egglift.ir.value import Like, Value, elementwise

#: from here on x * x is large beside 1 in every float type
FAR = 1e4


def arcsin(x: Like) -> Value:
    """The angle in -pi/2 .. pi/2 whose sine is x; NaN beyond -1 .. 1."""
    x = as_floats(x)
    return elementwise("atan2", x, _opposite(x))


def arccos(x: Like) -> Value:
    """The angle in 0 .. pi whose cosine is x; NaN beyond -1 .. 1."""
    x = as_floats(x)
    return elementwise("atan2", _opposite(x), x)


def _opposite(x: Value) -> Value:
    return elementwise("sqrt", (1 - x) * (1 + x))


def arctan(x: Like) -> Value:
    """The angle in -pi/2 .. pi/2 whose tangent is x."""
    return elementwise("atan2", as_floats(x), 1)


def arcsinh(x: Like) -> Value:
    """The number whose hyperbolic sine is x."""
    x = as_floats(x)
    size = elementwise("abs", x)
    near = log1p(size + size * size / (1 + elementwise("sqrt", size * size + 1)))
    above = elementwise("where", size > FAR, elementwise("log", size) + math.log(2), near)
    return elementwise("where", x < 0, -above, elementwise("where", size == 0, x, above))


def arccosh(x: Like) -> Value:
    """The number, not below 0, whose hyperbolic cosine is x; NaN below 1."""
    x = as_floats(x)
    more = x - 1
    near = log1p(more + elementwise("sqrt", more * (x + 1)))
    found = elementwise("where", x > FAR, elementwise("log", x) + math.log(2), near)
    return elementwise("where", x < 1, math.nan, found)


def arctanh(x: Like) -> Value:
    """The number whose hyperbolic tangent is x; infinite for 1 and -1, NaN beyond."""
    x = as_floats(x)
    size = elementwise("abs", x)
    above = log1p(2 * size / (1 - size)) / 2
    return elementwise("where", x < 0, -above, elementwise("where", size == 0, x, above))


explain(globals())
