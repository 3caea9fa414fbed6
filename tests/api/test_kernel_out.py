"""Results written into arrays that the caller gives: `kernel(x, y, out=z)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import open_device, opencl
from egglift.codegen.device.host_memory import ALIGNMENT, fresh
from tests.gates import array, late, queue

pytestmark = pytest.mark.short

N = 1 << 10
X = np.arange(N, dtype=np.float32)
Y = X[::-1] - 3


def made(program: Any) -> el.Kernel:
    return el.optimize(program, "pocl", measure="none", cache=False)


@pytest.fixture(scope="module")
def minus() -> el.Kernel:
    """x - y[::-1]: an element of y is read for another place than its own."""
    x, y = el.array("x", el.f32, N), el.array("y", el.f32, N)
    return made(x - y[::-1])


@pytest.fixture(scope="module")
def both() -> el.Kernel:
    x = el.array("x", el.f32, (4, 8))
    return made((x.map(lambda row: row.reduce(el.add, 0.0)), (x > 3)))


@pytest.fixture(params=["in order", "out of order"])
def home(request: pytest.FixtureRequest) -> Any:
    return queue(open_device("pocl").context, request.param)


@pytest.mark.parametrize("start", [0, 4, ALIGNMENT])
def test_numpy_arrays_are_written_wherever_they_start(minus: el.Kernel, start: int) -> None:
    z = fresh(4 * N + ALIGNMENT)[start : start + 4 * N].view(np.float32)
    assert minus(X, Y, out=z) is z
    np.testing.assert_array_equal(z, X - Y[::-1])


def test_an_aligned_array_is_written_where_it_is(minus: el.Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    z = minus(X, Y)
    monkeypatch.setattr(
        "egglift.codegen.device.host_memory.HostMemory.result", lambda *_: pytest.fail("a copy is made")
    )
    x, y = (fresh(4 * N).view(np.float32) for _ in range(2))
    x[:], y[:] = Y, X
    assert minus(x, y, out=z) is z
    np.testing.assert_array_equal(z, Y - X[::-1])


def test_few_bytes_are_copied_and_no_buffer_is_mapped(minus: el.Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    z = np.empty(N + 1, np.float32)[1:]
    monkeypatch.setattr(opencl(), "enqueue_map_buffer", lambda *_, **__: pytest.fail("a buffer is mapped"))
    assert minus(X, Y, out=z) is z
    np.testing.assert_array_equal(z, X - Y[::-1])


def test_an_array_that_is_written_often_carries_one_event(minus: el.Kernel, home: Any, gates: Any) -> None:
    gate = gates(home.context)
    x, y, z = late(home, X, gate), array(home, Y), array(home, X)
    for _ in range(20):
        minus(x, y, out=z)
    assert len(z.events) == 1 and not gate.is_open
    gate.open()
    np.testing.assert_array_equal(z.get(), X - Y[::-1])


def test_device_arrays_are_written_where_they_are(minus: el.Kernel, home: Any) -> None:
    z = array(home, np.zeros_like(X))
    memory = z.base_data
    assert minus(array(home, X), array(home, Y), out=z) is z
    assert z.base_data is memory and z.events
    np.testing.assert_array_equal(z.get(), X - Y[::-1])


def test_numpy_inputs_are_taken_beside_an_out_on_the_device(minus: el.Kernel, home: Any) -> None:
    z = array(home, np.zeros_like(X))
    minus(X, Y, out=z)
    np.testing.assert_array_equal(z.get(), X - Y[::-1])


def test_a_part_of_a_device_array_is_written_alone(minus: el.Kernel, home: Any) -> None:
    whole = array(home, np.full(3 * N, 7, np.float32))
    minus(array(home, X), array(home, Y), out=whole[N : 2 * N])
    np.testing.assert_array_equal(whole.get(), np.concatenate([X * 0 + 7, X - Y[::-1], X * 0 + 7]))


# ---------------------------------------------------------------------------------------- out that is an input


@pytest.mark.parametrize("which", ["x", "y"])
def test_an_input_may_be_overwritten_on_the_host(minus: el.Kernel, which: str) -> None:
    for shift in (0, 8):  # the very array, and one that begins within it
        memory = fresh(4 * N + 32).view(np.float32)
        given = {"x": X, "y": Y} | {which: memory[shift : N + shift]}
        given[which][:] = {"x": X, "y": Y}[which]
        minus(**given, out=memory[:N])
        np.testing.assert_array_equal(memory[:N], X - Y[::-1])


@pytest.mark.parametrize("which", ["x", "y"])
@pytest.mark.parametrize("shift", [0, 8])
def test_an_input_may_be_overwritten_on_the_device(minus: el.Kernel, home: Any, which: str, shift: int) -> None:
    memory = array(home, np.concatenate([np.zeros(shift, np.float32), {"x": X, "y": Y}[which]]))
    given = {"x": array(home, X), "y": array(home, Y)} | {which: memory[shift:]}
    minus(**given, out=memory[:N])
    np.testing.assert_array_equal(memory[:N].get(), X - Y[::-1])


def test_a_part_of_a_buffer_is_told_from_another_buffer(minus: el.Kernel) -> None:
    device = minus.device
    import pyopencl.array as cl_array

    x = array(device.queue, X)
    part = cl_array.Array(device.queue, N, np.float32, data=x.base_data.get_sub_region(0, 4 * N))
    minus(y=x, x=Y, out=part)
    np.testing.assert_array_equal(part.get(), Y - X[::-1])


def test_a_program_that_is_its_input_is_copied(home: Any) -> None:
    k = made(el.array("x", el.f32, N))
    z, there = np.empty_like(X), array(home, np.zeros_like(X))
    np.testing.assert_array_equal(k(X, out=z), X)
    x = array(home, X)
    np.testing.assert_array_equal(k(x, out=there).get(), X)
    np.testing.assert_array_equal(k(x, out=x).get(), X)


def test_shared_virtual_memory_is_written_where_it_is(minus: el.Kernel) -> None:
    from pyopencl import array as cl_array
    from pyopencl.tools import SVMAllocator

    context = minus.device.context
    home = queue(context, "in order")
    memory = SVMAllocator(context, alignment=0, flags=opencl().svm_mem_flags.READ_WRITE, queue=home)
    x, y, z = (cl_array.to_device(home, v, allocator=memory) for v in (X, Y, 0 * X))
    twice = cl_array.empty(home, 2 * N, np.float32, allocator=memory)
    np.testing.assert_array_equal(minus(x, y, out=z).get(), X - Y[::-1])
    np.testing.assert_array_equal(minus.bind(y, x, out=z)().get(), Y - X[::-1])
    for call in (minus, minus.bind):
        with pytest.raises(el.ArgumentError, match="out is an input as well, in shared virtual memory"):
            call(x, y, out=x)
        with pytest.raises(el.ArgumentError, match="bytes into shared virtual memory; give a whole array"):
            call(x, y, out=twice[N:])
    np.testing.assert_array_equal(x.get(), X)


# ---------------------------------------------------------------------------------------- several results, no elements


def test_several_results_are_written_into_a_tuple(both: el.Kernel, home: Any) -> None:
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    out = np.empty(4, np.float32), np.empty((4, 8), np.bool_)
    assert both(x, out=out) is out
    there = tuple(array(home, o) for o in (np.zeros(4, np.float32), np.zeros((4, 8), np.bool_)))
    both(array(home, x), out=there)
    for found in (out, [a.get() for a in there]):
        np.testing.assert_array_equal(found[0], x.sum(1))
        np.testing.assert_array_equal(found[1], x > 3)


def test_a_number_is_written_into_an_array_of_no_dimension() -> None:
    total = made(el.array("x", el.f32, N).reduce(el.add, 0.0))
    z = np.zeros((), np.float32)
    assert total(X, out=z) is z and z == X.sum()


def test_a_result_without_elements_is_no_work(home: Any) -> None:
    none = made(el.array("x", el.f32, 4)[:0])
    z = np.empty(0, np.float32)
    assert none(X[:4], out=z) is z
    there = array(home, np.zeros(1, np.float32))[:0]
    assert none(array(home, X[:4]), out=there) is there


# ---------------------------------------------------------------------------------------- order


def test_what_others_still_read_is_not_overwritten(minus: el.Kernel, gates: Any) -> None:
    """A call on one queue reads z when a gate opens; another queue's call that writes z waits for it."""
    context = minus.device.context
    first, second, gate = queue(context, "in order"), queue(context, "out of order"), gates(context)
    z = array(second, Y)
    before = minus(late(first, X, gate), z)
    minus(array(second, X), array(second, X), out=z)
    assert not gate.is_open and z.events[-1].command_execution_status > 0
    gate.open()
    np.testing.assert_array_equal(before.get(), X - Y[::-1])
    np.testing.assert_array_equal(z.get(), X - X[::-1])


