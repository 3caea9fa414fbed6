"""Running and timing compiled plans."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, NdArray, Operand, opencl, refused, reported
from egglift.codegen.kernel.imperative import Buffer, Plan
from egglift.ir.errors import ArgumentError, BuildError, DeviceError
from egglift.ir.plain_numbers import duration


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
class Enqueued:
    """A result that may still be written: its buffer, and the event of the last command that uses it, if one does."""

    buffer: Operand
    event: Any


class Scratch:
    """The temporaries of a plan, kept from one chain of launches to the next."""

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self._buffers = buffers
        self._memory: dict[Buffer, Operand] = {}
        self._user: Chain | None = None

    def take(self, device: Device, chain: Chain) -> dict[Buffer, Operand]:
        """Their memory, for `chain` alone: new where commands that used it may still run beside those of `chain`.

        Memory that is given up so is freed by OpenCL when the commands that use it are done.
        """
        if self._user is None or not self._user.is_before(chain):
            self._memory = {b: device.temporary(b) for b in self._buffers}
        self._user = chain
        return self._memory


@dataclass(frozen=True)
class Executable:
    """A plan compiled for a device.  Its methods may be called from several threads."""

    device: Device
    plan: Plan
    kernels: tuple[Any, ...]
    _scratch: Scratch = field(repr=False)
    #: inputs that kernels are given as numbers, and not as buffers
    numbers: frozenset[Buffer] = frozenset()
    #: buffers for inputs that no caller gives: the program's large constants
    held: Mapping[str, Sequence[Operand]] = field(default_factory=dict, repr=False)

    def run(
        self,
        inputs: Mapping[str, Sequence[Operand]],
        *,
        poison: bool = False,
        rows: Rows | None = None,
        chain: Chain | None = None,
        out: Sequence[NdArray] = (),
    ) -> list[NdArray]:
        """The result's buffers as flat arrays, in leaf order (ir.types.leaves).

        inputs: by program input, its leaves (structure of arrays) as arrays or device buffers.  With
        `poison`, outputs and temporaries are first filled with NaN or 0xAA: what is not written shows.
        rows: only these come back, one behind the other.  chain: what it follows (default: a new one).
        out: flat arrays that whole results are written into (default: new ones).
        """
        chain = chain or Chain(self.device.queue)
        outputs = zip(self.enqueue(inputs, chain, poison=poison), self.plan.outputs, strict=True)
        if rows is None:
            given: Sequence[NdArray | None] = out or [None] * len(self.plan.outputs)
            read = self.device.download
            return [read(chain, e.buffer, o.scalar, o.size, into=a) for (e, o), a in zip(outputs, given, strict=True)]
        return [np.concatenate([self._row(chain, e.buffer, o, i, rows.of) for i in rows.indices]) for e, o in outputs]

    def _row(self, chain: Chain, operand: Operand, buffer: Buffer, index: int, count: int) -> NdArray:
        """The `index`th of the `count` rows of a result."""
        size = buffer.size // count
        return self.device.download(chain, operand, buffer.scalar, size, index * size)

    def enqueue(
        self,
        inputs: Mapping[str, Sequence[Operand]],
        chain: Chain,
        *,
        poison: bool = False,
        allocator: Any = None,
        into: Sequence[Operand | None] = (),
    ) -> list[Enqueued]:
        """Launches the plan as the next commands of `chain`, without waiting: the result's leaves.

        allocator: makes a result's memory from a number of bytes (default: `Device.allocate`).
        into: for each leaf a buffer that it may be written to, no input's, or None.
        """
        table = self.table_for(inputs, into)
        given = {b for buffers in self.plan.inputs.values() for b in buffers}
        with self.device.lock:
            table |= self.scratch(chain)
            self.allocate_outputs(table, allocator)
            if poison:
                for buffer in {*self.plan.temporaries, *self.plan.outputs} - given:
                    if buffer.zeroed:
                        continue
                    self.device.poison(chain, table[buffer], buffer.scalar, buffer.size)
            events = self.launch(chain, table)
            found = [self._enqueued(chain, table[o], o, events, o in given) for o in self.plan.outputs]
            with reported(f"{self.device.name} did not take its launches"):
                chain.queue.flush()
        return found

    def _enqueued(self, chain: Chain, operand: Operand, buffer: Buffer, events: Sequence[Any], given: bool) -> Enqueued:
        """A result.  given: it is an input, which the caller must not get hold of as a result."""
        if given:
            copy = self.device.clone(chain, operand, buffer.size * buffer.scalar.size)
            return Enqueued(copy, chain.last if buffer.size else None)
        launches = zip(reversed(self.plan.steps), reversed(events), strict=True)
        return Enqueued(operand, next((e for (_, used), e in launches if buffer in used), None))

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
        chain: Chain | None = None,
    ) -> Timing:
        """Times the plan by the device's clock until the median settles to `precision` (relative).

        Between `least` and `most` samples, in about `budget` seconds (warm-up and first sample not counted).
        Samples that are zero, or faster than `floor` seconds (what the hardware's ceiling allows), are thrown
        away; DeviceError where nothing else is left.  A plan without launches takes no time.
        chain: what `inputs` wait for; it is over before anything is timed.
        """
        if not self.plan.steps:
            self._bind(inputs)
            return Timing(0.0, (0.0,), ())
        table = self._bind(self.upload(inputs))
        for pending in (chain or Chain(self.device.timer), self.device.queue):
            self.device.finish(pending)  # inputs may still be on their way there
        with self.device.lock:
            table |= self.scratch(Chain(self.device.timer))
            self.allocate_outputs(table)
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
                f"{self.device.name} reports implausible times: {bad} of {bad} samples below {duration(floor)}"
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
        events = self.launch(Chain(self.device.timer), table)
        self.device.finish(self.device.timer)
        with reported(f"{self.device.name} does not say how long a launch took"):
            return tuple(max(0, e.profile.end - e.profile.start) * 1e-9 for e in events)

    def launch(self, chain: Chain, table: Mapping[Buffer, Operand]) -> list[Any]:
        """Enqueues every step of the plan, in order: their events.  table: what stands for each of its buffers.

        The device's lock must be held, and memory for temporaries be in `table`.
        """
        cl, events = opencl(), list[Any]()
        enqueue, queue = cl.enqueue_nd_range_kernel, chain.queue
        for index, arguments in self.plan.steps:
            kernel, spec = self.kernels[index], self.plan.kernels[index]
            try:
                kernel.set_args(*[argument(table, b) for b in arguments], *spec.numbers)
                event = enqueue(queue, kernel, spec.global_size, spec.local_size, wait_for=chain.after)
            except (cl.Error, MemoryError) as error:
                work = f"{spec.name} with {spec.global_size} work-items in groups of {spec.local_size}"
                raise refused(f"{self.device.name} cannot launch {work}", error) from error
            events.append(chain.add(event))
        return events

    def scratch(self, chain: Chain) -> Mapping[Buffer, Operand]:
        """Memory for the plan's temporaries, for `chain` alone; the device's lock must be held."""
        return self._scratch.take(self.device, chain) if self.plan.temporaries else {}

    def allocate_outputs(self, table: dict[Buffer, Operand], allocator: Any = None) -> None:
        """Enters new buffers for the results in `table` (a result may be an input's buffer)."""
        for o in self.plan.outputs:
            if o not in table:
                size = o.size * o.scalar.size
                table[o] = allocator(size) if allocator and size else self.device.allocate(size)

    def table_for(
        self, inputs: Mapping[str, Sequence[Operand]], into: Sequence[Operand | None] = ()
    ) -> dict[Buffer, Operand]:
        """Device buffers for the plan's inputs, and for those of its results for which `into` has some."""
        table = self._bind(inputs)
        given = zip(self.plan.outputs, into, strict=True) if into else ()
        return {o: buffer for o, buffer in given if buffer is not None} | table

    def _bind(self, inputs: Mapping[str, Sequence[Operand]]) -> dict[Buffer, Operand]:
        """Device buffers for the plan's inputs; ArgumentError where they do not fit.

        A program may have inputs of which nothing in it depends: the plan need not take them.
        """
        inputs = {**self.held, **inputs}
        if not inputs.keys() >= self.plan.inputs.keys():
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
        if buffer in self.numbers:
            return number(value)
        need = buffer.size * buffer.scalar.size
        if isinstance(value, np.ndarray):
            if value.dtype.kind == "c":  # pairs of floats to kernels
                value = np.ascontiguousarray(value).reshape(-1).view(buffer.scalar.dtype)
            if value.dtype != buffer.scalar.dtype or value.size != buffer.size:
                raise ArgumentError(
                    f"buffer {buffer.name} is {buffer.size} x {buffer.scalar}, got {value.size} x {value.dtype}"
                )
            return self.device.upload(value)
        if value.size < need:
            raise ArgumentError(f"buffer {buffer.name} needs {need} bytes, got {value.size}")
        return value


def argument(table: Mapping[Buffer, Operand], b: Buffer) -> Any:
    """What a kernel is given for `b`: what is in the table, or a number that the launch says."""
    return table[b] if b.space != "number" else b.scalar.dtype.type(b.number)


def number(value: NdArray) -> Any:
    """A number as a kernel takes it by value: a bool is a byte."""
    return np.uint8(bool(value)) if value.dtype == np.bool_ else value.reshape(())[()]


def build(
    device: Device,
    plan: Plan,
    options: Sequence[str] = (),
    by_value: bool = False,
    held: Mapping[str, Sequence[Operand]] = {},
) -> Executable:
    """`plan` compiled for `device`; BuildError keeps the source and the compiler's log.

    by_value: is it always given its numbers (`Plan.numbers`) as arrays of the host?  held: buffers for inputs that no
    caller gives.
    """
    for kernel in plan.kernels:
        device.admit(kernel)
    if not plan.kernels:
        return Executable(device, plan, (), Scratch(plan.temporaries), held=held)
    source = plan.by_value if by_value else plan.source
    program = device.compile(source, options)
    cl = opencl()
    try:
        kernels = tuple(cl.Kernel(program, k.name) for k in plan.kernels)
    except cl.Error as error:
        raise BuildError(f"the compiled program lacks a kernel: {error}", source) from error
    numbers = plan.numbers if by_value else frozenset[Buffer]()
    return Executable(device, plan, kernels, Scratch(plan.temporaries), numbers, held)


def _settled(rows: list[tuple[float, ...]], least: int, precision: float) -> bool:
    """Is the standard error of the median below `precision` of it?"""
    if len(rows) < max(least, 4):
        return False
    samples = [sum(row) for row in rows]
    low, middle, high = statistics.quantiles(samples, n=4)
    return 0.93 * (high - low) / math.sqrt(len(samples)) <= precision * middle
