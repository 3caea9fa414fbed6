"""Arrays with gaps, turned axes and repeated ones: the memory that they reach over, and packed copies on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.lib.stride_tricks import as_strided

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, NdArray, Operand, opencl, reported
from egglift.ir.errors import ArgumentError
from egglift.ir.strided import Layout, layout_of, span

#: OpenCL's types of so many bytes
WORDS = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}
#: programs that pack arrays, by the size of elements and the number of axes
_programs: WeakKeyDictionary[Device, dict[tuple[int, int], Any]] = WeakKeyDictionary()


def stretch(name: str, array: NdArray, layout: Layout) -> NdArray:
    """The memory that an array of this layout reaches over, as a vector; of another, a copy laid out so."""
    size = array.dtype.itemsize
    if layout_of(array.shape, array.strides, size) != layout:
        array = _laid_out(name, array, layout)
    lowest = array[tuple(slice(n - 1, n) if s < 0 else slice(0, 1) for n, s in layout)]
    return as_strided(lowest, (span(layout),), (size,), writeable=array.flags.writeable)


def _laid_out(name: str, array: NdArray, layout: Layout) -> NdArray:
    memory = np.zeros(span(layout), array.dtype)
    first = sum((n - 1) * -s for n, s in layout if s < 0)
    made = as_strided(memory[first:], [n for n, _ in layout], [s * array.dtype.itemsize for _, s in layout])
    made[...] = array
    if not np.array_equal(made, array, equal_nan=array.dtype.kind == "f"):
        raise ArgumentError(f"input {name}: the kernel is for an array that repeats elements of its memory")
    return made


def stretch_there(name: str, array: Any, layout: Layout) -> Any:
    """The memory that a pyopencl Array of this layout reaches over, as a vector that shares its events."""
    size = array.dtype.itemsize
    if layout_of(array.shape, array.strides, size) != layout:
        raise ArgumentError(
            f"input {name} has strides {tuple(array.strides)}, and the kernel is for an array of other strides; on the "
            "device arrays are not laid out anew: call the function of el.jit, which has a kernel for each"
        )
    start = array.offset + sum((n - 1) * s for n, s in layout if s < 0) * size
    return array._new_with_changes(array.base_data, start, (span(layout),), strides=(size,))


def packed(device: Device, chain: Chain, array: Any) -> Operand:
    """A buffer with the elements of a pyopencl Array in C order: the next command of `chain` copies them there."""
    copy = device.allocate(array.nbytes)
    with reported(f"{device.name} cannot copy an array of {array.nbytes} bytes"):
        chain.add(packing(device, array, copy)(chain.queue, chain.after))
    return copy


def packing(device: Device, array: Any, target: Operand) -> Callable[[Any, Any], Any]:
    """What enqueues a copy of a pyopencl Array's elements, in C order, to a buffer."""
    size, rank = array.dtype.itemsize, len(array.shape)
    if size not in WORDS or array.offset % size or any(s % size for s in array.strides):
        raise ArgumentError(f"an array with strides {array.strides}, of {array.dtype}, is not taken from the device")
    kernel = opencl().Kernel(_program(device, size, rank), "pack")
    numbers = [n for pair in zip(array.shape, array.strides, strict=True) for n in (pair[0], pair[1] // size)]
    kernel.set_args(target, array.base_data, *(np.int64(n) for n in (array.offset // size, *numbers)))
    return lambda queue, after: opencl().enqueue_nd_range_kernel(queue, kernel, (array.size,), None, wait_for=after)


def _program(device: Device, size: int, rank: int) -> Any:
    made = _programs.setdefault(device, {})
    if (size, rank) not in made:
        made[size, rank] = device.compile(_source(size, rank))
    return made[size, rank]


def _source(size: int, rank: int) -> str:
    pairs = "".join(f", long n{i}, long s{i}" for i in range(rank))
    steps = "\n".join(f"  at += rest % n{i} * s{i}; rest /= n{i};" for i in reversed(range(rank)))
    return f"""kernel void pack(global {WORDS[size]} *to, global const {WORDS[size]} *from, long start{pairs}) {{
  long rest = get_global_id(0), at = start;
{steps}
  to[get_global_id(0)] = from[at];
}}
"""
