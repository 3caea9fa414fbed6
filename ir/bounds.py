"""How large a program's values may be: what could not be counted, held or named is refused when it is written."""

from __future__ import annotations

from egglift.ir.errors import ShapeError
from egglift.ir.lengths import lower
from egglift.ir.types import Array, Tuple, Type

#: elements of an array, iterations and steps: indices are counted in 64 bits, and sums of two of these fit
MOST = 1 << 62
#: arrays and tuples in each other, and scalars that a type is made of: each is a buffer, and a kernel's argument
NESTED, SCALARS = 100, 256


def shown(n: int) -> str:
    """`n` for a message: Python writes no number of more than some thousand digits."""
    return str(n) if abs(n) < 1 << 128 else f"{'-' if n < 0 else ''}2^{abs(n).bit_length() - 1} or more"


def require_bounded(t: Type) -> None:
    """ShapeError where no value can have type `t`: too many elements or parts, nested too deeply, a negative length."""
    _walk(t, 1, 1)


def _walk(t: Type, elements: int, depth: int) -> int:
    """How many scalars `t` is made of; there are `elements` values of it, in `depth - 1` arrays and tuples."""
    if depth > NESTED:
        raise ShapeError(f"arrays and tuples nested more than {NESTED} deep; flatten some of them")
    match t:
        case Array(n, element):
            if isinstance(n, int):
                elements = _elements(n, elements)
            return _walk(element, elements, depth + 1)
        case Tuple(items):
            count = 0
            for item in items:
                count += _walk(item, elements, depth + 1)
                if count > SCALARS:
                    raise ShapeError(f"a tuple of more than {SCALARS} numbers and arrays; use an array")
            return count
    return 1


def _elements(n: int, around: int) -> int:
    """The elements of arrays of length `n`, of which there are `around` (or none, which still has this type)."""
    if n < 0:
        raise ShapeError(f"an array of {shown(n)} elements; a length is 0 or more")
    if around * n > MOST:
        raise ShapeError(f"an array of {shown(around * n)} elements; more than 2^62 cannot be counted")
    return lower(around * n, 1)
