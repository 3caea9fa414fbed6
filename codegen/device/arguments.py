"""Values in and out of kernels: NumPy arrays, numbers, and arrays and buffers that live on the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, NdArray, Operand, opencl
from egglift.codegen.device.queues import is_array
from egglift.codegen.device.strided import packed, stretch, stretch_there
from egglift.ir.arguments import elements
from egglift.ir.errors import ArgumentError
from egglift.ir.sizes import evaluate
from egglift.ir.strided import Layout
from egglift.ir.types import Array, Scalar, Tuple, Type, leaves

#: how an array lies in memory that a kernel takes otherwise: its axes in another order, or its layout
Lies: TypeAlias = Sequence[int | tuple[int, int]]


def is_on_device(value: object) -> bool:
    """Is `value` a pyopencl array or buffer?"""
    return is_array(value) or type(value).__module__.startswith("pyopencl")


def operands(device: Device, types: Mapping[str, Type], given: Mapping[str, Any]) -> dict[str, list[Operand]]:
    """For each input, its leaves (ir.types.leaves): arrays ready for `Executable.run`, and what is on the device.

    A value is an array (of any memory order and byte order, read-only too), a number, a nested list, a
    pyopencl Array or Buffer of this device's context, or, for arrays of tuples, a tuple of these.  Dtypes are
    converted where nothing can be lost.  ArgumentError names the input, what it is and what is taken; ForkError.
    """
    opencl()  # what lives on a device that is lost in a fork must not be waited for
    missing = [name for name in types if name not in given]
    unknown = [name for name in given if name not in types]
    if missing or unknown:
        mismatches = (("missing", missing), ("unknown", unknown))
        wrong = "; ".join(f"{what}: {', '.join(names)}" for what, names in mismatches if names)
        raise ArgumentError(f"{wrong}; the program takes {', '.join(types) or 'no inputs'}")
    return {name: leaves_of(device, name, t, given[name]) for name, t in types.items()}


def leaves_of(device: Device, name: str, type: Type, value: Any) -> list[Operand]:
    """The leaves of one input's value; see `operands`."""
    match parts_of(type):
        case None:
            ((shape, scalar),) = leaves(type)
            return [_leaf(device, name, scalar, tuple(evaluate(n) for n in shape), value)]
        case parts:
            if not isinstance(value, tuple | list) or len(value) != len(parts):
                raise ArgumentError(f"input {name} is {type}: give a tuple of {len(parts)}, one per component")
            pairs = enumerate(zip(parts, value, strict=True))
            return [leaf for i, (t, v) in pairs for leaf in leaves_of(device, f"{name}[{i}]", t, v)]


def as_it_lies(name: str, type: Type, value: Any, order: Lies) -> Any:
    """An array, NumPy's or pyopencl's, as the program takes it, by `type`: a view of it.

    order: its axes in the order in which `type` has them; or its layout (ir.strided), of which `type` is the memory.
    """
    ((lengths, scalar),) = leaves(type)
    axes = [a for a in order if isinstance(a, int)]
    if not axes:
        layout: Layout = tuple(pair for pair in order if isinstance(pair, tuple))
        shape = tuple(n for n, _ in layout)
        if not is_array(value):
            return stretch(name, elements(name, scalar, shape, value), layout)
        if tuple(value.shape) != shape or value.dtype != scalar.dtype:
            raise ArgumentError(
                f"input {name} is {value.dtype} of shape {value.shape}, but the program takes {scalar.dtype} of {shape}"
            )
        return stretch_there(name, value, layout)
    shape = tuple(evaluate(lengths[axes.index(axis)]) for axis in range(len(axes)))
    if not is_array(value):
        return elements(name, scalar, shape, value).transpose(axes)
    if tuple(value.shape) != shape:
        raise ArgumentError(f"input {name} has shape {tuple(value.shape)}, but the program takes {shape}")
    return value.transpose(axes)


def leaf_names(name: str, type: Type) -> list[str]:
    """Names for the leaves of a value: its own, or `x[0]`, `x[1]`, ... for the components that it is held as."""
    match parts_of(type):
        case None:
            return [name]
        case parts:
            return [leaf for i, t in enumerate(parts) for leaf in leaf_names(f"{name}[{i}]", t)]


