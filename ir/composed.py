"""Functions by NumPy's names that other scalar functions make up.  On scalars and, element by element, on arrays."""

from __future__ import annotations

import math

from egglift.ir.axes import scalar_of_elements
from egglift.ir.value import Like, Value, as_value, elementwise


def isnan(x: Like) -> Value:
    """Is x NaN?  Of integers: no."""
    return elementwise("ne", as_value(x), as_value(x))


def isfinite(x: Like) -> Value:
    """Is x neither infinite nor NaN?  Of integers: yes."""
    x = as_value(x)
    return (
        elementwise("lt", elementwise("abs", x), math.inf)
        if scalar_of_elements(x.expr).is_float
        else elementwise("eq", x, x)
    )


def isinf(x: Like) -> Value:
    """Is x infinite?  Of integers: no."""
    x = as_value(x)
    return (
        elementwise("eq", elementwise("abs", x), math.inf)
        if scalar_of_elements(x.expr).is_float
        else elementwise("ne", x, x)
    )


def clip(x: Like, low: Like = None, high: Like = None) -> Value:
    """x, but at least `low` and at most `high`; None: no bound.  NaN is propagated."""
    x = as_value(x) if low is None else elementwise("maximum", x, low)
    return x if high is None else elementwise("minimum", x, high)


def square(x: Like) -> Value:
    """x * x."""
    return elementwise("mul", as_value(x), as_value(x))
