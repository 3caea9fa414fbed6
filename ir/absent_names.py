"""NumPy's names that have no counterpart in programs: what to write instead, or why nothing can stand for them."""

from __future__ import annotations

import numpy as np

from egglift.ir.array_api import LEFT_OUT, LINALG

_ORDER = "sorting is not in the language: max, min, argmax and argmin find ends, or sort with NumPy before the call"
_COUNT = (
    "how many elements there are would depend on their values, and lengths are parts of types: "
    "choose with where(condition, x, 0), and reduce, or select with NumPy after the call"
)
_CHANGE = "values do not change: compute a new one"
_UNKNOWN = "it has no value while the program is written: call the kernel"
_INPUT = "inputs are given when a kernel is called: el.array(name, type, shape), or el.literal(numbers)"
_TABLE = "NumPy's, given to the program as an array: el.literal(numbers)"
_FOURIER = "Fourier transforms are no patterns: NumPy's before or after the call, or a product with a table of sines"
_PARTS = "take parts by slices, or x.split(n) of equal ones"

_ALIKE = {
    _ORDER: "sort argsort partition argpartition median nanmedian percentile nanpercentile quantile "
    "nanquantile lexsort sort_complex",
    _COUNT: "nonzero compress flatnonzero argwhere unique extract union1d intersect1d setdiff1d setxor1d trim_zeros",
    _CHANGE: "put itemset resize copyto putmask place fill_diagonal put_along_axis setfield setflags",
    _UNKNOWN: "item tolist get tobytes tofile dump array_repr array_str array2string",
    _INPUT: "array2d asanyarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix frombuffer fromfile "
    "fromiter fromstring loadtxt genfromtxt",
    _TABLE: "bartlett blackman hamming hanning kaiser geomspace logspace vander tril_indices triu_indices diag_indices "
    "random",
    _FOURIER: "fft fft2 fftn ifft ifft2 ifftn rfft rfft2 rfftn irfft irfft2 irfftn hfft ihfft",
    _PARTS: "hsplit vsplit dsplit",
    LINALG: "eig eigvals lstsq cond tensorinv tensorsolve",
    "the bits of floats are not numbers in the language": "frexp nextafter spacing byteswap packbits unpackbits",
}
#: by name: what to write, or why not
ABSENT = {name: why for why, names in _ALIKE.items() for name in names.split()}
ABSENT |= {name: why for name, why in LEFT_OUT.items() if name not in ABSENT}
ABSENT |= {
    "bincount": "NumPy has as many counts as the values ask for: here el.bincount(x, n, weights=None)",
    "apply_along_axis": "moveaxis(x, axis, 0), and map",
    "array_equiv": "(x == y).all()",
    "atleast_1d": "x[None]",
    "atleast_2d": "x[None]",
    "atleast_3d": "x[None]",
    "base": "values own no memory",
    "choose": "where, in a where",
    "copy": "values do not change: x itself",
    "data": "values own no memory",
    "delete": "concat what is before and after",
    "diagflat": "diag(ravel(x))",
    "divmod": "Python's divmod(x, y)",
    "dtype": "the parts of a tuple have types of their own: x.type",
    "ediff1d": "diff(ravel(x))",
    "flat": "ravel(x)",
    "fromfunction": "iota(n).map(f)",
    "H": "x.conj().T is that",
    "gcd": "iterate Euclid's steps: docs/tasks.md",
    "i0": "there is no Bessel function among the scalar functions",
    "identity": "eye(n)",
    "indices": "iota, or meshgrid",
    "insert": "concat what is before and after",
    "isneginf": "x == -el.inf",
    "isposinf": "x == el.inf",
    "lcm": "iterate Euclid's steps for the greatest common divisor: docs/tasks.md",
    "ldexp": "x * exp2(n)",
    "modf": "x - trunc(x), and trunc(x)",
    "multi_dot": "a @ b @ c, in the order that takes the fewest steps",
    "nancumprod": "cumprod(where(isnan(x), 1, x))",
    "nancumsum": "cumsum(where(isnan(x), 0, x))",
    "nanargmax": "argmax(where(isnan(x), -el.inf, x))",
    "nanargmin": "argmin(where(isnan(x), el.inf, x))",
    "ndim": "x.ndim",
    "piecewise": "where, in a where",
    "rollaxis": "moveaxis",
    "row_stack": "vstack",
    "shape": "x.shape",
    "strides": "values own no memory; x.stride(s) is a pattern",
    "tri": "tril(ones((n, m)))",
    "vectorize": "map",
}


def of_numpy(name: str) -> bool:
    """Does NumPy have something of this name?"""
    return any(hasattr(room, name) for room in (np, np.linalg, np.fft, np.ndarray))


def reason(name: str) -> str | None:
    """Why a program does not have what NumPy has under this name, or what to write; None: NumPy has no such name."""
    if name in ABSENT:
        return ABSENT[name]
    if of_numpy(name):
        return "NumPy's own is for arrays before or after the call; docs/numpy.md lists what there is in programs"
    return None
