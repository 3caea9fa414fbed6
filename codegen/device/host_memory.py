"""Memory of the host that kernels of a device read and write where it is: no array is copied to or from the device."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from weakref import WeakValueDictionary

import numpy as np

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, NdArray, Operand, opencl, refused, reported
from egglift.codegen.device.pool import KEPT, SMALL, Block, Pool
from egglift.codegen.device.staging import LARGE, staging_of

#: bytes; what results are written into begins at a multiple of it, as OpenCL's largest vectors do
ALIGNMENT = 128


def is_shared(device: Device) -> bool:
    """Do kernels of `device` work on the host's memory itself?"""
    return bool(device.kind == "cpu")


class HostMemory:
    """Arrays of the host as what kernels of a device are given: their memory itself.

    OpenCL knows three ways, of which the first that the device has is taken: addresses of the host, any of them; memory
    that it has made for both (fine-grained, shared virtual memory), which results are in; and buffers over an array's
    memory (CL_MEM_USE_HOST_PTR), which must be mapped before the host sees what kernels have written.
    """

    def __init__(self, device: Device) -> None:
        self.device, self.is_shared = device, is_shared(device)
        self._takes_any = self.is_shared and _has(device, "FINE_GRAIN_SYSTEM")
        self._own = pool_of(device) if self.is_shared else _ordinary
        flags = opencl().mem_flags
        self._read, self._write = flags.USE_HOST_PTR | flags.READ_ONLY, flags.USE_HOST_PTR | flags.READ_WRITE

    def result(self, size: int) -> NdArray:
        """Aligned bytes for a result; of a device with memory of its own, where it writes them fastest."""
        if not self.is_shared and LARGE <= size <= KEPT:
            return staging_of(self.device).pool.array(size)
        return self._own.array(size)

    def writable(self, out: NdArray, inputs: Sequence[NdArray]) -> NdArray:
        """The bytes that kernels write for the result that becomes `out`: its own if they are no input's, else new.

        New are they too where these are few, which are then copied, and buffers over them would have to be mapped.

        Kernels promise their compiler (`restrict`) that what they write is not what they read.
        """
        if self.writes_into(out, inputs):
            return out.reshape(-1).view(np.uint8)
        return self.result(out.nbytes)

    def writes_into(self, out: NdArray, inputs: Sequence[NdArray]) -> bool:
        """Do kernels that read `inputs` write a result into the memory of `out` itself?"""
        if not out.nbytes or not _is_usable(out) or any(np.may_share_memory(out, a) for a in inputs):
            return False
        return out.nbytes >= SMALL or self._own is _ordinary or self._needs_no_buffer(out.reshape(-1).view(np.uint8))

    def wrapped(self, array: NdArray, *, written: bool = False) -> Operand:
        """What kernels are given for `array`, which is in C order, not empty, and must outlive what is done with it."""
        cl = opencl()
        if not (array.flags.writeable or written):
            array = np.asarray(_Writable(array))  # pyopencl asks for it; kernels do not write what they read
        flat = array.reshape(-1).view(np.uint8)
        if self._needs_no_buffer(flat):
            return cl.SVM(flat)
        try:  # no context manager: this runs for every array of every call
            return cl.Buffer(self.device.context, self._write if written else self._read, hostbuf=flat)
        except (cl.Error, MemoryError) as error:
            raise refused(f"{self.device.name} cannot use {array.nbytes} bytes of the host", error) from error

    def _needs_no_buffer(self, array: NdArray) -> bool:
        return self._takes_any or (self._own is not _ordinary and self._own.holds(array))

    def readable(self, arrays: Sequence[NdArray]) -> list[Operand]:
        """What kernels are given for `arrays`, to read: their memory, in any place that suits their type; else a copy.

        Buffers must not share memory, but one may stand for two inputs.
        """
        taken: list[tuple[NdArray, Operand]] = []
        return [self._readable(a, taken) if a.nbytes else self.device.allocate(0) for a in arrays]

    def _readable(self, array: NdArray, taken: list[tuple[NdArray, Operand]]) -> Operand:
        """taken: the arrays before, and what kernels are given for them; this one is added."""
        for other, operand in taken:
            if other is array or is_same(other, array):
                return operand
        shares = taken and not self._takes_any and any(np.may_share_memory(array, a) for a, _ in taken)
        if shares or not _is_usable(array):
            copy = self.result(array.nbytes).view(array.dtype).reshape(array.shape)
            np.copyto(copy, array)
            array = copy
        operand = self.wrapped(array)
        taken.append((array, operand))
        return operand

    def seen(self, chain: Chain, results: Sequence[tuple[Operand, int]]) -> None:
        """Waits until the host sees what the commands of `chain` wrote: operands and their bytes."""
        cl, waits = opencl(), True
        for buffer, size in results:
            if size and isinstance(buffer, cl.Buffer):
                where = chain.queue, buffer, cl.map_flags.READ, 0, (size,), np.uint8
                what, _ = cl.enqueue_map_buffer(*where, wait_for=chain.after)
                what.base.release(chain.queue)
                waits = False  # the map has, for what is before it
        if waits or not chain.ordered:
            chain.finish()


def fresh(size: int) -> NdArray:
    """Aligned bytes of the host's ordinary memory."""
    return _ordinary.array(size)


def _aligned(size: int) -> Block:
    raw = np.empty(size + ALIGNMENT, np.uint8)
    address = int(raw.__array_interface__["data"][0])
    return Block(address + -address % ALIGNMENT, size, raw)


_ordinary = Pool(_aligned)
#: by context, as long as kernels of it are used
_pools: WeakValueDictionary[int, Pool] = WeakValueDictionary()
_lock = threading.Lock()


def pool_of(device: Device) -> Pool:
    """The results of all kernels of a context: in memory that is shared with the device where there is such."""
    if not _has(device, "FINE_GRAIN_BUFFER"):
        return _ordinary
    with _lock:
        pool = _pools.get(device.context.int_ptr)
        if pool is None:
            pool = _pools[device.context.int_ptr] = Pool(_shared(device))
        return pool


def _shared(device: Device) -> Callable[[int], Block]:
    """Makes blocks of fine-grained shared virtual memory."""
    cl, name = opencl(), device.name
    context, flags = device.context, cl.svm_mem_flags.READ_WRITE | cl.svm_mem_flags.SVM_FINE_GRAIN_BUFFER

    def make(size: int) -> Block:
        with reported(f"{name} cannot hold {size} bytes"):
            memory = cl.SVMAllocation(context, max(size, 1), ALIGNMENT, flags)
        return Block(memory.svm_ptr, size, memory)

    return make


def _has(device: Device, capability: str) -> bool:
    """Has the device this kind of shared virtual memory?"""
    cl = opencl()
    try:
        return bool(device.device.svm_capabilities & getattr(cl.device_svm_capabilities, capability))
    except (AttributeError, cl.Error):  # before OpenCL 2
        return False


class _Writable:
    """An array's memory, which NumPy is told it may write."""

    def __init__(self, array: NdArray) -> None:
        self._kept = array
        self.__array_interface__ = {
            "shape": (array.nbytes,),
            "typestr": "|u1",
            "data": (_address(array), False),
            "version": 3,
        }


def _is_usable(array: NdArray) -> bool:
    """Do elements lie in C order, where elements of their type may?"""
    return bool(array.flags.c_contiguous and array.flags.aligned)


def is_same(a: NdArray, b: NdArray) -> bool:
    """Are two arrays in C order one stretch of memory?"""
    return a.nbytes == b.nbytes and _address(a) == _address(b)


def _address(array: NdArray) -> int:
    return int(array.__array_interface__["data"][0])
