"""Arrays that are made of numbers, by NumPy's names.  As there, they are of f64 unless a type is given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from egglift.ir.axes import scalar_of_elements
from egglift.ir.bounds import MOST
from egglift.ir.check import type_of
from egglift.ir.errors import ProgramError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.lifting import adapt, as_expr, is_number
from egglift.ir.notation import fill, iota
from egglift.ir.promotion import cast
from egglift.ir.type_names import TypeLike, as_scalar
from egglift.ir.types import F64, I64, dims
from egglift.ir.value import Like, Value, elementwise, typed
from egglift.ir.whole_numbers import whole


def zeros(shape: int | Sequence[int], dtype: TypeLike = F64) -> Value:
    """An array of zeros."""
    return full(shape, 0, dtype)


def ones(shape: int | Sequence[int], dtype: TypeLike = F64) -> Value:
    """An array of ones."""
    return full(shape, 1, dtype)


def full(shape: int | Sequence[int], fill_value: Like, dtype: TypeLike = None) -> Value:
    """An array of one value, a number or a value of the program; of the value's type unless one is given."""
    t = None if dtype is None else as_scalar(dtype)
    e = adapt(fill_value, t) if t is not None and is_number(fill_value) else as_expr(fill_value)
    return fill(shape, typed(e if t is None else cast(e, t)))


def zeros_like(x: Like, dtype: TypeLike = None) -> Value:
    """An array of zeros of the shape and type of x, or of another type."""
    return full_like(x, 0, dtype)


def ones_like(x: Like, dtype: TypeLike = None) -> Value:
    """An array of ones of the shape and type of x, or of another type."""
    return full_like(x, 1, dtype)


def full_like(x: Like, fill_value: Like, dtype: TypeLike = None) -> Value:
    """An array of one value, of the shape and type of x, or of another type."""
    e = as_expr(x)
    return full(dims(type_of(e)), fill_value, scalar_of_elements(e) if dtype is None else dtype)  # type: ignore[arg-type]


def eye(n: int, m: int | None = None, k: int = 0, dtype: TypeLike = F64) -> Value:
    """n rows of m columns (as many), with ones on a diagonal (0: the main one, 1: the one above it)."""
    rows, columns = whole(n, "the rows"), whole(n if m is None else m, "the columns")
    above, t = whole(k, "the diagonal", -MOST), as_scalar(dtype)
    down, across = iota(rows, I64), iota(columns, I64)
    return down.map(lambda i: across.map(lambda j: elementwise("eq", j, i + above).cast(t)))


def linspace(start: float, stop: float, num: int = 50, endpoint: bool = True, dtype: TypeLike = F64) -> Value:
    """So many numbers, evenly spaced from start to stop, which is the last one, or with `endpoint=False` the next."""
    n, t = whole(num, "how many numbers"), as_scalar(dtype)
    begin, end = (_number(v, "linspace") for v in (start, stop))
    gaps = n - 1 if endpoint else n
    step = (end - begin) / gaps if gaps > 0 else 0.0
    places = iota(n, I64)
    found = places.cast(F64) * step + begin
    if endpoint and n > 1:
        found = elementwise("where", places == n - 1, end, found)
    return found.cast(t)


def arange(start: float, stop: float | None = None, step: float = 1, dtype: TypeLike = None) -> Value:
    """The numbers from start (0 if only one is given) in steps, before stop: of i64, or of f64 where one is a float."""
    begin, end, by = (_number(v, "arange") for v in ((0, start, step) if stop is None else (start, stop, step)))
    if by == 0:
        raise ProgramError("arange in steps of 0 has no end; give another step")
    count = max(0, math.ceil((end - begin) / by))
    if all(isinstance(v, int) for v in (begin, end, by)):
        found = iota(count, I64) * by + begin
    else:  # as NumPy, which computes two numbers and goes on with their difference
        found = iota(count, I64).cast(F64) * (float(begin + by) - float(begin)) + float(begin)
    return found if dtype is None else found.cast(as_scalar(dtype))


def _number(value: Any, what: str) -> int | float:
    """A number that is known while the program is written, as Python's own."""
    if isinstance(value, Value) or not hasattr(value, "__float__"):
        raise TypeMismatch(f"{what} takes numbers, and not {value!r}: lengths are known while the program is written")
    return int(value) if hasattr(value, "__index__") else float(value)


explain(globals())