# ---------------------------------------------------------------------------------------- what does not fit


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty(N), r"out is float64 of shape \(1024,\), but the result is float32 .* empty\(\(1024,\), 'float32'\)"),
        (np.empty(N, ">f4"), r"out is >f4 of shape"),
        (np.empty((2, N // 2), np.float32), r"out is float32 of shape \(2, 512\), but the result is .*\(1024,\)"),
        (np.empty(2 * N, np.float32)[::2], "out is not C-contiguous; give an array whose rows follow each other"),
        (np.broadcast_to(np.float32(0), N), "out is not C-contiguous"),
        ([0.0] * N, "out is list, which no result is written into; give a numpy.ndarray, or a pyopencl"),
        (np.ma.zeros(N, np.float32), "out is MaskedArray, which no result"),
        ((np.empty(N, np.float32),), "out is tuple, which no result"),
    ],
)
def test_an_out_that_does_not_fit_is_named(minus: el.Kernel, out: Any, message: str) -> None:
    with pytest.raises(el.ArgumentError, match=message):
        minus(X, Y, out=out)


def test_a_read_only_out_is_refused_and_left_alone(minus: el.Kernel) -> None:
    z = np.zeros(N, np.float32)
    z.flags.writeable = False
    with pytest.raises(el.ArgumentError, match="out is read-only; give an array that may be written"):
        minus(X, Y, out=z)
    assert not z.any()


def test_results_that_share_memory_are_refused(both: el.Kernel, home: Any) -> None:
    two = made((el.array("x", el.f32, 4) + 1.0, el.array("x", el.f32, 4) * 2.0))
    for z in (np.zeros(6, np.float32), array(home, np.zeros(6, np.float32))):
        with pytest.raises(el.ArgumentError, match="two arrays of out share memory; give each result an array"):
            two(X[:4], out=(z[:4], z[2:]))
    with pytest.raises(el.ArgumentError, match=r"out is ndarray, but the result is .*: give a tuple of 2 arrays"):
        two(X[:4], out=np.zeros(4, np.float32))
    with pytest.raises(el.ArgumentError, match="out is 3 values, but the result is"):
        two(X[:4], out=(X, X, X))
    z = np.zeros(4, np.float32)
    with pytest.raises(el.ArgumentError, match="out has arrays on the host and on the device"):
        two(X[:4], out=(z, array(home, z)))


def test_an_out_elsewhere_than_the_inputs_is_refused(minus: el.Kernel, home: Any) -> None:
    with pytest.raises(el.ArgumentError, match=r"input x is on the device, and out on the host; .* take the result's"):
        minus(array(home, X), Y, out=np.empty_like(X))
    foreign = opencl().CommandQueue(opencl().Context([minus.device.device]))
    with pytest.raises(el.ArgumentError, match="out lives in another OpenCL context"):
        minus(X, Y, out=array(foreign, X))
    with pytest.raises(el.ArgumentError, match="out is not C-contiguous"):
        minus(X, Y, out=array(home, np.zeros(2 * N, np.float32))[::2])
