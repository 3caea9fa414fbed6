"""Calls with arrays of every mixture of queues: right results, and no call waits on the host for what is pending."""

from __future__ import annotations

import gc
import threading
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.candidate import Candidate
from egglift.codegen.device.device import NdArray, open_device, opencl
from egglift.codegen.kernel.imperative import Buffer, DeviceLimits, Launch, Plan
from egglift.codegen.kernel.imperative import PlannedKernel as Step
from egglift.ir.types import F32
from egglift.kernel import Kernel
from tests.gates import array, late, queue, write

pytestmark = [pytest.mark.short, pytest.mark.usefixtures("few_objects")]

N = 1 << 12
X = np.arange(N, dtype=np.float32) % 7
Y = X[::-1] - 3
KINDS = ("in order", "out of order")
#: what a kernel is optimised for: a device, or a queue of the user's, which its arrays may live on or not
OWNERS = ("the device", "the same queue", "an ordered queue", "an unordered queue")


@dataclass(frozen=True)
class Steps(Candidate):
    """A candidate of some launches, written by hand: z = x + y, then z = 0.5 z[::-1] + y, slowly."""

    launches: int = field(kw_only=True)

    @property
    def plan(self) -> Plan:  # type: ignore[override]
        x, y, z = (Buffer(name, "global", F32, N) for name in "xyz")
        s, t = (Buffer(name, "global", F32, N) for name in "st")
        source = f"""kernel void first(global const float *x, global const float *y, global float *z) {{
  int i = get_global_id(0); float v = x[i];
  for (int k = 0; k < 2000; ++k) v = v * 0.5f + 3.0f * (k & 1);
  z[i] = x[i] + y[i] + 0 * v;
}}
kernel void next(global const float *s, global const float *y, global float *z) {{
  int i = get_global_id(0);
  z[i] = 0.5f * s[{N - 1} - i] + y[i];
}}
"""
        size = (N,), (16,)
        kernels = (Step("first", source, (x, y, z), *size, ()), Step("next", "", (s, y, z), *size, ()))
        path = [s, t] * self.launches
        into = [*path[: self.launches - 1], z]
        steps = [(0, (x, y, into[0])), *((1, (a, y, b)) for a, b in pairwise(into))]
        temporaries = tuple(b for b in (s, t) if b in into)
        return Plan(kernels, {"x": (x,), "y": (y,)}, temporaries, (z,), tuple(steps))


#: launches of a call: one; two, by a temporary; several that use temporaries again
LAUNCHES = (1, 2, 7)


def expected(x: NdArray, y: NdArray, launches: int) -> NdArray:
    z = x + y
    for _ in range(launches - 1):
        z = np.float32(0.5) * z[::-1] + y
    return z


def kernel(launches: int, owner: Any) -> Kernel:
    program = el.as_program(el.array("x", el.f32, N) + el.array("y", el.f32, N))
    chosen = Steps("by hand", program, {}, Launch(), DeviceLimits(), 0.0, launches=launches)
    return Kernel(program, chosen, open_device(owner), [chosen])


@pytest.fixture(scope="module")
def context() -> Any:
    return open_device("pocl").context


def owner_of(name: str, home: Any) -> Any:
    """What a kernel is optimised for whose arrays are on the queue `home`."""
    match name:
        case "the device":
            return "pocl"
        case "the same queue":
            return home
        case _:
            return queue(home.context, "in order" if name == "an ordered queue" else "out of order")


@pytest.fixture(params=OWNERS)
def owner(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=LAUNCHES)
def launches(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(params=KINDS)
def home(request: pytest.FixtureRequest, context: Any) -> Any:
    return queue(context, request.param)


# ---------------------------------------------------------------------------------------- one queue


def test_numpy_arrays_on_every_kind_of_queue(home: Any, launches: int) -> None:
    k = kernel(launches, home)
    for seed in range(5):
        np.testing.assert_array_equal(k(X + seed, Y), expected(X + seed, Y, launches))


def test_results_are_of_the_inputs_queue_and_carry_an_event(home: Any, owner: str, launches: int, gates: Any) -> None:
    gate = gates(home.context)
    result = kernel(launches, owner_of(owner, home))(late(home, X, gate), Y)
    assert result.queue == home
    (event,) = result.events
    assert event.command_queue == home and event.command_execution_status > 0
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, launches))
    assert event.command_execution_status == 0


