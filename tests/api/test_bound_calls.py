"""Calls with bound arguments: `launch = kernel.bind(x, y, out=z)`, then `launch()`."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device import bound_call
from egglift.codegen.device.device import open_device
from tests.api.test_kernel_queues import LAUNCHES, N, X, Y, expected, kernel
from tests.gates import array, late, queue, write

pytestmark = pytest.mark.short


@pytest.fixture(params=["in order", "out of order"])
def home(request: pytest.FixtureRequest) -> Any:
    return queue(open_device("pocl").context, request.param)


@pytest.fixture(params=LAUNCHES)
def launches(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def test_each_launch_reads_what_arrays_hold_then(home: Any, launches: int) -> None:
    x, y, z = array(home, X), array(home, Y), array(home, 0 * X)
    launch = kernel(launches, home).bind(x, y, out=z)
    for seed in range(4):
        x.set(X + seed)
        assert launch() is z
        np.testing.assert_array_equal(z.get(), expected(X + seed, Y, launches))


def test_launches_follow_each_other_without_being_waited_for(home: Any, launches: int, gates: Any) -> None:
    gate = gates(home.context)
    x, y = late(home, X, gate), array(home, Y)
    k, z = kernel(launches, home), array(home, 0 * X)
    there, back = k.bind(x, y, out=z), k.bind(z, y, out=x)
    value = X
    for launch in [there, back] * 3:
        launch()
        value = expected(value, Y, launches)
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(x.get(), value)


def test_a_launch_only_enqueues_where_nothing_is_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    home = queue(open_device("pocl").context, "in order")
    x, y, z = (array(home, v) for v in (X, Y, 0 * X))
    launch = kernel(2, home).bind(x, y, out=z)
    monkeypatch.setattr(bound_call, "chain_for", lambda *_, **__: pytest.fail("events are looked at"))
    for _ in range(3):
        launch()
    np.testing.assert_array_equal(z.get(), expected(X, Y, 2))


def test_a_launch_waits_for_another_queue_that_writes_an_input(
    home: Any, gates: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, gate, waits = queue(home.context, "in order"), gates(home.context), list[Any]()
    chain_for = bound_call.chain_for
    monkeypatch.setattr(bound_call, "chain_for", lambda *a, **n: waits.append(a) or chain_for(*a, **n))  # type: ignore[func-returns-value]
    x, y, z = (array(home, v) for v in (X, Y, 0 * X))
    launch = kernel(2, home).bind(x, y, out=z)
    launch()
    x.add_event(write(other, x, X + 5, gate))
    waits.clear()
    launch()
    assert waits and not gate.is_open and z.events[-1].command_execution_status > 0
    gate.open()
    np.testing.assert_array_equal(z.get(), expected(X + 5, Y, 2))


def test_inputs_of_several_queues_and_parts_of_buffers_are_right(home: Any, launches: int) -> None:
    other = queue(home.context, "in order")
    whole, y = array(home, np.concatenate([Y, X, Y])), array(other, Y)
    into = array(other, np.zeros(3 * N, np.float32))
    launch = kernel(launches, home).bind(whole[N : 2 * N], y, out=into[N : 2 * N])
    for seed in range(3):
        whole.set(np.concatenate([Y, X + seed, Y]))
        launch()
        np.testing.assert_array_equal(into.get()[N : 2 * N], expected(X + seed, Y, launches))
    assert not into.get()[:N].any() and not into.get()[2 * N :].any()


def test_results_are_made_once_where_none_are_given(home: Any) -> None:
    k = kernel(2, home)
    launch = k.bind(array(home, X), Y)
    first = launch()
    assert launch() is first is launch.result
    np.testing.assert_array_equal(first.get(), expected(X, Y, 2))
    launch = k.bind(X, Y)
    assert launch() is launch() is launch.result
    np.testing.assert_array_equal(launch.result, expected(X, Y, 2))


def test_numpy_arrays_are_read_at_each_launch() -> None:
    x, z = X.copy(), np.empty_like(X)
    launch = kernel(2, "pocl").bind(x=x, y=Y, out=z)
    for seed in range(3):
        x[:] = X + seed
        assert launch() is z
        np.testing.assert_array_equal(z, expected(X + seed, Y, 2))


def test_an_input_that_is_overwritten_by_each_launch(home: Any) -> None:
    x, y = array(home, X), array(home, Y)
    launch, value = kernel(2, home).bind(x, y, out=x), X
    for _ in range(4):
        launch()
        value = expected(value, Y, 2)
    np.testing.assert_array_equal(x.get(), value)


def test_other_calls_of_the_kernel_leave_bound_arguments(home: Any) -> None:
    k, z = kernel(2, home), array(home, 0 * X)
    launch = k.bind(array(home, X), array(home, Y), out=z)
    k(array(home, Y), array(home, X))
    launch()
    np.testing.assert_array_equal(z.get(), expected(X, Y, 2))


def test_several_threads_launch_one_call(home: Any) -> None:
    launch = kernel(7, home).bind(array(home, X), array(home, Y), out=array(home, 0 * X))
    threads = [Thread(target=lambda: [launch() for _ in range(20)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    np.testing.assert_array_equal(launch.result.get(), expected(X, Y, 7))


def test_a_program_that_is_its_input_is_copied_by_each_launch(home: Any) -> None:
    x = array(home, X)
    launch = el.optimize(el.array("x", el.f32, N), home, measure="none", cache=False).bind(x)
    launch()
    x.set(Y.copy())
    np.testing.assert_array_equal(launch().get(), Y)


def test_arguments_are_checked_when_they_are_bound(home: Any) -> None:
    k = kernel(1, home)
    with pytest.raises(el.ArgumentError, match="missing: y"):
        k.bind(X)
    with pytest.raises(el.ArgumentError, match=r"out is float64"):
        k.bind(X, Y, out=np.empty(N))
    with pytest.raises(el.ArgumentError, match=r"queue= is the pyopencl CommandQueue"):
        k.bind(X, Y, queue=3)
