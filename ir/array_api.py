"""The names of the Python array API standard (2024.12): which there are, and why others are not.

`python -m egglift.ir.array_api` prints the table.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator

_NUMPY = "NumPy computes with types: np.finfo(el.f32.dtype)"
_INPUTS = "inputs are given when a kernel is called: el.array(name, type, shape)"
LINALG = (
    "a chain of steps that depend on each other, for which there are no patterns: NumPy's, before or after the call"
)
_ORDER = "sorting is not in the language"
_COUNT = "how many elements there are would depend on their values, and lengths are parts of types"
_BITS = "the bits of floats are not numbers in the language"

#: the standard's names, by its chapters
STANDARD = {
    "constants": "e inf nan newaxis pi",
    "creation": "arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril "
    "triu zeros zeros_like",
    "types": "astype can_cast finfo iinfo isdtype result_type",
    "element by element": "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift "
    "bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 "
    "floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 "
    "logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal "
    "positive pow real reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc",
    "indexing": "take take_along_axis",
    "linear algebra": "matmul matrix_transpose tensordot vecdot",
    "linalg": "cholesky cross det diagonal eigh eigvalsh inv matrix_norm matrix_power matrix_rank outer pinv qr "
    "slogdet solve svd svdvals trace vector_norm",
    "manipulation": "broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll "
    "squeeze stack tile unstack",
    "searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "sets": "unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort",
    "statistics": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "utility": "all any diff",
}
#: those that there are not, with the reason
LEFT_OUT = {
    "asarray": _INPUTS,
    "from_dlpack": _INPUTS + "; what is given may tell of its memory by DLPack",
    "empty": "elements have values: zeros",
    "empty_like": "elements have values: zeros_like",
    "nextafter": _BITS,
    **dict.fromkeys(("can_cast", "finfo", "iinfo", "isdtype", "result_type"), _NUMPY),
    **dict.fromkeys(("cholesky", "det", "eigh", "eigvalsh", "inv", "matrix_rank", "pinv", "qr"), LINALG),
    **dict.fromkeys(("slogdet", "solve", "svd", "svdvals"), LINALG),
    **dict.fromkeys(("argsort", "sort"), _ORDER),
    **dict.fromkeys(("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"), _COUNT),
}
#: those that are not quite the standard's
OTHERWISE = {
    "concat": "concat(x, y, axis=0); concatenate((x, y), axis) takes a list",
    "cross": "all pairs of elements of two arrays",
    "roll": "roll(shift, x, axis=0): the number first",
    "take": "the first n elements; x[indices] or gather takes those at indices",
}


def rows() -> Iterator[tuple[str, str]]:
    """What to print of each chapter: what there is, what is otherwise, what is left out."""
    for chapter, text in STANDARD.items():
        names = text.split()
        yield chapter, " ".join(n for n in names if n not in LEFT_OUT) or "none"
        yield from (("", f"  {n}: {OTHERWISE[n]}") for n in names if n in OTHERWISE)
        reasons = dict.fromkeys(LEFT_OUT[n] for n in names if n in LEFT_OUT)
        for why in reasons:
            missing = ", ".join(n for n in names if LEFT_OUT.get(n) == why)
            yield "", f"  not {missing}: {why}"


def report() -> str:
    """The table, 100 characters wide."""
    lines = list[str]()
    for chapter, text in rows():
        first = f"{chapter:<20}" + text[: len(text) - len(text.lstrip())]
        lines += textwrap.wrap(text.strip(), 100, initial_indent=first, subsequent_indent=" " * (len(first) + 2))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(report() + "\n")
