"""Chains of commands, on queues that are in order and on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from egglift.codegen.device.chain import Chain, in_order
from egglift.codegen.device.device import open_device, opencl
from tests.gates import queue

KINDS = ("in order", "out of order")


@pytest.fixture(scope="module")
def context() -> Any:
    return open_device("pocl").context


def filled(chain: Chain, buffer: Any, value: int) -> Any:
    """Has the next command of `chain` fill the 4 bytes of `buffer`."""
    cl = opencl()
    return chain.add(cl.enqueue_fill_buffer(chain.queue, buffer, np.int32(value), 0, 4, wait_for=chain.after))


def buffer(context: Any) -> Any:
    return opencl().Buffer(context, opencl().mem_flags.READ_WRITE, 4)


def test_a_queue_says_whether_it_is_in_order(context: Any) -> None:
    assert [in_order(queue(context, kind)) for kind in KINDS] == [True, False]


@pytest.mark.parametrize("kind", KINDS)
def test_each_command_waits_for_the_one_before(context: Any, gates: Any, kind: str) -> None:
    gate, memory, found = gates(context), buffer(context), np.zeros(1, np.int32)
    chain = Chain(queue(context, kind), [gate.event])
    events = [filled(chain, memory, i) for i in range(1, 9)]
    chain.queue.flush()
    assert all(e.command_execution_status > 0 for e in events)
    gate.open()
    opencl().enqueue_copy(chain.queue, found, memory, wait_for=chain.after)
    assert found.tolist() == [8]


def test_an_ordered_queue_needs_no_events_between_commands(context: Any) -> None:
    for kind, waits in zip(KINDS, (False, True), strict=True):
        chain = Chain(queue(context, kind))
        assert chain.after is None
        event = filled(chain, buffer(context), 1)
        assert chain.after == ([event] if waits else None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_is_before_another_when_it_is_over(context: Any, gates: Any, kind: str) -> None:
    gate = gates(context)
    chain, other = Chain(queue(context, kind), [gate.event]), Chain(queue(context, "in order"))
    assert chain.is_before(other)  # nothing was enqueued
    filled(chain, buffer(context), 1)
    assert not chain.is_before(other)
    assert chain.is_before(Chain(chain.queue)) == (kind == "in order")
    gate.open()
    chain.finish()
    assert chain.is_before(other)


def test_an_empty_chain_is_finished_when_its_events_are_over() -> None:
    waited: list[str] = []

    class Event:
        def wait(self) -> None:
            waited.append("event")

    chain = Chain(open_device("pocl").queue, [Event(), Event()])
    chain.finish()
    assert waited == ["event", "event"]