def test_calls_follow_each_other_without_being_waited_for(home: Any, owner: str, launches: int, gates: Any) -> None:
    gate, k = gates(home.context), kernel(launches, owner_of(owner, home))
    x, y, z = late(home, X, gate), array(home, Y), X
    for _ in range(5):
        x, z = k(x, y), expected(z, Y, launches)
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal((x + 1).get(), z + 1)


def test_pyopencls_operations_and_calls_take_turns(home: Any, owner: str, gates: Any) -> None:
    gate, k = gates(home.context), kernel(2, owner_of(owner, home))
    x = late(home, X, gate) + 1
    result = k(x, k(x * 2, Y))
    result += 1
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X + 1, expected(2 * X + 2, Y, 2), 2) + 1)


def test_a_launch_without_event_on_an_ordered_queue_is_seen(context: Any, owner: str, gates: Any) -> None:
    home, gate = queue(context, "in order"), gates(context)
    x = array(home, 0 * X)
    write(home, x, X, gate)
    result = kernel(2, owner_of(owner, home))(x, Y)
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, 2))


def test_what_overwrites_an_input_waits_for_the_call(home: Any, owner: str, gates: Any) -> None:
    gate, x = gates(home.context), array(home, X)
    result = kernel(2, owner_of(owner, home))(x, late(home, Y, gate))
    x.fill(99)
    home.flush()
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, 2))
    assert (x.get() == 99).all()


def test_what_overwrites_a_result_waits_for_the_call(home: Any, gates: Any) -> None:
    gate = gates(home.context)
    result = kernel(7, "pocl")(late(home, X, gate), Y)
    result.fill(5)
    assert not gate.is_open
    gate.open()
    assert (result.get() == 5).all()


def test_calls_that_share_only_inputs_run_independently(context: Any, gates: Any) -> None:
    home, gate, k = queue(context, "out of order"), gates(context), kernel(7, "pocl")
    x = array(home, X)
    held = k(x, late(home, Y, gate))
    free = k(x, array(home, Y + 1))
    free.finish()
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(held.get(), expected(X, Y, 7))
    np.testing.assert_array_equal(free.get(), expected(X, Y + 1, 7))


def test_arrays_that_are_dropped_live_until_they_are_used(home: Any, launches: int, gates: Any) -> None:
    gate, k = gates(home.context), kernel(launches, "pocl")
    results = [k(late(home, X + i, gate), k(late(home, X, gate), Y)) for i in range(4)]
    del k
    gc.collect()
    others = [array(queue(home.context, "in order"), np.full(N, -1, np.float32)) for _ in range(64)]
    assert not gate.is_open
    gate.open()
    for i, result in enumerate(results):
        inner = expected(X, Y, launches)
        np.testing.assert_array_equal(result.get(), expected(X + i, inner, launches))
    assert others


def test_events_do_not_pile_up_in_an_input_that_is_used_often(home: Any) -> None:
    k, x, y = kernel(1, "pocl"), array(home, X), array(home, Y)
    for _ in range(50):
        k(x, y)
        home.finish()
    assert len(x.events) <= 1 and len(y.events) <= 1


# ---------------------------------------------------------------------------------------- several queues


