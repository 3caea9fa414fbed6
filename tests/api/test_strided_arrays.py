"""Arrays with gaps, turned axes and repeated elements: functions of `jit` read them where they lie; kernels, packed."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import Device, open_device
from egglift.codegen.device.host_memory import HostMemory
from egglift.ir.strided import layout_of, seen, span
from egglift.ir.types import F32, scalar_of
from tests.gates import array, late, queue

pytestmark = pytest.mark.short

A = np.arange(720, dtype=np.float32).reshape(6, 10, 12)
VIEWS: dict[str, Any] = {
    "every other": lambda a: a[0, 0, ::2],
    "backwards": lambda a: a[1, 2, ::-1],
    "every third, backwards": lambda a: a[1, 2, 10::-3],
    "a column": lambda a: a[2, :, 3],
    "a block": lambda a: a[1, 2:7, 3:8],
    "a block of a cube": lambda a: a[1:5:2, 2:7, 3:11:4],
    "a block, turned": lambda a: a[1, 7:2:-1, 8:3:-1],
    "columns of Fortran's": lambda a: a.T[1:9:2, ::3, 2],
    "mixed axes": lambda a: a.transpose((1, 2, 0))[::2, 1:, ::-1],
    "repeated rows": lambda a: np.broadcast_to(a[0, 0], (4, 12)),
    "repeated columns": lambda a: np.broadcast_to(a[0, :, :1], (10, 5)),
    "repeated everywhere": lambda a: np.broadcast_to(a[3, 3, 3], (3, 4)),
    "windows": lambda a: np.lib.stride_tricks.sliding_window_view(a[0, 0], 4),
    "windows of a matrix": lambda a: np.lib.stride_tricks.sliding_window_view(a[0], (3, 3)),
    "the diagonal": lambda a: np.lib.stride_tricks.as_strided(a[0], (10,), (52,)),
}
#: those that pyopencl makes of its arrays too
THERE = ["every other", "backwards", "every third, backwards", "a column", "a block", "a block of a cube"]
THERE += ["a block, turned", "columns of Fortran's", "mixed axes"]


def plus_sums(a: Any) -> Any:
    return a * 2.0 + a.sum()


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("pocl")


@pytest.mark.parametrize("name", VIEWS)
def test_a_program_of_the_memory_is_the_array(name: str) -> None:
    view = VIEWS[name](A)
    layout = layout_of(view.shape, view.strides, 4)
    assert layout is not None
    low = view[tuple(slice(n - 1, n) if s < 0 else slice(0, 1) for n, s in layout)]
    memory = np.lib.stride_tricks.as_strided(low, (span(layout),), (4,))
    program = seen(el.array("m", F32, span(layout)), layout)
    np.testing.assert_array_equal(el.interpret(program, m=memory), view)


@pytest.mark.parametrize("name", VIEWS)
def test_jit_reads_arrays_where_they_lie(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    view = VIEWS[name](A)
    f = el.jit(plus_sums, device="pocl", measure="none", cache=False)
    kernel, out = f.kernel(view), np.empty(view.shape, np.float32)
    monkeypatch.setattr("egglift.codegen.device.host_memory.SMALL", 0)  # few bytes are copied
    monkeypatch.setattr(HostMemory, "result", lambda *_: pytest.fail("a copy is made"))
    monkeypatch.setattr(np, "ascontiguousarray", _only_contiguous)
    np.testing.assert_allclose(kernel(view, out=out), plus_sums(view), rtol=1e-5)


def _only_contiguous(a: Any, *_: Any) -> Any:
    assert a.flags.c_contiguous, "a copy is made"
    return a


@pytest.mark.parametrize("name", THERE)
def test_jit_reads_arrays_on_the_device_where_they_lie(
    name: str, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = queue(device.context, "in order")
    there, view = VIEWS[name](array(home, A)), VIEWS[name](A)
    f = el.jit(lambda a: a * 2.0, device="pocl", measure="none", cache=False)
    kernel = f.kernel(there)
    monkeypatch.setattr("egglift.codegen.device.arguments.packed", lambda *_: pytest.fail("a copy is made"))
    result = kernel(there)
    assert result.queue == home
    np.testing.assert_array_equal(result.get(), 2 * view)


@pytest.mark.parametrize("name", THERE)
@pytest.mark.parametrize("kind", ["in order", "out of order"])
def test_kernels_pack_arrays_on_the_device(name: str, kind: str, device: Device, gates: Any) -> None:
    home, view, gate = queue(device.context, kind), VIEWS[name](A), gates(device.context)
    kernel = el.optimize(el.array("a", el.f32, view.shape) * 2.0, "pocl", measure="none")
    result = kernel(VIEWS[name](late(home, A, gate)))
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), 2 * view)
    there = array(home, A)
    launch = kernel.bind(VIEWS[name](there))
    np.testing.assert_array_equal(launch().get(), 2 * view)
    there += 1
    np.testing.assert_array_equal(launch().get(), 2 * view + 2)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "f8"])
def test_elements_of_every_size_are_packed(dtype: str, device: Device) -> None:
    given = np.arange(60).reshape(5, 12).astype(dtype)
    t = scalar_of(given.dtype)
    kernel = el.optimize(el.array("a", t, (3, 4)) + el.literal(1, t), "pocl", measure="none")
    there = array(device.queue, given)[::2, 1::3]
    np.testing.assert_array_equal(kernel(there).get(), given[::2, 1::3] + 1)


def test_one_kernel_serves_all_columns() -> None:
    f = el.jit(lambda a: a * 2.0, device="pocl", measure="none", cache=False)
    for j in range(12):
        np.testing.assert_array_equal(f(A[0, :, j]), 2 * A[0, :, j])
    assert len(f.kernels) == 1


def test_a_part_that_may_begin_there_is_not_copied(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    n = device.part_alignment // 4 * 4
    home, given = device.queue, np.arange(3 * n, dtype=np.float32)
    kernel = el.optimize(el.array("a", el.f32, n) * 2.0, "pocl", measure="none")
    there = array(home, given)
    monkeypatch.setattr(Device, "clone", lambda *_: pytest.fail("a copy is made"))
    np.testing.assert_array_equal(kernel(there[n : 2 * n]).get(), 2 * given[n : 2 * n])
    launch = kernel.bind(there[2 * n :])
    np.testing.assert_array_equal(launch().get(), 2 * given[2 * n :])


def test_such_kernels_take_other_arrays_and_can_be_kept(device: Device) -> None:
    f = el.jit(plus_sums, device="pocl", measure="none", cache=False)
    kernel = f.kernel(A[0, ::2, 1::3])
    for k in (kernel, pickle.loads(pickle.dumps(kernel))):
        given = np.ascontiguousarray(A[1, ::2, 1::3])
        np.testing.assert_allclose(k(given), plus_sums(given), rtol=1e-5)
        with pytest.raises(el.ArgumentError, match="the kernel is for an array of other strides"):
            k(array(device.queue, given))
        with pytest.raises(el.ArgumentError, match="has shape|of shape"):
            k(A[0])
    repeated = f.kernel(np.broadcast_to(A[0, 0], (4, 12)))
    with pytest.raises(el.ArgumentError, match="for an array that repeats"):
        repeated(A[0, :4])