def parts_of(type: Type) -> tuple[Type, ...] | None:
    """The components that a tuple, or an array of tuples, is held as; None for what one buffer holds."""
    match type:
        case Scalar():
            return None
        case Tuple(items):
            return items
        case Array(n, element):
            parts = parts_of(element)
            return None if parts is None else tuple(Array(n, p) for p in parts)


def _leaf(device: Device, name: str, scalar: Scalar, shape: tuple[int, ...], value: Any) -> Operand:
    if is_on_device(value):
        return _from_device(device, name, scalar, shape, value)
    return elements(name, scalar, shape, value)


def _from_device(device: Device, name: str, scalar: Scalar, shape: tuple[int, ...], value: Any) -> Operand:
    buffer = getattr(value, "base_data", value)
    is_shared = buffer is value and isinstance(value, opencl().SVMPointer)  # which does not tell its context
    if not is_shared and getattr(value, "context", None) != device.context:
        raise ArgumentError(
            f"input {name} lives in another OpenCL context; optimise the program for its queue: "
            f"optimize(..., device={name.split('[')[0]}.queue)"
        )
    if buffer is value:
        need = int(np.prod(shape, dtype=np.int64)) * scalar.size
        if value.size < need:
            raise ArgumentError(f"input {name} is a buffer of {value.size} bytes, but the program reads {need}")
        return buffer
    if value.dtype != scalar.dtype or tuple(value.shape) != shape:
        raise ArgumentError(
            f"input {name} is {value.dtype} of shape {tuple(value.shape)}, but the program takes "
            f"{scalar.dtype} of shape {shape}; arrays on the device are not converted"
        )
    if value.offset and isinstance(value.base_data, opencl().SVMPointer):
        raise ArgumentError(
            f"input {name} begins {value.offset} bytes into shared virtual memory; "
            "only arrays that begin where their memory does are taken from there"
        )
    return value


def placed(device: Device, given: Mapping[str, Sequence[Any]], chain: Chain) -> dict[str, list[Operand]]:
    """`operands` for a call that is `chain`: buffers for arrays on the device, parts of buffers copied out of them."""
    return {name: [_placed(device, value, chain) for value in leaves] for name, leaves in given.items()}


def _placed(device: Device, value: Any, chain: Chain) -> Operand:
    if not is_array(value):
        return value
    if not value.size:  # pyopencl gives empty arrays no memory
        return device.allocate(0)
    if not value.flags.c_contiguous:
        return packed(device, chain, value)
    if not value.offset:
        return value.base_data
    return part_of(device, value) or device.clone(chain, value.base_data, value.nbytes, value.offset)


def part_of(device: Device, array: Any) -> Operand | None:
    """The part of its buffer where a pyopencl Array begins; None where OpenCL has no parts that begin there."""
    data = array.base_data
    if array.offset % device.part_alignment or not hasattr(data, "get_sub_region"):
        return None
    if data.get_info(opencl().mem_info.ASSOCIATED_MEMOBJECT):  # a part itself, and parts have no parts
        return None
    return data.get_sub_region(array.offset, array.nbytes)


def result(type: Type, parts: list[Any], each: Callable[[Any, tuple[int, ...], Scalar], Any]) -> Any:
    """A value of `type` from its leaves: `each` makes one from (leaf, shape, scalar); tuples as they nest."""
    shapes = [(tuple(evaluate(n) for n in shape), scalar) for shape, scalar in leaves(type)]
    return _nested(type, iter([each(p, shape, scalar) for p, (shape, scalar) in zip(parts, shapes, strict=True)]))


def _nested(type: Type, made: Iterator[Any]) -> Any:
    """No function within `result`, which would refer to itself, and so keep results until garbage is collected."""
    parts = parts_of(type)
    return next(made) if parts is None else tuple(_nested(p, made) for p in parts)


def host_value(flat: NdArray, shape: tuple[int, ...], scalar: Scalar) -> Any:
    """A result as NumPy gives it: an array of its shape, or a NumPy scalar."""
    return flat.reshape(shape) if shape else flat.reshape(())[()]
