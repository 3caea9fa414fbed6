"""More names of NumPy's and of the array API standard's: `egglift` has them all."""

from __future__ import annotations

import math

from egglift.ir.along_axis import diff, take_along_axis
from egglift.ir.composed import around, cbrt, deg2rad, fix, float_power, logical_xor, rad2deg, sinc
from egglift.ir.contractions import (
    einsum,
    tensordot,
    vecdot,
)
from egglift.ir.covariance import corrcoef, cov
from egglift.ir.functions import absolute, arctan2, bitwise_count, cast, divide, invert, left_shift, right_shift
from egglift.ir.inverse_functions import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
)
from egglift.ir.joining import block, broadcast_arrays, column_stack, concatenate, dstack, hstack, meshgrid, vstack
from egglift.ir.linear_algebra import matrix_norm, vector_norm
from egglift.ir.matrix_parts import diag, diagonal, kron, trace, tril, triu
from egglift.ir.nan_and_infinities import fmax, fmin, isclose, logaddexp, logaddexp2, nan_to_num
from egglift.ir.nan_statistics import nanmax, nanmean, nanmin, nanprod, nanstd, nansum, nanvar
from egglift.ir.reshaping import flip, fliplr, flipud, matrix_transpose, permute_dims, reshape, rot90, squeeze, unstack
from egglift.ir.scans import cumprod, cumsum
from egglift.ir.selecting import append, array_equal, isin, select
from egglift.ir.signals import convolve, correlate, digitize, gradient, interp, polyval, searchsorted, trapezoid
from egglift.ir.signs import angle, conj, copysign, fmod, heaviside, imag, positive, real, signbit
from egglift.ir.statistics import allclose, average, count_nonzero, max, min, ptp
from egglift.ir.windows import sliding_window_view

amax, amin = max, min
acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atanh = arctanh
atan2 = arctan2
astype = cast
bitwise_invert = bitwise_not = invert
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift
conjugate = conj
cumulative_prod = cumprod
cumulative_sum = cumsum
degrees = rad2deg
fabs = absolute
radians = deg2rad
round = around
true_divide = divide
e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi


__all__ = [
    "acos",
    "acosh",
    "allclose",
    "amax",
    "amin",
    "angle",
    "append",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "around",
    "array_equal",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "average",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_right_shift",
    "block",
    "broadcast_arrays",
    "cbrt",
    "column_stack",
    "concatenate",
    "conj",
    "conjugate",
    "convolve",
    "copysign",
    "corrcoef",
    "correlate",
    "count_nonzero",
    "cov",
    "cumulative_prod",
    "cumulative_sum",
    "degrees",
    "diag",
    "diagonal",
    "diff",
    "digitize",
    "dstack",
    "e",
    "einsum",
    "fabs",
    "fix",
    "flip",
    "fliplr",
    "flipud",
    "float_power",
    "fmax",
    "fmin",
    "fmod",
    "gradient",
    "heaviside",
    "hstack",
    "imag",
    "inf",
    "interp",
    "isclose",
    "isin",
    "kron",
    "logaddexp",
    "logaddexp2",
    "logical_xor",
    "matrix_norm",
    "matrix_transpose",
    "meshgrid",
    "nan",
    "nan_to_num",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
    "newaxis",
    "permute_dims",
    "pi",
    "polyval",
    "positive",
    "ptp",
    "radians",
    "real",
    "reshape",
    "rot90",
    "round",
    "searchsorted",
    "select",
    "signbit",
    "sinc",
    "sliding_window_view",
    "squeeze",
    "take_along_axis",
    "tensordot",
    "trace",
    "trapezoid",
    "tril",
    "triu",
    "true_divide",
    "unstack",
    "vecdot",
    "vector_norm",
    "vstack",
]
