"""Functions that NumPy lacks, evaluated on whole arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from egglift.ir.types import Scalar, Tuple, Type

NdArray = np.ndarray[Any, Any]

# Rational approximations on four ranges of |x|: those of the C library by Sun Microsystems (fdlibm, s_erf.c,
# "Freely distributable"), each (numerator, denominator), lowest power first.
_NEAR_ZERO = (
    (
        1.28379167095512558561e-01,
        -3.25042107247001499370e-01,
        -2.84817495755985104766e-02,
        -5.77027029648944159157e-03,
        -2.37630166566501626084e-05,
    ),
    (
        1.0,
        3.97917223959155352819e-01,
        6.50222499887672944485e-02,
        5.08130628187576562776e-03,
        1.32494738004321644526e-04,
        -3.96022827877536812320e-06,
    ),
)
_NEAR_ONE = (
    (
        -2.36211856075265944077e-03,
        4.14856118683748331666e-01,
        -3.72207876035701323847e-01,
        3.18346619901161753674e-01,
        -1.10894694282396677476e-01,
        3.54783043256182359371e-02,
        -2.16637559486879084300e-03,
    ),
    (
        1.0,
        1.06420880400844228286e-01,
        5.40397917702171048937e-01,
        7.18286544141962662868e-02,
        1.26171219808761642112e-01,
        1.36370839120290507362e-02,
        1.19844998467991074170e-02,
    ),
)
_MIDDLE = (
    (
        -9.86494403484714822705e-03,
        -6.93858572707181764372e-01,
        -1.05586262253232909814e01,
        -6.23753324503260060396e01,
        -1.62396669462573470355e02,
        -1.84605092906711035994e02,
        -8.12874355063065934246e01,
        -9.81432934416914548592e00,
    ),
    (
        1.0,
        1.96512716674392571292e01,
        1.37657754143519042600e02,
        4.34565877475229228821e02,
        6.45387271733267880336e02,
        4.29008140027567833386e02,
        1.08635005541779435134e02,
        6.57024977031928170135e00,
        -6.04244152148580987438e-02,
    ),
)
_FAR = (
    (
        -9.86494292470009928597e-03,
        -7.99283237680523006574e-01,
        -1.77579549177547519889e01,
        -1.60636384855821916062e02,
        -6.37566443368389627722e02,
        -1.02509513161107724954e03,
        -4.83519191608651397019e02,
    ),
    (
        1.0,
        3.03380607434824582924e01,
        3.25792512996573918826e02,
        1.53672958608443695994e03,
        3.19985821950859553908e03,
        2.55305040643316442583e03,
        4.74528541206955367215e02,
        -2.24409524465858183362e01,
    ),
)
_AT_ONE = 8.45062911510467529297e-01


def erf(x: NdArray) -> NdArray:
    """The error function, to about 1e-15, in the dtype of `x` (floats; computed in float64)."""
    a = np.minimum(np.abs(x.astype(np.float64)), 6.0).reshape(-1)
    result = np.where(np.isnan(a), a, 1.0)
    ranges = np.digitize(a, (0.84375, 1.25, 1 / 0.35, 6.0))
    for i, part in enumerate((_small, _around_one, _middle, _far)):
        chosen = np.flatnonzero(ranges == i)
        result[chosen] = part(a[chosen])
    return np.asarray(np.copysign(result, x.reshape(-1)).reshape(x.shape), x.dtype)


def _ratio(x: NdArray, p: tuple[tuple[float, ...], tuple[float, ...]]) -> NdArray:
    return np.asarray(_polynomial(x, p[0]) / _polynomial(x, p[1]))


def _polynomial(x: NdArray, coefficients: tuple[float, ...]) -> NdArray:
    total = np.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total *= x
        total += c
    return total


def _small(a: NdArray) -> NdArray:
    return np.asarray(a + a * _ratio(a * a, _NEAR_ZERO))


def _around_one(a: NdArray) -> NdArray:
    return np.asarray(_AT_ONE + _ratio(a - 1, _NEAR_ONE))


def _middle(a: NdArray) -> NdArray:
    return 1.0 - np.exp(-a * a - 0.5625 + _ratio(1 / (a * a), _MIDDLE)) / a


def _far(a: NdArray) -> NdArray:
    return 1 - np.exp(-a * a - 0.5625 + _ratio(1 / (a * a), _FAR)) / a


def counted(a: NdArray, n: int, dtype: np.dtype[Any]) -> NdArray:
    """How often each of 0..n-1 is in each row, the last axis of an array of integers; other numbers do not count."""
    _, flat, count = _places(a, n)
    return np.bincount(flat, minlength=count * n).astype(dtype).reshape(*a.shape[:-1], n)


def summed(a: NdArray, added: Any, n: int, t: Type, dtype: Callable[[Scalar], np.dtype[Any]]) -> Any:
    """The sums of what is added beside each of 0..n-1 in each row, numbers or tuples of such: floats are added in f64,
    integers wrap around; dtype: of numbers of a type."""
    if isinstance(t, Tuple):
        return tuple(summed(a, x, n, own, dtype) for x, own in zip(added, t.items, strict=True))
    assert isinstance(t, Scalar)
    return _summed(a, np.asarray(added), n, dtype(t))


def _summed(a: NdArray, added: NdArray, n: int, dtype: np.dtype[Any]) -> NdArray:
    inside, flat, count = _places(a, n)
    sums = np.zeros(count * n, np.float64 if dtype.kind == "f" else dtype)
    np.add.at(sums, flat, np.broadcast_to(added, a.shape).reshape(inside.shape)[inside])
    return sums.astype(dtype).reshape(*a.shape[:-1], n)


def _places(a: NdArray, n: int) -> tuple[NdArray, NdArray, int]:
    """Which integers of each row are within 0..n-1, where these are in n places for each row, and how many rows."""
    rows = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
    inside = (rows >= 0) & (rows < n)
    first = np.arange(len(rows))[:, None] * n
    return inside, (first + np.where(inside, rows, 0).astype(np.int64))[inside], len(rows)
