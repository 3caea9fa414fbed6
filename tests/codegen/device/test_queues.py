"""Where a call runs, what it waits for, and what its inputs carry afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from egglift.codegen.device import queues
from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, open_device, opencl
from egglift.codegen.device.queues import add_reads, chain_for
from tests.gates import array, late, queue, write

KINDS = ("in order", "out of order")
X = np.arange(4, dtype=np.float32)


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("pocl")


def read(chain: Chain, source: Any) -> Any:
    """The values of `source`, copied by the next command of `chain`: the host array, not waited for."""
    found = np.zeros(source.shape, source.dtype)
    copy = opencl().enqueue_copy
    chain.add(copy(chain.queue, found, source.base_data, is_blocking=False, wait_for=chain.after))
    chain.queue.flush()
    return found


def test_it_runs_on_the_queue_of_the_first_array_that_has_one(device: Device) -> None:
    one, two = (queue(device.context, kind) for kind in KINDS)
    none, x, y = array(one, X).with_queue(None), array(one, X), array(two, X)
    assert chain_for(device, [x, y]).queue == one
    assert chain_for(device, [none, device.upload(X), y, x]).queue == two
    assert chain_for(device, [none, device.upload(X)]).queue == device.queue
    assert chain_for(device, []).queue == device.queue
    assert chain_for(device, [x, y], device.timer).queue == device.timer


def test_it_does_not_run_on_the_queue_of_another_device(device: Device) -> None:
    cl = opencl()
    one, two = device.device.create_sub_devices([cl.device_partition_property.EQUALLY, 1])[:2]
    mine = Device(cl.Context([one, two]), one)
    theirs = array(cl.CommandQueue(mine.context, two), X)
    assert chain_for(mine, [theirs]).queue == mine.queue
    assert chain_for(mine, [theirs, array(mine.queue, X)]).queue == mine.queue


def test_an_array_of_its_own_ordered_queue_needs_no_event(device: Device, gates: Any) -> None:
    home = queue(device.context, "in order")
    assert chain_for(device, [late(home, X, gates(device.context))]).after is None


def test_events_that_are_over_are_not_waited_for(device: Device) -> None:
    home = queue(device.context, "out of order")
    x = array(home, X)
    x.fill(1)
    home.finish()
    assert x.events
    assert chain_for(device, [x]).after is None


@pytest.mark.parametrize("mine", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_the_events_of_arrays_of_other_queues_are_waited_for(device: Device, gates: Any, mine: str, other: str) -> None:
    gate = gates(device.context)
    x = array(queue(device.context, mine), X)
    y = late(queue(device.context, other), X + 1, gate)
    chain = chain_for(device, [x, y])
    found = read(chain, y)
    assert not gate.is_open and (found == 0).all()
    gate.open()
    chain.finish()
    np.testing.assert_array_equal(found, X + 1)


@pytest.mark.parametrize("mine", KINDS)
def test_what_another_ordered_queue_was_given_is_waited_for(device: Device, gates: Any, mine: str) -> None:
    gate, other = gates(device.context), queue(device.context, "in order")
    x, y = array(queue(device.context, mine), X), array(other, 0 * X)
    write(other, y, X + 1, gate)
    chain = chain_for(device, [x, y, y])
    found = read(chain, y)
    gate.open()
    chain.finish()
    np.testing.assert_array_equal(found, X + 1)


@pytest.mark.parametrize("own", KINDS)
@pytest.mark.parametrize("runs_on", ["its own", *KINDS])
def test_a_buffer_is_read_after_all_the_kernels_queue_has(device: Device, gates: Any, own: str, runs_on: str) -> None:
    gate, mine = gates(device.context), Device(device.context, device.device, queue(device.context, own))
    x = array(mine.queue, 0 * X)
    write(mine.queue, x, X + 1, gate)
    others = [] if runs_on == "its own" else [array(queue(device.context, runs_on), X)]
    chain = chain_for(mine, [x.base_data, *others])
    assert chain.queue == (others[0].queue if others else mine.queue)
    found = read(chain, x)
    assert not gate.is_open and (found == 0).all()
    gate.open()
    chain.finish()
    np.testing.assert_array_equal(found, X + 1)


def test_the_queue_of_what_is_waited_for_is_flushed(device: Device) -> None:
    flushed: list[str] = []

    class Home:
        def __init__(self, name: str) -> None:
            self.name = name

        def flush(self) -> None:
            flushed.append(self.name)

    class Event:
        command_execution_status = 3

        def __init__(self, home: Home | None) -> None:
            self.command_queue = home

    class Given:
        base_data, queue = None, None

        def __init__(self, *homes: Any) -> None:
            self.events = [Event(home) for home in homes]

    mine = queue(device.context, "out of order")
    chain = chain_for(device, [array(mine, X), Given(Home("one"), None, mine), Given(Home("two"))])
    assert len(chain.after or []) == 4
    assert flushed == ["one", "two"]


# ---------------------------------------------------------------------------------------- reads


def ended(chain: Chain, gate: Any) -> Chain:
    """`chain` with a command that waits for the gate."""
    chain.add(opencl().enqueue_marker(chain.queue, wait_for=[gate.event]))
    return chain


def test_an_array_carries_the_event_of_what_reads_it(device: Device, gates: Any) -> None:
    in_turn, free = (queue(device.context, kind) for kind in KINDS)
    for home, runs_on, carries in ((in_turn, in_turn, False), (free, free, True), (in_turn, free, True)):
        x, chain = array(home, X), ended(Chain(runs_on), gates(device.context))
        add_reads(device, [x, device.upload(X)], chain)
        assert x.events == ([chain.last] if carries else [])


def test_parts_of_one_array_carry_an_event_once(device: Device, gates: Any) -> None:
    whole = array(queue(device.context, "out of order"), X)
    chain = ended(Chain(whole.queue), gates(device.context))
    add_reads(device, [whole[:2], whole[2:], whole], chain)
    assert whole.events == [chain.last]


def test_a_reader_does_not_wait_for_another_one(device: Device, gates: Any) -> None:
    home = queue(device.context, "out of order")
    first, second, x = gates(device.context), gates(device.context), late(home, X, gates(device.context))
    written = list(x.events)
    for gate in (first, second):
        add_reads(device, [x], ended(Chain(home), gate))
    assert len(x.events) == 3
    assert chain_for(device, [x]).after == written


def test_who_reads_a_result_waits_for_its_call(device: Device, gates: Any) -> None:
    import pyopencl.array as cl_array

    x, chain = array(queue(device.context, "out of order"), X), Chain(queue(device.context, "out of order"))
    written = ended(chain, gates(device.context)).last
    result = cl_array.Array(chain.queue, x.shape, x.dtype, data=device.upload(X), events=[written])
    add_reads(device, [x], chain)
    assert chain_for(device, [x, result]).after == [written]


def test_a_call_without_commands_leaves_no_event(device: Device) -> None:
    x = array(queue(device.context, "out of order"), X)
    add_reads(device, [x], Chain(x.queue))
    assert x.events == []


def test_events_of_reads_that_are_over_do_not_pile_up(device: Device) -> None:
    x = array(queue(device.context, "out of order"), X)
    for _ in range(2 * queues.FEW + 10):
        chain = Chain(x.queue)
        chain.add(opencl().enqueue_marker(x.queue))
        x.queue.finish()
        add_reads(device, [x], chain)
    assert len(x.events) == 1
    assert len(queues._reads) <= queues.FEW
