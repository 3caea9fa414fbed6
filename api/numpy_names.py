"""More names of NumPy's and of the array API standard's: `egglift` has them all."""

from __future__ import annotations

import math

from egglift.ir.composed import deg2rad, rad2deg
from egglift.ir.contractions import (
    einsum,
    tensordot,
    vecdot,
)
from egglift.ir.functions import absolute, arctan2, cast, divide, invert, left_shift, power, right_shift
from egglift.ir.inverse_functions import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
)
from egglift.ir.linear_algebra import matrix_norm, vector_norm
from egglift.ir.more_composed import (
    around,
    cbrt,
    conj,
    copysign,
    fix,
    fmax,
    fmin,
    fmod,
    heaviside,
    imag,
    isclose,
    logaddexp,
    logical_xor,
    nan_to_num,
    positive,
    real,
    signbit,
    sinc,
)
from egglift.ir.more_rearranging import (
    broadcast_arrays,
    column_stack,
    concatenate,
    diag,
    diagonal,
    diff,
    flip,
    fliplr,
    flipud,
    hstack,
    kron,
    matrix_transpose,
    meshgrid,
    permute_dims,
    reshape,
    rot90,
    squeeze,
    take_along_axis,
    trace,
    tril,
    triu,
    unstack,
    vstack,
)
from egglift.ir.more_statistics import (
    allclose,
    average,
    count_nonzero,
    nanmax,
    nanmean,
    nanmin,
    nanprod,
    nanstd,
    nansum,
    nanvar,
    ptp,
)
from egglift.ir.scans import cumprod, cumsum
from egglift.ir.statistics import max, min

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
float_power = power
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
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "around",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "average",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_right_shift",
    "broadcast_arrays",
    "cbrt",
    "column_stack",
    "concatenate",
    "conj",
    "conjugate",
    "copysign",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "degrees",
    "diag",
    "diagonal",
    "diff",
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
    "heaviside",
    "hstack",
    "imag",
    "inf",
    "isclose",
    "kron",
    "logaddexp",
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
    "positive",
    "ptp",
    "radians",
    "real",
    "reshape",
    "rot90",
    "round",
    "signbit",
    "sinc",
    "squeeze",
    "take_along_axis",
    "tensordot",
    "trace",
    "tril",
    "triu",
    "true_divide",
    "unstack",
    "vecdot",
    "vector_norm",
    "vstack",
]
