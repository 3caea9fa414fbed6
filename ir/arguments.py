"""Arguments in and results out: between a caller's NumPy values and those of the interpreter."""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from egglift.ir.batch import NdArray, Value
from egglift.ir.conversions import rounded, stored
from egglift.ir.errors import ArgumentError
from egglift.ir.sizes import evaluate
from egglift.ir.types import BOOL, Array, Scalar, Tuple, Type, dims, zero_or_one

#: DLPack's types of memory that the host reads: its own, and what CUDA and ROCm have pinned
_OF_THE_HOST = (1, 3, 11)


def convert(types: Mapping[str, Type], given: Mapping[str, Any]) -> dict[str, Value]:
    """The values given for the inputs, checked against their types.

    An input with tuples is given as a tuple of arrays; for the rest, see `elements`.  ArgumentError names the input
    and what was expected.
    """
    require_names(types, given)
    return {name: _value(name, t, given[name]) for name, t in types.items()}


def require_names(types: Mapping[str, Type], given: Mapping[str, Any]) -> None:
    """ArgumentError where inputs are missing, or there are others."""
    missing = [name for name in types if name not in given]
    unknown = [name for name in given if name not in types]
    if missing or unknown:
        mismatches = (("missing", missing), ("unknown", unknown))
        wrong = "; ".join(f"{what}: {', '.join(names)}" for what, names in mismatches if names)
        raise ArgumentError(f"{wrong}; the program takes {', '.join(types) or 'no inputs'}")


def _value(name: str, t: Type, given: Any) -> Value:
    parts = _components(t)
    if parts is None:
        return _array(name, t, given)
    if not isinstance(given, tuple | list) or len(given) != len(parts):
        raise ArgumentError(f"input {name} is {t}: give a tuple of {len(parts)}, one per component")
    return tuple(_value(f"{name}[{i}]", part, given[i]) for i, part in enumerate(parts))


def _components(t: Type) -> tuple[Type, ...] | None:
    """The types of the structure of arrays that holds a `t`, or None where that is a single array."""
    match t:
        case Tuple(items):
            return items
        case Array(n, element):
            inner = _components(element)
            return None if inner is None else tuple(Array(n, part) for part in inner)
    return None


def _array(name: str, t: Type, given: Any) -> NdArray:
    scalar = t
    while isinstance(scalar, Array):
        scalar = scalar.element
    assert isinstance(scalar, Scalar)
    shape = tuple(evaluate(n) for n in dims(t))
    return zero_or_one(elements(name, scalar, shape, given))


def elements(name: str, t: Scalar, shape: tuple[int, ...], given: Any) -> NdArray:
    """What was given for an input, or a component of one, in its dtype: for the interpreter and kernels alike.

    Arrays and NumPy's scalars are converted where nothing can be lost; Python's numbers, and nested lists of them,
    where `t` holds them (a float type any that are not too large, bool 0 and 1).  Else ArgumentError.
    """
    array = as_array(name, given)
    if array.shape != shape:
        raise ArgumentError(f"input {name} has shape {array.shape}, but the program takes {shape}")
    if array.dtype == t.dtype:
        return array
    typed = isinstance(given, np.ndarray | np.generic) or hasattr(given, "__array__")
    with np.errstate(all="ignore"):
        if np.can_cast(array.dtype, t.dtype, "safe") or (not typed and _holds(t, array)):
            return stored(array, t) if t.is_narrow else array.astype(t.dtype)
    if typed:
        raise ArgumentError(
            f"input {name} has dtype {array.dtype}, but the program takes {t.dtype}; "
            f"pass {name.split('[')[0]}.astype({str(t.dtype)!r}) if the loss is intended"
        )
    raise ArgumentError(f"input {name} takes {t.dtype} values, and not {reprlib.repr(given)}, which do not fit")


def _holds(t: Scalar, array: NdArray) -> bool:
    """Are Python's numbers values of `t`?"""
    if array.size == 0:
        return True
    if t.is_complex:
        parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
        return all(_holds(t.part, part) for part in parts)
    if t.is_float:
        return array.dtype.kind in "biuf" and bool((np.isfinite(rounded(array, t)) | ~np.isfinite(array)).all())
    bits = 1 if t == BOOL else 8 * t.size - t.is_signed
    least = -(1 << bits) if t.is_signed else 0
    return array.dtype.kind in "biu" and least <= int(array.min()) and int(array.max()) < 1 << bits


def as_array(name: str, given: Any) -> NdArray:
    """What was given for an input, as NumPy holds it; ArgumentError where it is no array, or hides elements."""
    masked = sys.modules.get("numpy.ma")  # where nobody has imported it, nothing is masked
    if masked and isinstance(given, masked.MaskedArray) and (hidden := int(masked.count_masked(given))):
        raise ArgumentError(f"input {name} is a masked array that hides {hidden} elements; pass {name}.filled(...)")
    by_dlpack = _has_dlpack_alone(given)
    if by_dlpack:
        _require_host(name, given)
    try:
        return np.from_dlpack(given) if by_dlpack else np.asarray(given)
    except ArgumentError:
        raise
    except Exception as error:  # its __array__ is anyone's code
        raise ArgumentError(f"input {name} is no array: {error}") from error


def _require_host(name: str, given: Any) -> None:
    kind, _ = given.__dlpack_device__()
    if kind not in _OF_THE_HOST:
        raise ArgumentError(
            f"input {name} is in the memory of another device (DLPack's type {int(kind)}), which OpenCL cannot read; "
            "bring it to the host first, or make it a pyopencl array"
        )


def _has_dlpack_alone(given: Any) -> bool:
    """Does it tell of its memory by DLPack, and by none of NumPy's ways?"""
    return hasattr(given, "__dlpack__") and not (hasattr(given, "__array__") or hasattr(given, "__array_interface__"))


def result(value: Value, owned: Sequence[NdArray]) -> Any:
    """The value as its caller sees it: NumPy scalars, and arrays of their own memory in C order."""
    if isinstance(value, tuple):
        return tuple(result(v, owned) for v in value)
    if value.ndim == 0:
        return value[()]
    array = np.ascontiguousarray(value)
    fresh = array.flags.writeable and not any(np.may_share_memory(array, o) for o in owned)
    return array if fresh else array.copy()
