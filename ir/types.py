"""Types of values: scalars, tuples, and arrays whose length is part of the type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from egglift.ir.sizes import Size


@dataclass(frozen=True)
class Scalar:
    """A scalar type by its short name: bool, i8..i64, u8..u64, f16, f32, f64."""

    name: str

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The NumPy dtype of one value."""
        return np.dtype(NUMPY[self.name])

    @property
    def size(self) -> int:
        """Bytes of one value in memory."""
        return int(self.dtype.itemsize)

    @property
    def is_float(self) -> bool:
        return self.name.startswith("f")

    @property
    def is_signed(self) -> bool:
        return self.name[0] in "if"

    @property
    def is_integer(self) -> bool:
        return self.name[0] in "iu"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Array:
    """`length` values of type `element`."""

    length: Size
    element: Type

    def __str__(self) -> str:
        return f"[{self.element}]{self.length}"


@dataclass(frozen=True)
class Tuple:
    """A value of each of `items`, two or more."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


Type: TypeAlias = Scalar | Array | Tuple

NUMPY = {
    "bool": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
}
BOOL = Scalar("bool")
I8, I16, I32, I64 = (Scalar(n) for n in ("i8", "i16", "i32", "i64"))
U8, U16, U32, U64 = (Scalar(n) for n in ("u8", "u16", "u32", "u64"))
F16, F32, F64 = (Scalar(n) for n in ("f16", "f32", "f64"))
SCALARS = {name: Scalar(name) for name in NUMPY}


def scalar_of(dtype: object) -> Scalar:
    """The scalar type of a NumPy dtype (native byte order assumed); KeyError where egglift has none."""
    name = np.dtype(dtype).name  # type: ignore[call-overload]
    return next(s for s in SCALARS.values() if NUMPY[s.name] == name)


def zero_or_one(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`array`, its bools 0 or 1: where other bytes are viewed as bools, all but 0 are true."""
    return np.asarray(array.view(np.uint8) != 0) if array.dtype == np.bool_ else array


def dims(type: Type) -> tuple[Size, ...]:
    """Lengths of the nested arrays, outermost first: `dims([[f32]3]2) == (2, 3)`."""
    return (type.length, *dims(type.element)) if isinstance(type, Array) else ()


def array_of(element: Type, shape: tuple[Size, ...]) -> Type:
    """Nested arrays of `element`: the inverse of `dims`."""
    for length in reversed(shape):
        element = Array(length, element)
    return element


def leaves(type: Type) -> tuple[tuple[tuple[Size, ...], Scalar], ...]:
    """Buffers that hold a value, as (shape, scalar), tuples flattened left to right (structure of arrays).

    `leaves([(f32, [i32]4)]10) == (((10,), f32), ((10, 4), i32))`
    """
    match type:
        case Scalar():
            return (((), type),)
        case Tuple(items):
            return tuple(leaf for item in items for leaf in leaves(item))
        case Array(length, element):
            return tuple(((length, *shape), scalar) for shape, scalar in leaves(element))
