"""Functions by NumPy's names that other scalar functions make up.  On scalars and, element by element, on arrays."""

from __future__ import annotations

import math

from egglift.ir.types import Scalar
from egglift.ir.value import Like, Value, as_value, elementwise


def isnan(x: Like) -> Value:
    """Is x NaN?  Of integers: no."""
    return elementwise("ne", as_value(x), as_value(x))


def isfinite(x: Like) -> Value:
    """Is x neither infinite nor NaN?  Of integers: yes."""
    x = as_value(x)
    return elementwise("lt", elementwise("abs", x), math.inf) if _has_floats(x) else elementwise("eq", x, x)


def isinf(x: Like) -> Value:
    """Is x infinite?  Of integers: no."""
    x = as_value(x)
    return elementwise("eq", elementwise("abs", x), math.inf) if _has_floats(x) else elementwise("ne", x, x)


def clip(x: Like, low: Like = None, high: Like = None) -> Value:
    """x, but at least `low` and at most `high`; None: no bound.  NaN is propagated."""
    x = as_value(x) if low is None else elementwise("maximum", x, low)
    return x if high is None else elementwise("minimum", x, high)


def square(x: Like) -> Value:
    """x * x."""
    return elementwise("mul", as_value(x), as_value(x))


def _has_floats(x: Value) -> bool:
    t = x.type
    while not isinstance(t, Scalar) and hasattr(t, "element"):
        t = t.element
    return isinstance(t, Scalar) and t.is_float
