"""Random inputs for two programs that are said to be equal, and how equal their results have to be."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from random import Random
from typing import Any

import numpy as np

from egglift.ir.sizes import evaluate
from egglift.ir.types import Array, Scalar, Tuple, Type, is_floating, scalar_of

#: what the values of an input are, the simplest first
STYLES = ("counting", "small", "small", "wild", "special")


def random_value(t: Type, rng: Random, special: bool) -> Any:
    """A random value of a type.

    0, 1, 2, ...; or small numbers, eighths where floats hold them: sums of these are exact; or any number of the type,
    so that integers wrap around; or the least and the greatest ones.  With `special`, among floats there may be NaN,
    the infinities and -0.0.
    """
    style, seed = rng.choice(STYLES), rng.randrange(1 << 16)
    numbers = np.random.default_rng(seed)

    def value(t: Type, *shape: int) -> Any:
        match t:
            case Scalar():
                plain = style == "special" and t.is_float and not special
                return _values("small" if plain else style, t, prod(shape), numbers).astype(t.dtype).reshape(shape)
            case Array(n, element):
                return value(element, *shape, evaluate(n))
            case Tuple(items):
                return tuple(value(item, *shape) for item in items)

    return value(t)


def _values(style: str, t: Scalar, count: int, numbers: np.random.Generator) -> Any:
    match style:
        case "counting":
            return np.arange(count)
        case "special" if t.is_float:
            some = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -2.5, 3.0]
            return numbers.choice(some, count)
        case "special" if t.is_integer:
            least, most = limits(t)
            return numbers.choice(np.array([least, least + 1, 0, 1, most // 2 + 1, most - 1, most], t.dtype), count)
        case "wild" if t.is_float:
            return numbers.normal(size=count)
        case "wild" if t.is_integer:
            least, most = limits(t)
            return numbers.integers(least, most, count, t.dtype, endpoint=True)
    small = numbers.integers(-4, 5, count)
    return small / 8 if t.is_float else small


def limits(t: Scalar) -> tuple[int, int]:
    """The least and the greatest number of an integer type."""
    bits = 8 * t.size
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if t.is_signed else (0, (1 << bits) - 1)


def equal(one: Any, other: Any) -> bool:
    """The same numbers, bit for bit; a NaN is a NaN."""
    pairs = list(_pairs(one, other))
    return all(a.shape == b.shape and a.dtype == b.dtype and bool(np.array_equal(_bits(a), _bits(b))) for a, b in pairs)


def close(one: Any, other: Any) -> bool:
    """The same integers, and floats up to what another order of operations may change."""
    for a, b in _pairs(one, other):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if not is_floating(a.dtype):
            if not np.array_equal(a, b):
                return False
        elif not _near(a, b):
            return False
    return True


def narrowed(value: Any, like: Any) -> Any:
    """The numbers of a value in the types of another of the same shape."""
    if isinstance(value, tuple):
        return tuple(narrowed(v, w) for v, w in zip(value, like, strict=True))
    with np.errstate(over="ignore"):
        return np.asarray(value).astype(np.asarray(like).dtype)


def _near(a: Any, b: Any) -> bool:
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return False
    scale = max(1.0, float(np.abs(a[finite]).max(initial=0.0)))
    return bool(np.allclose(a[finite], b[finite], rtol=0, atol=scale * scalar_of(a.dtype).epsilon * 256))


def _bits(a: Any) -> Any:
    """Numbers as integers, every NaN as the same one."""
    if not is_floating(a.dtype):
        return a
    return np.where(np.isnan(a), np.nan, a).astype(a.dtype).view(f"u{a.dtype.itemsize}")


def _pairs(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Corresponding arrays of two values."""
    if isinstance(one, tuple | list) and isinstance(other, tuple | list) and len(one) == len(other):
        for a, b in zip(one, other, strict=True):
            yield from _pairs(a, b)
    else:
        yield np.atleast_1d(np.asarray(one)), np.atleast_1d(np.asarray(other))