@pytest.mark.parametrize("second", KINDS)
def test_inputs_of_two_queues_are_both_waited_for(home: Any, second: str, owner: str, gates: Any) -> None:
    other, one, two = queue(home.context, second), gates(home.context), gates(home.context)
    k = kernel(2, owner_of(owner, home))
    x, y = late(home, X, one), late(other, Y, two)
    result, turned = k(x, y), k(y, x)
    assert (result.queue, turned.queue) == (home, other)
    assert not one.is_open and not two.is_open
    two.open()
    assert result.events[0].command_execution_status > 0 and turned.events[0].command_execution_status > 0
    one.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, 2))
    np.testing.assert_array_equal(turned.get(), expected(Y, X, 2))


def test_launches_without_events_on_two_queues_are_seen(context: Any, owner: str, gates: Any) -> None:
    home, other, gate = queue(context, "in order"), queue(context, "in order"), gates(context)
    x, y = array(home, 0 * X), array(other, 0 * Y)
    write(home, x, X, gate)
    write(other, y, Y, gate)
    result = kernel(2, owner_of(owner, home))(x, y)
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, 2))


@pytest.mark.parametrize("second", KINDS)
def test_what_overwrites_an_input_of_another_queue_waits(home: Any, second: str, gates: Any) -> None:
    gate, other = gates(home.context), queue(home.context, second)
    y = array(other, Y)
    result = kernel(2, "pocl")(late(home, X, gate), y)
    y.fill(99)
    other.flush()
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, 2))
    assert (y.get() == 99).all()


def test_an_array_without_a_queue_is_taken(home: Any, owner: str, gates: Any) -> None:
    gate, k = gates(home.context), kernel(2, owner_of(owner, home))
    x, y = late(home, X, gate).with_queue(None), array(home, Y)
    assert k(x, y).queue == home
    result = k(x, Y)
    assert result.queue == k.device.queue
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, 2))


def test_arrays_of_another_device_of_the_context_are_waited_for(gates: Any) -> None:
    cl = opencl()
    halves = open_device("pocl").device.create_sub_devices([cl.device_partition_property.EQUALLY, 1])[:2]
    context = cl.Context(halves)
    mine, theirs = (cl.CommandQueue(context, half) for half in halves)
    gate = gates(context)
    result = kernel(2, mine)(late(theirs, X, gate), late(theirs, Y, gate))
    assert result.queue == mine
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, 2))


# ---------------------------------------------------------------------------------------- buffers, parts, nothing


def test_a_buffer_is_read_after_earlier_work_on_its_queue(home: Any, launches: int, gates: Any) -> None:
    gate, k = gates(home.context), kernel(launches, home)
    x = array(home, 0 * X)
    write(home, x, X, gate)
    result = k(x.base_data, Y)
    assert result.queue == home and not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, launches))


@pytest.mark.parametrize("second", KINDS)
def test_a_buffer_and_an_array_of_another_queue(home: Any, second: str, gates: Any) -> None:
    gate, other, k = gates(home.context), queue(home.context, second), kernel(2, home)
    x = array(home, 0 * X)
    write(home, x, X, gate)
    result = k(x.base_data, array(other, Y))
    assert result.queue == other
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, 2))


def test_a_part_of_an_array_is_not_waited_for_either(home: Any, owner: str, gates: Any) -> None:
    gate, k = gates(home.context), kernel(2, owner_of(owner, home))
    whole = late(home, np.concatenate([Y, X]), gate)
    x, y = whole[N:], whole[:N]
    assert x.offset and x.events is whole.events
    result = k(x, y)
    whole.fill(99)
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, 2))


def test_a_part_of_a_buffer_is_an_array_like_others(home: Any, gates: Any) -> None:
    import pyopencl.array as cl_array

    gate, whole = gates(home.context), array(home, np.concatenate([Y, 0 * X]))
    x = cl_array.Array(home, (N,), np.float32, data=whole.base_data.get_sub_region(4 * N, 4 * N))
    x.add_event(write(home, x, X, gate))
    result = kernel(2, "pocl")(x, whole[:N])
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), expected(X, Y, 2))


