"""Types of values: scalars, tuples, and arrays whose length is part of the type."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from egglift.ir.errors import PackageMissing
from egglift.ir.kept import hashed_once
from egglift.ir.sizes import Size


@dataclass(frozen=True)
class Facts:
    """What is known of a scalar type.

    numpy: its name there.  size: bytes in memory.  kind: "bool", "signed", "unsigned", "float" or "complex".
    digits: bits of a float's significand.  narrow: is it a float that is kept in memory, but computed in f32?
    """

    numpy: str
    size: int
    kind: str
    digits: int = 0
    narrow: bool = False


#: all scalar types; bfloat16 is the package ml_dtypes'.  tf32 are the numbers of f32 whose last 13 bits are 0, which
#: matrix units multiply: kernels hand them on to each other, and NumPy has none.  Complex ones are of programs as they
#: are written: before anything is done with a program, their numbers become pairs of floats (ir/pairs.py)
FACTS = {
    "bool": Facts("bool", 1, "bool"),
    "i8": Facts("int8", 1, "signed"),
    "i16": Facts("int16", 2, "signed"),
    "i32": Facts("int32", 4, "signed"),
    "i64": Facts("int64", 8, "signed"),
    "u8": Facts("uint8", 1, "unsigned"),
    "u16": Facts("uint16", 2, "unsigned"),
    "u32": Facts("uint32", 4, "unsigned"),
    "u64": Facts("uint64", 8, "unsigned"),
    "f16": Facts("float16", 2, "float", 11, narrow=True),
    "bf16": Facts("bfloat16", 2, "float", 8, narrow=True),
    "tf32": Facts("float32", 4, "float", 11, narrow=True),
    "f32": Facts("float32", 4, "float", 24),
    "f64": Facts("float64", 8, "float", 53),
    "c64": Facts("complex64", 8, "complex"),
    "c128": Facts("complex128", 16, "complex"),
}


@hashed_once
@dataclass(frozen=True)
class Scalar:
    """A scalar type by its short name, one of FACTS: bool, i8..i64, u8..u64, f16, bf16, tf32, f32, f64, c64, c128."""

    name: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of one value; PackageMissing of a bf16 where ml_dtypes is not installed."""
        return bfloat16() if self.name == "bf16" else np.dtype(FACTS[self.name].numpy)

    @property
    def stored(self) -> np.dtype[Any]:
        """The dtype under which a value's bytes go to a device: one that every buffer protocol knows."""
        return np.dtype({"bool": "uint8", "bf16": "uint16"}.get(self.name) or FACTS[self.name].numpy)

    @property
    def computed(self) -> Scalar:
        """The type that its arithmetic is done in: f32 for f16, bf16 and tf32, else itself."""
        return F32 if FACTS[self.name].narrow else self

    @property
    def is_narrow(self) -> bool:
        """Is it a float that is only kept in memory (f16, bf16, tf32)?"""
        return FACTS[self.name].narrow

    @property
    def size(self) -> int:
        """Bytes of one value in memory."""
        return FACTS[self.name].size

    @property
    def digits(self) -> int:
        """Bits of a float's significand: whole numbers up to 2 to this power are held exactly."""
        return FACTS[self.name].digits

    @property
    def epsilon(self) -> float:
        """From 1.0 to the next number of a float type."""
        return float(2.0 ** (1 - self.digits))

    @property
    def is_float(self) -> bool:
        return FACTS[self.name].kind == "float"

    @property
    def is_complex(self) -> bool:
        return FACTS[self.name].kind == "complex"

    @property
    def is_inexact(self) -> bool:
        """Is it a type of floats or complex numbers?"""
        return self.is_float or self.is_complex

    @property
    def part(self) -> Scalar:
        """The type of the real and the imaginary part of a complex number; else itself."""
        return {"c64": F32, "c128": F64}.get(self.name, self)

    @property
    def is_signed(self) -> bool:
        return FACTS[self.name].kind in ("signed", "float")

    @property
    def is_integer(self) -> bool:
        return FACTS[self.name].kind in ("signed", "unsigned")

    def __str__(self) -> str:
        return self.name


@hashed_once
@dataclass(frozen=True)
class Array:
    """`length` values of type `element`."""

    length: Size
    element: Type

    def __str__(self) -> str:
        return f"[{self.element}]{self.length}"


@hashed_once
@dataclass(frozen=True)
class Tuple:
    """A value of each of `items`, two or more."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


Type: TypeAlias = Scalar | Array | Tuple

BOOL = Scalar("bool")
I8, I16, I32, I64 = (Scalar(n) for n in ("i8", "i16", "i32", "i64"))
U8, U16, U32, U64 = (Scalar(n) for n in ("u8", "u16", "u32", "u64"))
F16, BF16, TF32, F32, F64 = (Scalar(n) for n in ("f16", "bf16", "tf32", "f32", "f64"))
C64, C128 = Scalar("c64"), Scalar("c128")
#: what may be written for a type in programs as text; and what a user may: tf32 is what kernels hand on
NAMED = {name: Scalar(name) for name in FACTS}
GIVEN = {name: t for name, t in NAMED.items() if t != TF32}
#: the types of numbers that programs are given, and yield, as laws and kernels know them
SCALARS = {name: t for name, t in GIVEN.items() if not t.is_complex}
_BY_NUMPY = {FACTS[name].numpy: t for name, t in GIVEN.items()}


@cache
def bfloat16() -> np.dtype[Any]:
    """NumPy's dtype for bf16, which the package ml_dtypes brings; PackageMissing where it is not installed."""
    try:
        import ml_dtypes
    except ImportError as error:
        raise PackageMissing("NumPy has no bfloat16 of its own: pip install 'egglift[bf16]' (ml_dtypes)") from error
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


def scalar_of(dtype: object) -> Scalar:
    """The scalar type of a NumPy dtype (native byte order assumed); KeyError where egglift has none."""
    return _BY_NUMPY[np.dtype(dtype).name]  # type: ignore[call-overload]


def is_floating(dtype: object) -> bool:
    """Is a NumPy dtype one of floats?  (Its own `kind` says so of float16, but not of bfloat16.)"""
    found = _BY_NUMPY.get(np.dtype(dtype).name)  # type: ignore[call-overload]
    return found is not None and found.is_float


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
