"""Calls whose arguments are bound: all is checked, and kernels' arguments are set, once; a launch only enqueues."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np

from egglift.codegen.device.arguments import part_of
from egglift.codegen.device.calls import Caller, Checked
from egglift.codegen.device.chain import in_order
from egglift.codegen.device.device import opencl, refused
from egglift.codegen.device.execute import Executable, argument
from egglift.codegen.device.queues import add_reads, chain_for, is_array, queue_of
from egglift.codegen.device.strided import packing
from egglift.codegen.kernel.imperative import Buffer
from egglift.ir.errors import ArgumentError

#: enqueues something on a queue, after the events of a list (None: at once): its event
Command: TypeAlias = Callable[[Any, Any], Any]


class BoundCall:
    """A call of a kernel with its arguments bound: `launch = kernel.bind(x, y, out=z)`, then `launch()` repeatedly.

    Each launch computes with what the arrays hold then, and writes `result`, which it returns: `out`, or else arrays
    made once, so that the next launch overwrites them.  Over arrays on the device nothing is waited for.  A launch
    follows the launch before it.  Several threads may launch.
    """

    def __init__(self, caller: Caller, values: Sequence[Any], queue: Any, out: Any) -> None:
        caller = caller.fitting(values)
        checked = caller.checked(values, queue, out)
        self._caller, self._queue, self._lock = caller, queue, threading.RLock()
        self._device: _OnDevice | None = None
        if checked.there or checked.is_out_there:
            self._device = _OnDevice(caller, checked, queue)
            self.result = self._device.result
        else:
            self.result = caller.empty() if out is None else out
            self._checked = caller.checked(values, queue, self.result)

    def __call__(self) -> Any:
        """Runs the kernel once more; returns `result`."""
        with self._lock:
            if self._device is None:
                self._caller.on_host(self._checked, self._queue, ())
            else:
                self._device.launch()
        return self.result

    def __reduce__(self) -> NoReturn:
        raise ArgumentError(
            "a call with bound arguments belongs to this process: pickle the kernel, and bind its arguments there"
        )

    def __copy__(self) -> BoundCall:
        """Itself, as it has its arrays for good."""
        return self

    def __deepcopy__(self, memo: object) -> BoundCall:
        """Itself: what is on a device is not copied."""
        return self

    def __repr__(self) -> str:
        return f"<{self._caller.device.name}: a call with bound arguments, written into {type(self.result).__name__}>"


class _OnDevice:
    """The commands of a call over arrays on the device, which are kept as long as it."""

    def __init__(self, caller: Caller, checked: Checked, queue: Any) -> None:
        self.caller, self.device, self.there = caller, caller.device, checked.there
        self.queue = queue or queue_of(self.device, [*checked.there, *checked.outs])
        before, inputs = self._placed(checked)
        executable, into = caller.destined(inputs, checked.outs)
        self.table = executable.table_for(inputs, into)
        executable.allocate_outputs(self.table)
        plan = caller.plan
        self.table |= {b: self.device.temporary(b) for b in plan.temporaries}
        given = {b for bs in plan.inputs.values() for b in bs}
        self.result, self.outs = checked.out, checked.outs
        if checked.out is None:
            own = [self.device.allocate(o.size * o.scalar.size) if o in given else self.table[o] for o in plan.outputs]
            self.result, self.outs = caller.arrays_of(own, self.queue)
        after = [_copy(a.base_data, self.table[o], a.nbytes, to=a.offset) for o, a in self._moved()]
        self.commands = [*before, *_launches(executable, self.table), *after]
        self._last: Any = None
        #: events of the arrays that the queue is after already
        self._seen: frozenset[Any] = frozenset()
        self._arrays = [*self.there, *self.outs]
        mine = all(is_array(a) and a.queue == self.queue for a in self._arrays)
        self._is_alone = mine and in_order(self.queue)

    def _placed(self, checked: Checked) -> tuple[list[Command], dict[str, list[Any]]]:
        """Buffers for the inputs, and the commands that copy parts of buffers there; what is NumPy's is copied now."""
        before: list[Command] = []

        def place(value: Any, is_number: bool) -> Any:
            if isinstance(value, np.ndarray):
                return value if is_number else self.device.upload(value)
            if not is_array(value):
                return value
            if value.size and not value.offset and value.flags.c_contiguous:
                return value.base_data
            if value.size and value.flags.c_contiguous and (whole := part_of(self.device, value)) is not None:
                return whole
            part = self.device.allocate(value.nbytes)
            if value.size and not value.flags.c_contiguous:
                before.append(packing(self.device, value, part))
            elif value.size:
                before.append(_copy(part, value.base_data, value.nbytes, start=value.offset))
            return part

        numbers = self.caller.numbers
        return before, {name: [place(v, name in numbers) for v in vs] for name, vs in checked.given.items()}

    def _moved(self) -> list[tuple[Buffer, Any]]:
        """The results that kernels do not write where they belong, and where that is."""
        pairs = zip(self.caller.plan.outputs, self.outs, strict=True)
        return [(o, a) for o, a in pairs if a.size and (a.offset or self.table[o] is not a.base_data)]

    def launch(self) -> None:
        """Enqueues the commands: as they are where no array waits for what the queue does not see to.

        Another launch is over before: the results carry its event.
        """
        opencl()  # ForkError in a process that was forked, where nothing would run
        if self._is_pending():
            self._launch_after_others()
            return
        queue = self.queue
        try:
            for command in self.commands:
                self._last = command(queue, None)
            queue.flush()
        except (opencl().Error, MemoryError) as error:
            raise refused(f"{self.device.name} did not take a launch", error) from error
        if self.commands:
            for a in self.outs:
                a.events[:] = [self._last]

    def _is_pending(self) -> bool:
        """Does an array carry an event that the queue is not after anyway?"""
        if not self._is_alone:
            return True
        last, seen = self._last, self._seen
        for a in self._arrays:  # plain loops: this runs at every launch
            for e in a.events:
                if e is not last and e not in seen:
                    return True
        return False

    def _launch_after_others(self) -> None:
        before = [list(a.events) for a in self.outs]
        chain = chain_for(self.device, self.there, self.queue, written=self.outs)
        try:
            for command in self.commands:
                chain.add(command(chain.queue, chain.after))
        except (opencl().Error, MemoryError) as error:
            raise refused(f"{self.device.name} did not take a launch", error) from error
        self._last = chain.last
        self.caller.written(self.outs, chain, before)
        add_reads(self.device, self.there, chain)
        self._seen = frozenset(e for a in self._arrays if is_array(a) for e in a.events)


def _launches(executable: Executable, table: dict[Buffer, Any]) -> list[Command]:
    """The steps of a plan, each with a kernel object of its own, whose arguments are set here and nowhere else."""
    cl = opencl()
    enqueue, found = cl.enqueue_nd_range_kernel, list[Command]()
    for index, arguments in executable.plan.steps:
        spec, shared = executable.plan.kernels[index], executable.kernels[index]
        kernel = cl.Kernel(shared.program, spec.name)
        kernel.set_args(*[argument(table, b) for b in arguments], *spec.numbers)
        sizes = kernel, spec.global_size, spec.local_size
        found.append(lambda queue, after, sizes=sizes: enqueue(queue, *sizes, wait_for=after))  # type: ignore[misc]
    return found


def _copy(target: Any, source: Any, size: int, start: int = 0, to: int = 0) -> Command:
    part = {"byte_count": size, "src_offset": start, "dst_offset": to}
    return lambda queue, after: opencl().enqueue_copy(queue, target, source, wait_for=after, **part)
