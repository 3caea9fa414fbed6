"""Which literal matrices are outer products: a numeric test, before any law runs."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np

from egglift.ir.patterns import Constant
from egglift.ir.types import Array, Scalar

#: how far from the product an element may be, in roundings of the largest
ROUNDINGS = 4


def factors(c: Constant) -> tuple[Constant, Constant] | None:
    """`u` and `v` with `c[i][j] = u[i] * v[j]`, for floats but for rounding; None if there are none."""
    match c.type:
        case Array(int() as n, Array(int() as m, Scalar() as t)) if n > 1 and m > 1 and t.name != "bool":
            matrix = np.frombuffer(c.data, t.dtype).reshape(n, m)
            vectors = _floats(matrix, t) if t.is_float else _integers(matrix)
            if vectors is not None:
                u, v = (np.ascontiguousarray(x, t.dtype) for x in vectors)
                return Constant(Array(n, t), u.tobytes()), Constant(Array(m, t), v.tobytes())
    return None


def _floats(matrix: Any, t: Scalar) -> tuple[Any, Any] | None:
    wide = matrix.astype(np.float64)
    if not np.isfinite(wide).all() or not wide.any():
        return None
    i, j = np.unravel_index(np.abs(wide).argmax(), wide.shape)
    u, v = wide[:, j], wide[i] / wide[i, j]
    scale = np.sqrt(np.abs(v).max() / np.abs(u).max())  # neither is much larger than the other
    u, v = u * scale, v / scale
    error = np.abs(wide - np.outer(u, v)).max()
    return (u, v) if error <= ROUNDINGS * t.epsilon * np.abs(wide).max() else None


def _integers(matrix: Any) -> tuple[Any, Any] | None:
    exact = matrix.astype(object)  # Python's integers: nothing overflows
    rows = [row for row in exact if any(row)]
    if not rows:
        return None
    v = rows[0] // gcd(*(int(x) for x in rows[0]))
    j = next(k for k, x in enumerate(v) if x)
    u = exact[:, j] // v[j]
    return (u, v) if (np.outer(u, v) == exact).all() else None
