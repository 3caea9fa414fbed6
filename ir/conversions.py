"""From one scalar type to another: what `cast` means, to the interpreter and to kernels.

Integers wrap around.  Floats lose their fraction on the way to integers, and saturate: what is out of range, infinities
too, becomes the nearest integer of the type, and NaN becomes 0.  C, and NumPy's astype after it, leave that open.

Floats become the nearest number of a narrower type, of two the one whose last bit is 0; of tf32 the one farther from 0,
as matrix units round.  f16, bf16 and tf32 are computed in f32: their numbers, rounded once, are held as f32s until they
are stored.  Integers go to them through f32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from egglift.ir.types import BF16, F16, TF32, Scalar, is_floating, scalar_of

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
    if not is_floating(x.dtype) or dtype.kind not in "iu":
        return x.astype(dtype)
    least, most = integers(scalar_of(dtype))
    wide = x if x.dtype in (np.float32, np.float64) else x.astype(np.float32)  # which holds `most + 1` of every type
    above, within = wide >= wide.dtype.type(most + 1), wide >= least
    inside = np.where(within & ~above, wide, wide.dtype.type(0)).astype(dtype)
    return np.where(above, dtype.type(most), np.where(wide < least, dtype.type(least), inside))


def rounded(x: NdArray, t: Scalar) -> NdArray:
    """`x` as numbers of type `t`, in the dtype that these are computed in: narrow ones are held as f32s."""
    if not t.is_narrow:
        return converted(x, t.dtype)
    with np.errstate(over="ignore"):
        if t == F16:
            return x.astype(np.float32 if x.dtype.kind in "iu" else x.dtype).astype(np.float16).astype(np.float32)
        bits = np.asarray(_odd(x) if x.dtype == np.float64 else x.astype(np.float32)).view(np.uint32)
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    near, kept = (0x1000, 0xFFFFE000) if t == TF32 else (np.uint32(0x7FFF) + (bits >> 16 & 1), 0xFFFF0000)
    return np.asarray((np.where(is_nan, bits | 0x400000, bits + near) & np.uint32(kept)).view(np.float32))


def stored(x: NdArray, t: Scalar) -> NdArray:
    """`x`, numbers as they are computed, as an array of type `t`: narrow ones are rounded, others as they are."""
    if t == BF16:
        return np.asarray((rounded(x, t).view(np.uint32) >> 16).astype(np.uint16).view(t.dtype))
    return np.asarray(rounded(x, t).astype(t.dtype) if t.is_narrow else x)


def loaded(x: NdArray, t: Scalar) -> NdArray:
    """The inverse of `stored`."""
    return np.asarray(x.astype(np.float32)) if t.is_narrow else x


def _odd(x: NdArray) -> NdArray:
    """f64 as f32, cut off, with a last bit that says so: to round that is to round `x`, and once."""
    near = x.astype(np.float32)
    beyond = np.abs(near.astype(np.float64)) > np.abs(x)
    cut = np.where(beyond, near.view(np.uint32) - np.uint32(1), near.view(np.uint32))
    exact = (near.astype(np.float64) == x) | np.isnan(x)
    return np.asarray(np.where(exact, near.view(np.uint32), cut | np.uint32(1)).view(np.float32))
