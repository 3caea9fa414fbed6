"""The words of a call itself, and NumPy arrays that kernels read and write where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import open_device, opencl
from egglift.codegen.device.host_memory import ALIGNMENT, SMALL, Pool, fresh
from tests.gates import array, queue

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


def test_results_take_the_memory_of_results_that_are_gone(doubled: Any) -> None:
    def place(a: Any) -> int:
        return int(a.__array_interface__["data"][0])

    aligned = fresh(4 * N).view(np.float32)
    aligned[:] = X
    first = place(doubled(aligned))
    assert first % ALIGNMENT == 0
    assert place(doubled(aligned)) == first


def test_a_pool_keeps_no_more_than_it_may() -> None:
    pool = Pool(most=2 * SMALL)
    blocks = [pool.take(SMALL) for _ in range(3)]
    for b in blocks:
        pool.give(b)
    assert pool.take(SMALL) is blocks[2]
    assert all(pool.take(SMALL) is not b for b in blocks)


def test_a_device_of_another_context_takes_numpy_arrays() -> None:
    device = open_device(opencl().Context([open_device("pocl").device]))
    k = el.optimize(el.array("x", el.f32, N) * 2.0, device, measure="none", cache=False)
    np.testing.assert_array_equal(k(X), 2 * X)
