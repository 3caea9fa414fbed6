"""Gates: commands wait behind one until a test opens it, so that what is in flight is no matter of time."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from egglift.codegen.device.device import opencl

#: seconds after which a gate opens by itself: a call that waits for it fails its test instead of hanging it
PATIENCE = 300.0


class Gate:
    """A user event of OpenCL: `event`, which is done when `open` is called."""

    def __init__(self, context: Any) -> None:
        self.event = opencl().UserEvent(context)
        self._lock = threading.Lock()
        self._watch = threading.Timer(PATIENCE, self.open)
        self._watch.daemon = True
        self._watch.start()

    def open(self) -> None:
        """Lets through what waits."""
        with self._lock:
            if not self.is_open:
                self.event.set_status(opencl().command_execution_status.COMPLETE)
        self._watch.cancel()

    @property
    def is_open(self) -> bool:
        return bool(self.event.command_execution_status == opencl().command_execution_status.COMPLETE)


def queue(context: Any, kind: str) -> Any:
    """A new queue with profiling, "in order" or "out of order"."""
    cl = opencl()
    properties = cl.command_queue_properties.PROFILING_ENABLE
    if kind == "out of order":
        properties |= cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    return cl.CommandQueue(context, context.devices[0], properties=properties)


def array(queue: Any, values: Any) -> Any:
    """A pyopencl Array on `queue` that holds `values`, made without a command on it."""
    import pyopencl.array as cl_array

    data = np.array(values, order="C")
    memory = opencl().Buffer(queue.context, opencl().mem_flags.COPY_HOST_PTR, hostbuf=data)
    return cl_array.Array(queue, data.shape, data.dtype, data=memory)


def write(queue: Any, array: Any, values: Any, gate: Gate) -> Any:
    """Enqueues that `values` become those of `array` once the gate is open: the event, which the array is not told."""
    cl = opencl()
    source = cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(values))
    where = {"dst_offset": array.offset, "byte_count": array.nbytes}
    event = cl.enqueue_copy(queue, array.base_data, source, wait_for=[gate.event], **where)
    queue.flush()
    return event


def late(queue: Any, values: Any, gate: Gate) -> Any:
    """An Array on `queue` of zeros, which becomes `values` once the gate is open, and carries the event of that."""
    made = array(queue, np.zeros_like(values))
    made.add_event(write(queue, made, values, gate))
    return made
