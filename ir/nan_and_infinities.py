"""Functions by NumPy's names that pass over NaN, replace it, or stay right where powers overflow.

On scalars and, element by element, on arrays.
"""

from __future__ import annotations

import math

import numpy as np

from egglift.ir.axes import scalar_of_elements
from egglift.ir.composed import as_floats, is_complex, isnan, log1p, met, met_floats
from egglift.ir.keywords import explain
from egglift.ir.value import Like, Value, as_value, elementwise


def fmax(x: Like, y: Like) -> Value:
    """The greater one; the other one where one is NaN."""
    return _other_than_nan("maximum", x, y)


def fmin(x: Like, y: Like) -> Value:
    """The smaller one; the other one where one is NaN."""
    return _other_than_nan("minimum", x, y)


def _other_than_nan(op: str, x: Like, y: Like) -> Value:
    x, y = met(x, y)
    return elementwise("where", isnan(x), y, elementwise("where", isnan(y), x, elementwise(op, x, y)))


def logaddexp(x: Like, y: Like) -> Value:
    """log(exp(x) + exp(y)), where the powers are out of range too."""
    x, y = met_floats(x, y)
    most = elementwise("maximum", x, y)
    return elementwise("where", x == y, x + math.log(2), most + log1p(elementwise("exp", -elementwise("abs", x - y))))


def logaddexp2(x: Like, y: Like) -> Value:
    """log2(2^x + 2^y), where the powers are out of range too."""
    x, y = met_floats(x, y)
    most = elementwise("maximum", x, y)
    apart = log1p(elementwise("exp2", -elementwise("abs", x - y))) / math.log(2)
    return elementwise("where", x == y, x + 1, most + apart)


def nan_to_num(x: Like, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Value:
    """x with numbers for NaN and the infinities: by default 0, and the largest and the least finite number."""
    v = as_value(x)
    t = scalar_of_elements(v.expr)
    if t.is_complex:
        parts = (nan_to_num(elementwise(part, v), nan, posinf, neginf) for part in ("real", "imag"))
        return elementwise("complex", *parts)
    if not t.is_float:
        return v
    most = float(np.finfo(t.dtype).max) if not t.is_narrow or t.name == "f16" else 3.3895313892515355e38
    above, below = most if posinf is None else posinf, -most if neginf is None else neginf
    finite = elementwise("where", v == -math.inf, below, v)
    return elementwise("where", isnan(v), nan, elementwise("where", v == math.inf, above, finite))


def isclose(x: Like, y: Like, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Value:
    """Is |x - y| at most atol + rtol |y|?  Infinities are close to themselves, NaN (with equal_nan) to NaN."""
    x, y = (v if is_complex(v) else as_floats(v) for v in (x, y))
    near = elementwise("abs", x - y) <= elementwise("abs", y) * rtol + atol
    close: Value = (x == y) | (near & (elementwise("abs", y) < math.inf))
    if equal_nan:
        close = close | (isnan(x) & isnan(y))
    return close


explain(globals())
