"""The words of a call itself, and NumPy arrays that kernels read and write where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import open_device, opencl
from egglift.codegen.device.host_memory import ALIGNMENT, HostMemory, fresh
from egglift.codegen.device.pool import FEW, LEAST, SMALL, Block, Pool
from tests.gates import array, queue

pytestmark = pytest.mark.short

N = 1 << 15
X = np.arange(N, dtype=np.float32)


@pytest.fixture(scope="module")
def doubled() -> Any:
    return el.optimize(el.array("x", el.f32, N) * 2.0, "pocl", measure="none", cache=False)


@pytest.mark.parametrize("kind", ["in order", "out of order"])
def test_a_call_runs_on_the_queue_that_it_is_given(doubled: Any, kind: str) -> None:
    home, other = queue(doubled.device.context, "in order"), queue(doubled.device.context, kind)
    result = doubled(array(home, X), queue=other)
    assert result.queue == other
    np.testing.assert_array_equal(result.get(), 2 * X)
    np.testing.assert_array_equal(doubled(X, queue=other), 2 * X)


def test_a_call_waits_for_the_events_that_it_is_given(doubled: Any, gates: Any) -> None:
    gate = gates(doubled.device.context)
    result = doubled(array(queue(doubled.device.context, "in order"), X), wait_for=[gate.event])
    assert result.events[0].command_execution_status > 0
    gate.open()
    np.testing.assert_array_equal(result.get(), 2 * X)


def test_results_are_of_the_memory_that_an_allocator_makes(doubled: Any) -> None:
    sizes, device = list[int](), doubled.device

    def allocator(size: int) -> Any:
        sizes.append(size)
        return device.allocate(size)

    result = doubled(array(device.queue, X), allocator=allocator)
    assert sizes == [4 * N] and result.allocator is allocator
    np.testing.assert_array_equal(result.get(), 2 * X)


def test_an_input_named_queue_is_given_by_position() -> None:
    named = el.optimize(el.array("queue", el.f32, 4) * 2.0, "pocl", measure="none", cache=False)
    np.testing.assert_array_equal(named(X[:4]), 2 * X[:4])
    with pytest.raises(el.ArgumentError, match=r"missing: queue"):
        named(queue=X[:4])


def test_a_queue_that_is_none_is_refused_by_name(doubled: Any) -> None:
    foreign = opencl().CommandQueue(opencl().Context([doubled.device.device]))
    for wrong in (X, foreign):
        with pytest.raises(el.ArgumentError, match=r"queue= is the pyopencl CommandQueue of .* by position: \(x\)"):
            doubled(X, queue=wrong)


@pytest.mark.parametrize("start", [0, 4, 64, ALIGNMENT])
def test_arrays_are_right_wherever_they_start(doubled: Any, start: int) -> None:
    x = fresh(4 * N + ALIGNMENT)[start : start + 4 * N].view(np.float32)
    x[:] = X
    x.flags.writeable = False
    np.testing.assert_array_equal(doubled(x), 2 * X)
    np.testing.assert_array_equal(x, X)


def test_inputs_that_share_memory_are_right() -> None:
    x, y = el.array("x", el.f32, N), el.array("y", el.f32, N)
    minus = el.optimize(x - y, "pocl", measure="none", cache=False)
    whole = fresh(4 * (N + ALIGNMENT)).view(np.float32)
    whole[:] = np.arange(whole.size)
    np.testing.assert_array_equal(minus(x=whole[32 : N + 32], y=whole[:N]), np.full(N, 32, np.float32))
    np.testing.assert_array_equal(minus(x=whole[:N], y=whole[:N]), np.zeros(N, np.float32))


def test_a_result_is_not_written_while_a_part_of_it_is_used(doubled: Any) -> None:
    part = doubled(X)[::2]
    for i in range(5):
        doubled(X + i)
    np.testing.assert_array_equal(part, 2 * X[::2])


def place(array: Any) -> int:
    """Where it begins."""
    return int(array.__array_interface__["data"][0])


def test_arrays_are_used_where_they_are(doubled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, z = (fresh(4 * N + ALIGNMENT)[start : start + 4 * N].view(np.float32) for start in (4, 12))
    x[:] = X
    monkeypatch.setattr(HostMemory, "result", lambda *_: pytest.fail("a copy is made"))
    assert doubled(x, out=z) is z
    np.testing.assert_array_equal(z, 2 * X)


def test_one_array_for_two_inputs_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = el.array("x", el.f32, N), el.array("y", el.f32, N)
    plus, z = el.optimize(x + y, "pocl", measure="none", cache=False), np.empty_like(X)
    monkeypatch.setattr(HostMemory, "result", lambda *_: pytest.fail("a copy is made"))
    np.testing.assert_array_equal(plus(X, X, out=z), 2 * X)


def test_arrays_that_may_not_be_written_are_read_where_they_are(doubled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, z = np.frombuffer(X.tobytes(), np.float32), np.empty_like(X)
    monkeypatch.setattr(HostMemory, "result", lambda *_: pytest.fail("a copy is made"))
    np.testing.assert_array_equal(doubled(x, out=z), 2 * X)
    assert not x.flags.writeable


@pytest.mark.parametrize("way", ["addresses", "buffers"])
def test_every_way_to_the_hosts_memory_is_right(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    has = {"addresses": "FINE_GRAIN_SYSTEM", "buffers": None}[way]  # PoCL takes any address, and does not say so
    monkeypatch.setattr("egglift.codegen.device.host_memory._has", lambda _, capability: capability == has)
    minus = el.optimize(2 * el.array("x", el.f32, N) - el.array("y", el.f32, N), "pocl", measure="none", cache=False)
    for _ in range(3):
        np.testing.assert_array_equal(minus(X, X), X)
    memory = fresh(4 * N + 4).view(np.float32)
    memory[:] = np.arange(N + 1)
    np.testing.assert_array_equal(minus(memory[1:], memory[:-1], out=memory[1:]), X + 2)


def test_results_take_the_memory_of_results_that_are_gone(doubled: Any) -> None:
    first = place(doubled(X))
    assert first % ALIGNMENT == 0
    assert place(doubled(X)) == first


def test_a_pool_keeps_no_more_than_it_may() -> None:
    made = list[int]()

    def make(size: int) -> Block:
        memory = np.empty(size, np.uint8)
        made.append(place(memory))
        return Block(made[-1], size, memory)

    pool = Pool(make, most=2 * SMALL)
    arrays = [pool.array(SMALL) for _ in range(3)]
    assert all(pool.holds(a) and pool.holds(a[: SMALL // 2]) and not pool.holds(a[1:]) for a in arrays)
    last = place(arrays[2])
    while arrays:
        del arrays[0]
    again = pool.array(SMALL)
    assert place(again) == last and len(made) == 3
    other = pool.array(SMALL)
    assert other is not again and len(made) == 4, "those that had waited were let go"


def test_a_pool_keeps_few_small_blocks_of_few_sizes() -> None:
    made = list[int]()

    def make(size: int) -> Block:
        memory = np.empty(size, np.uint8)
        made.append(size)
        return Block(place(memory), size, memory)

    pool = Pool(make)
    for size in (1, 5, 0, LEAST, 3 * LEAST, 4 * LEAST):
        assert pool.array(size).nbytes == size
    assert made == [LEAST, 4 * LEAST]
    arrays = [pool.array(8) for _ in range(FEW + 10)]
    del arrays
    made.clear()
    again = [pool.array(8) for _ in range(FEW + 10)]
    assert len(again) - len(made) == FEW


def test_a_forked_process_frees_no_memory_of_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    freed = list[int]()

    class Memory:
        def __init__(self, size: int) -> None:
            self.block = np.empty(size, np.uint8)

        def __del__(self) -> None:
            freed.append(self.block.nbytes)

    def make(size: int) -> Block:
        memory = Memory(size)
        return Block(place(memory.block), size, memory)

    pool = Pool(make, most=0)
    here, there = pool.array(LEAST), pool.array(2 * LEAST)
    del here
    monkeypatch.setattr("os.getpid", lambda: -1)
    del there
    assert freed == [LEAST]


def test_a_device_of_another_context_takes_numpy_arrays() -> None:
    device = open_device(opencl().Context([open_device("pocl").device]))
    k = el.optimize(el.array("x", el.f32, N) * 2.0, device, measure="none", cache=False)
    np.testing.assert_array_equal(k(X), 2 * X)
