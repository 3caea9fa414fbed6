"""Arrays that a caller gives for the results of a call: `kernel(x, y, out=z)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from egglift.codegen.device.arguments import parts_of
from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, Operand, opencl, reported
from egglift.codegen.device.queues import is_array
from egglift.ir.errors import ArgumentError
from egglift.ir.sizes import evaluate
from egglift.ir.types import Scalar, Type, leaves


def destinations(device: Device, type: Type, out: Any) -> list[Any]:
    """The leaves of `out` (ir.types.leaves), in which the results of a program of that type are written.

    out: a NumPy or pyopencl array of exactly the result's dtype and shape, C-contiguous and writable; a tuple of such
    where the results are one.  ArgumentError names what `out` is and what it must be.
    """
    found = list(_leaves(device, "out", type, out))
    if len({is_array(a) for a in found}) > 1:
        raise ArgumentError("out has arrays on the host and on the device; give all of one kind")
    for a, b in combinations(found, 2):
        if np.may_share_memory(a, b) if not is_array(a) else _share(a, b):
            raise ArgumentError("two arrays of out share memory; give each result an array of its own")
    return found


def _leaves(device: Device, name: str, type: Type, out: Any) -> Iterator[Any]:
    parts = parts_of(type)
    if parts is None:
        ((shape, scalar),) = leaves(type)
        yield _checked(device, name, scalar, tuple(evaluate(n) for n in shape), out)
        return
    if not isinstance(out, tuple | list) or len(out) != len(parts):
        given = f"{len(out)} values" if isinstance(out, tuple | list) else out.__class__.__name__
        raise ArgumentError(
            f"{name} is {given}, but the result is {type}: give a tuple of {len(parts)} arrays, one per component"
        )
    for i, (t, o) in enumerate(zip(parts, out, strict=True)):
        yield from _leaves(device, f"{name}[{i}]", t, o)


def _checked(device: Device, name: str, scalar: Scalar, shape: tuple[int, ...], out: Any) -> Any:
    """`out`, in which a leaf can be written as it is."""
    there = is_array(out)
    if not there and type(out) is not np.ndarray:
        raise ArgumentError(
            f"{name} is {type(out).__name__}, which no result is written into; give a numpy.ndarray, or a pyopencl "
            f"Array, of {scalar.dtype} and shape {shape}"
        )
    if out.dtype != scalar.dtype or not out.dtype.isnative or tuple(out.shape) != shape:
        raise ArgumentError(
            f"{name} is {out.dtype} of shape {tuple(out.shape)}, but the result is {scalar.dtype} of shape {shape}; "
            f"results are not converted: make it with empty({shape}, {scalar.dtype.name!r})"
        )
    if not out.flags.c_contiguous:
        raise ArgumentError(f"{name} is not C-contiguous; give an array whose rows follow each other in memory")
    if there:
        if out.context != device.context:
            raise ArgumentError(f"{name} lives in another OpenCL context than {device.name}; make it on its queue")
        if out.offset and not hasattr(out.base_data, "get_info"):
            raise ArgumentError(f"{name} begins {out.offset} bytes into shared virtual memory; give a whole array")
    elif not out.flags.writeable:
        raise ArgumentError(f"{name} is read-only; give an array that may be written")
    return out


def direct(out: Any, inputs: Sequence[Operand]) -> Operand | None:
    """The buffer of a pyopencl Array if kernels may write it while they read `inputs`, buffers; else None.

    They may not where it is an input as well: kernels promise their compiler (`restrict`) that no arguments overlap.
    Nor where it begins within its buffer.  ArgumentError for an input in shared virtual memory: nothing copies there.
    """
    if not out.size:
        return None
    is_input = any(_root(out.base_data) == _root(b) for b in inputs)
    if is_input and not hasattr(out.base_data, "get_info"):
        raise ArgumentError("out is an input as well, in shared virtual memory; give another array, or one in a buffer")
    return None if is_input or out.offset else out.base_data


def copied(device: Device, chain: Chain, source: Operand, out: Any) -> None:
    """The next command of `chain` copies a result from a buffer to a pyopencl Array."""
    if out.size:
        part = {"byte_count": out.nbytes, "dst_offset": out.offset}
        with reported(f"{device.name} cannot copy a result of {out.nbytes} bytes"):
            chain.add(opencl().enqueue_copy(chain.queue, out.base_data, source, wait_for=chain.after, **part))


def _share(a: Any, b: Any) -> bool:
    """Do two pyopencl Arrays have a byte in common, as far as their buffers tell?"""
    if not a.size or not b.size or _root(a.base_data) != _root(b.base_data):
        return False
    same = a.base_data == b.base_data
    return not same or (a.offset < b.offset + b.nbytes and b.offset < a.offset + a.nbytes)


def _root(buffer: Operand) -> Any:
    """The buffer that a part of a buffer is a part of; another buffer, or shared virtual memory, itself."""
    if not hasattr(buffer, "get_info"):
        return buffer
    return buffer.get_info(opencl().mem_info.ASSOCIATED_MEMOBJECT) or buffer
