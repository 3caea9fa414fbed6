"""Running and timing compiled plans."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from egglift.codegen.device.device import Device, NdArray, Operand, opencl, reported
from egglift.codegen.kernel.imperative import Buffer, Plan
from egglift.ir.errors import ArgumentError, BuildError, DeviceError


@dataclass(frozen=True)
class Timing:
    """Times in seconds: `seconds` is the median of `samples`, `kernels` the median of each kernel by name.

    A sample is the sum over the plan's launches of the device's own clock, without gaps between launches.
    """

    seconds: float
    samples: tuple[float, ...]
    kernels: tuple[tuple[str, float], ...]

    @property
    def spread(self) -> float:
        """Half the interquartile range over the median: how much the samples disagree."""
        if len(self.samples) < 4 or self.seconds <= 0:
            return math.inf
        low, _, high = statistics.quantiles(self.samples, n=4)
        return (high - low) / 2 / self.seconds


@dataclass(frozen=True)
class Rows:
    """Some rows of a result that is an array of `of` rows."""

    indices: tuple[int, ...]
    of: int


@dataclass(frozen=True)
class Executable:
    """A plan compiled for a device.  Its methods may be called from several threads."""

    device: Device
    plan: Plan
    kernels: tuple[Any, ...]
    _temporaries: dict[Buffer, Operand] = field(default_factory=dict, repr=False)

    def run(
        self, inputs: Mapping[str, Sequence[Operand]], *, poison: bool = False, rows: Rows | None = None
    ) -> list[NdArray]:
        """The result's buffers as flat arrays, in leaf order (ir.types.leaves).

        inputs: by program input, its leaves (structure of arrays) as arrays or device buffers.  With
        `poison`, outputs and temporaries are first filled with NaN or 0xAA: what is not written shows.
        rows: only these come back, one behind the other.
        """
        outputs = zip(self.enqueue(inputs, poison=poison), self.plan.outputs, strict=True)
        if rows is None:
            return [self.device.download(b, o.scalar, o.size) for b, o in outputs]
        return [np.concatenate([self._row(b, o, i, rows.of) for i in rows.indices]) for b, o in outputs]

    def _row(self, operand: Operand, buffer: Buffer, index: int, count: int) -> NdArray:
        """The `index`th of the `count` rows of a result."""
        size = buffer.size // count
        return self.device.download(operand, buffer.scalar, size, index * size)

    def enqueue(
        self, inputs: Mapping[str, Sequence[Operand]], *, poison: bool = False, wait_for: Sequence[Any] = ()
    ) -> list[Operand]:
        """Launches the plan on the device's queue without waiting: the result's device buffers."""
        table = self._bind(inputs)
        with self.device.lock:
            table.update(self._scratch())
            outputs = self._outputs(table)
            if poison:
                inputs_too = {b for given in self.plan.inputs.values() for b in given}
                for buffer in {*self.plan.temporaries, *self.plan.outputs} - inputs_too:
                    self.device.poison(table[buffer], buffer.scalar, buffer.size)
            self._launch(self.device.queue, table, wait_for)
            given = {b for buffers in self.plan.inputs.values() for b in buffers}
            for i, o in enumerate(self.plan.outputs):
                if o in given:  # the caller must not get hold of its own input as a result
                    outputs[i] = self.device.clone(outputs[i], o.size * o.scalar.size)
        return outputs

    def upload(self, inputs: Mapping[str, Sequence[Operand]]) -> dict[str, list[Operand]]:
        """`inputs` with every array on the device: what `time` wants, and what repeated runs should reuse."""
        return {
            name: [self.device.upload(v) if isinstance(v, np.ndarray) else v for v in values]
            for name, values in inputs.items()
        }

    def time(
        self,
        inputs: Mapping[str, Sequence[Operand]],
        *,
        warmup: int = 2,
        least: int = 5,
        most: int = 100,
        budget: float = 1.0,
        precision: float = 0.01,
        floor: float = 0.0,
    ) -> Timing:
        """Times the plan by the device's clock until the median settles to `precision` (relative).

        Between `least` and `most` samples, in about `budget` seconds (warm-up and first sample not counted).
        Samples that are zero, or faster than `floor` seconds (what the hardware's ceiling allows), are thrown
        away; DeviceError where nothing else is left.  A plan without launches takes no time.
        """
        if not self.plan.steps:
            self._bind(inputs)
            return Timing(0.0, (0.0,), ())
        table = self._bind(self.upload(inputs))
        with self.device.lock:
            self.device.finish(self.device.queue)  # inputs may still be on their way there
            table.update(self._scratch())
            self._outputs(table)
            for _ in range(warmup):
                self._sample(table)
            rows: list[tuple[float, ...]] = []
            bad, start = 0, time.perf_counter()
            while len(rows) + bad < most and not _settled(rows, least, precision):
                if rows and time.perf_counter() - start > budget:
                    break
                row = self._sample(table)
                if sum(row) <= 0.0 or sum(row) < floor:
                    bad += 1
                    if bad >= least and not rows:
                        break
                else:
                    rows.append(row)
        if not rows:
            raise DeviceError(
                f"{self.device.name} reports implausible times: {bad} of {bad} samples below {floor:.3g} s"
            )
        return self._timing(rows)

    def _timing(self, rows: list[tuple[float, ...]]) -> Timing:
        samples = tuple(sum(row) for row in rows)
        kernels: dict[str, float] = {}
        for i, (index, _) in enumerate(self.plan.steps):
            name = self.plan.kernels[index].name
            kernels[name] = kernels.get(name, 0.0) + statistics.median(row[i] for row in rows)
        return Timing(statistics.median(samples), samples, tuple(kernels.items()))

    def _sample(self, table: dict[Buffer, Operand]) -> tuple[float, ...]:
        """Seconds of each launch, once."""
        events = self._launch(self.device.timer, table)
        self.device.finish(self.device.timer)
        with reported(f"{self.device.name} does not say how long a launch took"):
            return tuple(max(0, e.profile.end - e.profile.start) * 1e-9 for e in events)

    def _launch(self, queue: Any, table: dict[Buffer, Operand], wait_for: Sequence[Any] = ()) -> list[Any]:
        """Enqueues every step of the plan, in order."""
        cl = opencl()
        events: list[Any] = []
        for index, arguments in self.plan.steps:
            kernel, spec = self.kernels[index], self.plan.kernels[index]
            after = list(wait_for) if not events else [] if self.device.ordered else events[-1:]
            work = f"{spec.name} with {spec.global_size} work-items in groups of {spec.local_size}"
            with reported(f"{self.device.name} cannot launch {work}"):
                kernel.set_args(*(table[b] for b in arguments))
                events.append(
                    cl.enqueue_nd_range_kernel(queue, kernel, spec.global_size, spec.local_size, wait_for=after or None)
                )
        with reported(f"{self.device.name} did not take its launches"):
            queue.flush()
        return events

    def _outputs(self, table: dict[Buffer, Operand]) -> list[Operand]:
        """New buffers for the results, entered in `table` (a result may be an input's buffer)."""
        for o in self.plan.outputs:
            if o not in table:
                table[o] = self.device.allocate(o.size * o.scalar.size)
        return [table[o] for o in self.plan.outputs]

    def _scratch(self) -> dict[Buffer, Operand]:
        """The temporaries, made once: launches of one executable follow each other on one queue."""
        for t in self.plan.temporaries:
            if t not in self._temporaries:
                self._temporaries[t] = self.device.allocate(t.size * t.scalar.size)
        return self._temporaries

    def _bind(self, inputs: Mapping[str, Sequence[Operand]]) -> dict[Buffer, Operand]:
        """Device buffers for the plan's inputs; ArgumentError where they do not fit."""
        if set(inputs) != set(self.plan.inputs):
            raise ArgumentError(f"the plan takes {sorted(self.plan.inputs)}, got {sorted(inputs)}")
        table: dict[Buffer, Operand] = {}
        for name, buffers in self.plan.inputs.items():
            given = inputs[name]
            if len(given) != len(buffers):
                raise ArgumentError(f"input {name} is {len(buffers)} buffers, got {len(given)}")
            for buffer, value in zip(buffers, given, strict=True):
                table[buffer] = self._operand(buffer, value)
        return table

    def _operand(self, buffer: Buffer, value: Operand) -> Operand:
        need = buffer.size * buffer.scalar.size
        if isinstance(value, np.ndarray):
            if value.dtype != buffer.scalar.dtype or value.size != buffer.size:
                raise ArgumentError(
                    f"buffer {buffer.name} is {buffer.size} x {buffer.scalar}, got {value.size} x {value.dtype}"
                )
            return self.device.upload(value)
        if value.size < need:
            raise ArgumentError(f"buffer {buffer.name} needs {need} bytes, got {value.size}")
        return value


def build(device: Device, plan: Plan, options: Sequence[str] = ()) -> Executable:
    """`plan` compiled for `device`; BuildError keeps the source and the compiler's log."""
    for kernel in plan.kernels:
        device.admit(kernel)
    if not plan.kernels:
        return Executable(device, plan, ())
    source = plan.source
    program = device.compile(source, options)
    cl = opencl()
    try:
        kernels = tuple(cl.Kernel(program, k.name) for k in plan.kernels)
    except cl.Error as error:
        raise BuildError(f"the compiled program lacks a kernel: {error}", source) from error
    return Executable(device, plan, kernels)


def _settled(rows: list[tuple[float, ...]], least: int, precision: float) -> bool:
    """Is the standard error of the median below `precision` of it?"""
    if len(rows) < max(least, 4):
        return False
    samples = [sum(row) for row in rows]
    low, middle, high = statistics.quantiles(samples, n=4)
    return 0.93 * (high - low) / math.sqrt(len(samples)) <= precision * middle
