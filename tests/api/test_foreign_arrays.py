"""Arrays of other libraries and in other orders: what tells of its memory is read where it is."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import egglift as el
from egglift.codegen.device.host_memory import HostMemory
from tests.gates import array, queue

pytestmark = pytest.mark.short

SHAPE = (3, 4, 5)
A = np.arange(60, dtype=np.float32).reshape(SHAPE)


class Interface:
    """An array of a library that knows NumPy's protocol."""

    def __init__(self, a: Any) -> None:
        self._kept, self.__array_interface__ = a, a.__array_interface__


class DLPack:
    """An array of a library that knows DLPack; on the host, or elsewhere."""

    def __init__(self, a: Any, device: tuple[int, int] = (1, 0)) -> None:
        self._kept, self._device = a, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._kept.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


@el.jit(device="pocl", measure="none", cache=False)
def last_sums(a: Any) -> Any:
    return a.map(lambda m: m.map(lambda row: row.reduce(el.add, 0.0)))


@pytest.fixture(scope="module")
def doubled() -> Any:
    return el.optimize(el.array("a", el.f32, SHAPE) * 2.0, "pocl", measure="none", cache=False)


@pytest.mark.parametrize("kind", [Interface, DLPack, memoryview])
def test_what_tells_of_its_memory_is_read_there(doubled: Any, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.empty_like(A)
    monkeypatch.setattr("egglift.codegen.device.host_memory.SMALL", 0)  # few bytes are copied
    monkeypatch.setattr(HostMemory, "result", lambda *_: pytest.fail("a copy is made"))
    np.testing.assert_array_equal(doubled(kind(A), out=out), 2 * A)
    assert el.interpret(doubled.program, a=kind(A))[2, 3, 4] == 118


@pytest.mark.parametrize("kind", [Interface, DLPack])
def test_jit_takes_arrays_of_other_libraries(kind: Any) -> None:
    np.testing.assert_array_equal(last_sums(kind(A)), A.sum(2))


def test_what_is_elsewhere_is_refused_by_name(doubled: Any) -> None:
    with pytest.raises(el.ArgumentError, match=r"^input a is in the memory of another device \(DLPack's type 2\)"):
        doubled(DLPack(A, device=(2, 0)))


def test_results_tell_of_their_memory(doubled: Any) -> None:
    result = doubled(A)
    np.testing.assert_array_equal(np.from_dlpack(DLPack(result)), 2 * A)
    assert np.shares_memory(np.from_dlpack(DLPack(result)), result)


@pytest.mark.parametrize("order", [(2, 1, 0), (0, 2, 1), (1, 2, 0)])
def test_jit_reads_axes_in_the_order_in_which_they_lie(order: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    view = np.ascontiguousarray(A.transpose(order)).transpose(np.argsort(order))
    assert view.shape == SHAPE and not view.flags.c_contiguous
    kernel = last_sums.kernel(view)
    assert kernel is not last_sums.kernel(A)
    out = np.empty(SHAPE[:2], np.float32)
    home = queue(kernel.device.context, "in order")
    there = array(home, A.transpose(order)).transpose(np.argsort(order))
    monkeypatch.setattr("egglift.codegen.device.host_memory.SMALL", 0)  # few bytes are copied
    monkeypatch.setattr(HostMemory, "result", lambda *_: pytest.fail("a copy is made"))
    np.testing.assert_array_equal(kernel(view, out=out), A.sum(2))
    np.testing.assert_array_equal(kernel.bind(a=view, out=0 * out)(), A.sum(2))
    np.testing.assert_array_equal(last_sums(there).get(), A.sum(2))
    assert kernel.profile(view).seconds > 0


def test_such_a_kernel_takes_arrays_in_any_order_and_can_be_kept() -> None:
    kernel = last_sums.kernel(np.asfortranarray(A))
    again = pickle.loads(pickle.dumps(kernel))
    for k in (kernel, again):
        np.testing.assert_array_equal(k(A), A.sum(2))
        np.testing.assert_array_equal(k(A.tolist()), A.sum(2))
        with pytest.raises(el.ArgumentError, match=r"input a has shape \(4, 5\), but the program takes \(3, 4, 5\)"):
            k(A[0])


@pytest.mark.parametrize("grain", ["fine", "coarse"])
def test_shared_virtual_memory_is_an_input(doubled: Any, grain: str) -> None:
    home = doubled.device.queue
    flags = cl.svm_mem_flags.READ_WRITE
    flags |= cl.svm_mem_flags.SVM_FINE_GRAIN_BUFFER if grain == "fine" else 0
    # no queue=: PoCL crashes where memory is made while a queue frees other memory (clEnqueueSVMFree)
    memory = cl.SVMAllocation(home.context, A.nbytes, 128, flags)
    cl.enqueue_copy(home, memory, A)
    np.testing.assert_array_equal(doubled(memory).get(), 2 * A)
    with pytest.raises(el.ArgumentError, match="is a buffer of 8 bytes, but the program reads 240"):
        doubled(cl.SVMAllocation(home.context, 8, 128, flags))
