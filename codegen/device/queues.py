"""The order of a call among all that a context does: the queue it runs on, what it waits for, and what waits for it.

A call runs on the queue of its first input that is a pyopencl array with a queue of the kernel's device, as pyopencl's
own operations do; where there is none, on the kernel's queue.  The results belong to that queue.  It begins after

- the events that its arrays carry (`Array.events`), but those of other calls that only read them;
- for an array of another queue, which is in order: all that this queue has been given so far;
- for a buffer, which carries no events: all that the kernel's queue has been given so far.

The device waits for these, never the host.  Results carry the event of the last launch that uses them.  Inputs carry
one of the call's end, such that what overwrites them waits for it, unless they are of the queue it ran on, in order.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from egglift.codegen.device.chain import Chain, in_order
from egglift.codegen.device.device import Device, opencl, refused, reported

#: events of calls that read the arrays which carry them: another call that reads them need not wait for those
_reads: set[Any] = set()
_lock = threading.Lock()
#: events that are kept there before those that are over are thrown out
FEW = 256


def is_array(value: object) -> bool:
    """Is `value` a pyopencl Array?"""
    return hasattr(value, "base_data")


def chain_for(
    device: Device,
    given: Sequence[Any],
    queue: Any = None,
    wait_for: Sequence[Any] = (),
    written: Sequence[Any] = (),
) -> Chain:
    """The chain of a call whose inputs are the pyopencl arrays and buffers `given`.

    queue: where it must run; wait_for: events that it waits for as well; written: the arrays that it writes, for which
    it waits until others have read them.
    """
    queue = queue or queue_of(device, [*given, *written])
    try:
        return Chain(queue, list(_needed(queue, chain(wait_for, _events(device, given, written, queue)))))
    except (opencl().Error, MemoryError) as error:
        raise refused(f"{device.name} cannot wait for what these inputs wait for", error) from error


def queue_of(device: Device, arrays: Sequence[Any]) -> Any:
    """The queue of the first pyopencl array that has one of the device, else the device's own."""
    return next((a.queue for a in arrays if is_array(a) and _is_of(a.queue, device)), device.queue)


def _is_of(queue: Any, device: Device) -> bool:
    return queue is not None and (queue == device.queue or queue.device == device.device)


def _events(device: Device, given: Sequence[Any], written: Sequence[Any], queue: Any) -> Iterator[Any]:
    """What a call on `queue` may have to wait for."""
    asked = set[Any]()
    for value in written:
        yield from list(value.events)
    for value in chain(given, written):
        if is_array(value):
            yield from (e for e in list(value.events) if e not in _reads)
        home = value.queue if is_array(value) else device.queue
        if home is not None and home not in asked and not _is_told(home, queue, is_array(value)):
            asked.add(home)
            yield opencl().enqueue_marker(home)


def _is_told(home: Any, queue: Any, array: bool) -> bool:
    """Is a call on `queue` after all that matters on `home`, an input's queue, anyway?  array: the input has events."""
    return bool(home == queue) if in_order(home) else array


def _needed(queue: Any, events: Iterator[Any]) -> Iterator[Any]:
    """Those of `events` that `queue` does not wait for anyway; what they belong to begins now."""
    ordered, complete = in_order(queue), opencl().command_execution_status.COMPLETE
    for event in events:
        home = event.command_queue
        if (ordered and home == queue) or event.command_execution_status == complete:
            continue
        if home is not None and home != queue:  # OpenCL may leave commands of other queues lying otherwise
            home.flush()
        yield event


def add_reads(device: Device, given: Sequence[Any], chain: Chain) -> None:
    """Has the arrays among `given` carry an event of the end of `chain`, which has read them, where it is needed."""
    told = [a for a in given if is_array(a) and not (chain.ordered and a.queue == chain.queue)]
    if chain.last is None or not told:
        return
    with reported(f"{device.name} cannot tell when its inputs have been read"):
        # an event of its own, as the last launch's is that of results, whose readers do wait for it
        read = chain.add(opencl().enqueue_marker(chain.queue, wait_for=chain.after))
        chain.queue.flush()
        for array in told:
            _add_read(array.events, read)


def add_write(array: Any, event: Any, before: Sequence[Any]) -> None:
    """Has a pyopencl array carry the event of the command that writes it, in place of those that it waited for."""
    events = array.events
    with _lock:
        if len(events) == len(before):  # nobody has added one since
            events[:] = [event]
        else:
            events[:] = [e for e in events if e not in before]
            _add(events, event)


def _add_read(events: list[Any], read: Any) -> None:
    complete = opencl().command_execution_status.COMPLETE
    with _lock:
        if len(_reads) >= FEW:
            _reads.difference_update([e for e in _reads if e.command_execution_status <= complete])
        _reads.add(read)
        _add(events, read)


def _add(events: list[Any], new: Any) -> None:
    """Instead of `Array.add_event`, which waits for events once there are more than a dozen."""
    complete = opencl().command_execution_status.COMPLETE
    for event in [e for e in events if e.command_execution_status == complete]:
        with suppress(ValueError):
            events.remove(event)
    if new not in events:  # arrays that are parts of one array share their events
        events.append(new)
