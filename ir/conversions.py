"""From one scalar type to another: what `cast` means, to the interpreter and to kernels.

Integers wrap around.  Floats lose their fraction on the way to integers, and saturate: what is out of range, infinities
too, becomes the nearest integer of the type, and NaN becomes 0.  C, and NumPy's astype after it, leave that open.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from egglift.ir.types import Scalar, scalar_of

NdArray = np.ndarray[Any, Any]


def is_saturating(source: Scalar, target: Scalar) -> bool:
    """Can a number of one type be out of the other's range, such that it saturates?"""
    return source.is_float and target.is_integer


def integers(t: Scalar) -> tuple[int, int]:
    """The least and the largest number of an integer type."""
    bits = 8 * t.size - t.is_signed
    return (-(1 << bits) if t.is_signed else 0), (1 << bits) - 1


def converted(x: NdArray, dtype: np.dtype[Any]) -> NdArray:
    """`x` in another dtype; see above."""
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        return x.astype(dtype)
    least, most = integers(scalar_of(dtype))
    wide = x.astype(np.float32) if x.dtype == np.float16 else x  # which holds `most + 1` of every type
    above, within = wide >= wide.dtype.type(most + 1), wide >= least
    inside = np.where(within & ~above, wide, wide.dtype.type(0)).astype(dtype)
    return np.where(above, dtype.type(most), np.where(wide < least, dtype.type(least), inside))