def test_an_input_that_is_a_result_is_copied_when_it_is_there(home: Any, gates: Any) -> None:
    x = Buffer("x", "global", F32, N)
    program = el.as_program(el.array("x", el.f32, N))
    chosen = Same("by hand", program, {}, Launch(), DeviceLimits(), 0.0, same=Plan((), {"x": (x,)}, (), (x,), ()))
    gate, k = gates(home.context), Kernel(program, chosen, open_device("pocl"), [chosen])
    given = late(home, X, gate)
    result = k(given)
    given.fill(5)
    assert result.queue == home and not gate.is_open
    gate.open()
    np.testing.assert_array_equal(result.get(), X)


@dataclass(frozen=True)
class Same(Candidate):
    """A candidate that gives back its input."""

    same: Plan = field(kw_only=True)

    @property
    def plan(self) -> Plan:  # type: ignore[override]
        return self.same


def test_empty_arrays_on_the_device_give_empty_arrays_there(home: Any) -> None:
    import pyopencl.array as cl_array

    k = el.optimize(el.array("x", el.f32, (0, 3)) * 2.0, "pocl", measure="none", cache=False)
    for x in (cl_array.empty(home, (0, 3), np.float32), array(home, np.ones((4, 3), np.float32))[4:]):
        result = k(x)
        assert (result.shape, result.queue) == ((0, 3), home)
        assert k(result).get().shape == (0, 3)


def test_a_part_of_shared_virtual_memory_is_refused_by_name(context: Any) -> None:
    from pyopencl import array as cl_array
    from pyopencl.tools import SVMAllocator

    home = queue(context, "in order")
    memory = SVMAllocator(context, alignment=0, flags=opencl().svm_mem_flags.READ_WRITE, queue=home)
    whole = cl_array.to_device(home, np.concatenate([X, Y]), allocator=memory)
    k = kernel(2, "pocl")
    np.testing.assert_array_equal(k(whole[:N], Y).get(), expected(X, Y, 2))
    with pytest.raises(el.ArgumentError, match=f"input x begins {4 * N} bytes into shared virtual memory"):
        k(whole[N:], Y)


# ---------------------------------------------------------------------------------------- the whole way


def test_optimised_programs_on_every_kind_of_queue(home: Any, gates: Any) -> None:
    x = el.array("x", el.f32, 1 << 14)
    programs = [
        x.map(lambda v: el.fold(lambda s, _: el.sin(s) + 0.1, v, el.iota(60))),
        x.reduce(el.add) * x,
        el.iterate(5, lambda v: v.map(lambda e: e * 0.5 + 1), x),
    ]
    given = np.random.default_rng(1).random(1 << 14, np.float32)
    for program in programs:
        k = el.optimize(program, device=home, measure="none", cache=False)
        want = el.interpret(k.program, x=given)
        for _ in range(3):
            np.testing.assert_allclose(k(given), want, rtol=1e-3)
        gate = gates(home.context)
        found = k(k(late(home, given, gate)))
        assert not gate.is_open
        gate.open()
        np.testing.assert_allclose(found.get(), el.interpret(k.program, x=want), rtol=1e-3)


def test_kernels_are_measured_on_every_kind_of_queue(home: Any) -> None:
    k = el.optimize(el.array("x", el.f32, N).reduce(el.add), device=home, measurements=3, isolate=False, cache=False)
    assert all(c.status in ("ok", "model") for c in k.candidates)
    x = array(home, X)
    x.fill(2)
    assert k.profile(x).seconds > 0
    assert k.profile(x.base_data).seconds > 0
    assert k(x).get() == 2 * N


def test_profiling_waits_for_what_its_inputs_wait_for(home: Any, owner: str, gates: Any) -> None:
    gate, k = gates(home.context), kernel(2, owner_of(owner, home))
    whole = late(home, np.concatenate([X, Y]), gate)
    opening = threading.Timer(0.05, gate.open)
    opening.start()
    assert k.profile(whole[:N], whole[N:]).seconds > 0
    assert gate.is_open
    opening.join()
