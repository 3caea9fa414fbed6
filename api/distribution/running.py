"""Steps as they run: every device computes its blocks, at the same time, and what they give becomes one value."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from egglift.codegen.device.arguments import is_on_device, result
from egglift.codegen.device.device import Device, NdArray, Operand
from egglift.codegen.device.rows import buffer_of, of_device, read_bytes, read_elements
from egglift.codegen.device.spare import spare
from egglift.codegen.device.timeline import Trace
from egglift.distribution.held import Held, Leaf, Piece, Rows, Spare, gathered, leaves_of, placed
from egglift.distribution.shares import Share
from egglift.egraph.distribution.rows import runs
from egglift.egraph.distribution.steps import CARRY, Read, Step
from egglift.ir import patterns as p
from egglift.ir.batch import arrays
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.types import BOOL, Array, Type


class Timed(Protocol):
    """A candidate of a kernel: how long it takes, measured or by the model."""

    @property
    def seconds(self) -> float:
        """Seconds."""
        ...


class DeviceKernel(Protocol):
    """What a device runs: `egglift.Kernel`."""

    @property
    def chosen(self) -> Timed:
        """What runs."""
        ...

    def __call__(self, /, *args: Any, out: Any = None, allocator: Any = None) -> Any:
        """The program's value.  out: arrays for it, on the host as all arguments are then; allocator: makes buffers for
        it, from numbers of bytes, where arguments are on the device."""


#: gives the kernel of a device for a program
Made = Callable[[Expr, Device], DeviceKernel]


@dataclass
class Values:
    """The values of inputs and of steps by name, and of views of them."""

    named: dict[str, Held]
    _views: dict[Expr, Held] = field(default_factory=dict)

    def __getitem__(self, e: Expr) -> Held:
        """The value of an input, or of a view of inputs, which is looked at on the host."""
        if isinstance(e, p.Input):
            return self.named[e.name]
        if e not in self._views:
            value = evaluate(e, {n: self.named[n].value(t) for n, t in inputs_of(e).items()})
            self._views[e] = Held(type_of(e), [np.asarray(a) for a in arrays(value)])
        return self._views[e]

    def rows(self, read: Read, share: Share) -> list[Rows]:
        """The rows that a device with this share reads."""
        found = runs(read.source, *read.rows(share.start, share.count))
        return [Rows(self[r.source], r.start, r.count, r.repeated) for r in found]


@dataclass(frozen=True)
class Lanes:
    """Devices by shares: where blocks are many, every second one goes through another queue of the same device."""

    devices: Sequence[Device]
    _others: dict[tuple[int, int], Device] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def __getitem__(self, share: Share) -> Device:
        """The device of a share."""
        if not share.lane:
            return self.devices[share.place]
        with self._lock:
            which = share.place, share.lane
            if which not in self._others:
                self._others[which] = self.devices[share.place].sibling()
            return self._others[which]


@dataclass(frozen=True)
class Runner:
    """Devices that run steps.  resident: do results stay on the devices?  streamed: does a device have many blocks?
    copied: inputs that each has as a whole, although it reads a part.  trace: where it is noted what is done when."""

    lanes: Lanes
    made: Made
    pool: ThreadPoolExecutor
    resident: bool
    copied: frozenset[str] = frozenset()
    trace: Trace | None = None
    streamed: bool = False
    spare: Spare = field(default_factory=Spare)

    @property
    def devices(self) -> Sequence[Device]:
        """The devices by place."""
        return self.lanes.devices

    def run(self, step: Step, shares: Sequence[Share], values: Values) -> Held:
        """The value of a step.  DeviceError names the device; the others have done their part by then."""
        return RUNS[step.kind](self, step, shares, values)

    def each(self, shares: Sequence[Share], work: Callable[[int, Share], Any]) -> list[Any]:
        """What `work` gives for each share: those of a device's lane in order, all lanes beside each other."""
        found: list[Any] = [None] * len(shares)

        def all_of(place: int, lane: int) -> None:
            with of_device(place, self.devices[place]):
                for i, share in enumerate(shares):
                    if (share.place, share.lane) == (place, lane):
                        found[i] = work(i, share)

        tasks = [self.pool.submit(all_of, *which) for which in sorted({(s.place, s.lane) for s in shares})]
        wait(tasks)
        for task in tasks:
            task.result()
        return found

    def arguments(self, program: Expr, step: Step, share: Share, values: Values, **more: Any) -> list[Any]:
        """What the kernel of a device takes, in the order of its inputs."""
        reads = {r.name: r for r in step.reads}
        types = inputs_of(program)
        return [more[n] if n in more else self.argument(reads[n], types[n], share, values) for n in types]

    def argument(self, read: Read, t: Type, share: Share, values: Values) -> Any:
        """What the kernel of a device takes for an input of type `t`."""
        return nested(t, self._leaves(read, t, leaves_of(t), share, values))

    def _leaves(self, read: Read, t: Type, shape: Sequence[Leaf], share: Share, values: Values) -> Sequence[Operand]:
        device = self.lanes[share]
        if read.how == "copy":
            held = values[read.source]
            if not isinstance(t, Array) or (held.is_on_host and not self.resident and not self.streamed):
                return held.on_host()
            whole = held.whole_on(self.devices[share.place])
            if share.lane:
                self.devices[share.place].finish(self.devices[share.place].queue)  # lanes have queues of their own
            return whole
        wanted = values.rows(read, share)
        if any(name in self.copied for name in inputs_of(read.source)):
            for r in wanted:
                r.held.whole_on(device)
        elif not self.resident and all(r.held.is_on_host for r in wanted):
            return gathered(wanted, shape)
        return placed(wanted, shape, device, self.spare)

    # ------------------------------------------------------------------------------------ the kinds of steps

    def mapped(self, step: Step, shares: Sequence[Share], values: Values) -> Held:
        """Blocks one behind the other."""
        return self._joined(step, shares, lambda i, s, out: self._call(step.program(s.count), step, s, values, out))

    def alone(self, program: Expr, values: Values) -> Held:
        """What the first device computes of what it has as a whole: arrays stay there."""
        device = self.devices[0]
        given = [nested(t, values.named[name].whole_on(device)) for name, t in inputs_of(program).items()]
        found = arrays(self.made(program, device)(*given, allocator=partial(spare, device)))
        made = Held(type_of(program))
        if not isinstance(made.type, Array):
            parts = zip(found, made.leaves, strict=True)
            return replace(made, host=[_downloaded(device, a, leaf) for a, leaf in parts])
        return replace(made, pieces=(Piece(device, 0, made.leaves[0].shape[0], _operands(device, found)),))

    def reduced(self, step: Step, shares: Sequence[Share], values: Values) -> Held:
        """What the blocks come to, reduced once more on the host."""
        parts = self._totals(step, shares, values)
        assert step.op is not None and step.init is not None
        return self._on_host(p.Reduce(step.op, step.init, parts), values)

    def counted(self, step: Step, shares: Sequence[Share], values: Values) -> Held:
        """The sum of all blocks' counts."""
        found = self.each(shares, lambda i, s: self._small(step.program(s.count), step, s, values))
        return Held(step.type, [np.sum([f[0] for f in found], axis=0, dtype=found[0][0].dtype)])

    def scanned(self, step: Step, shares: Sequence[Share], values: Values) -> Held:
        """Blocks that go on from what those before them come to."""
        parts = self._totals(step, shares, values)
        assert step.op is not None and step.init is not None
        before = self._on_host(p.Scan(step.op, step.init, parts), values)
        first = self._on_host(step.init, values)
        carries = [first.on_host(), *([a[i] for a in before.on_host()] for i in range(len(shares) - 1))]

        def block(i: int, s: Share, out: Any) -> Any:
            program = step.going_on(s.count)
            carry = nested(inputs_of(program)[CARRY], [np.asarray(a) for a in carries[i]])
            return self._call(program, step, s, values, out, **{CARRY: carry})

        return self._joined(step, shares, block)

    def _call(self, program: Expr, step: Step, share: Share, values: Values, out: Any = None, **more: Any) -> Any:
        """What a device computes; out: arrays of the host for it, which are taken where all that it reads is there."""
        kernel = self.made(program, self.lanes[share])
        with self.span(share, "copies"):
            arguments = self.arguments(program, step, share, values, **more)
        with self.span(share, step.name):
            if any(map(is_on_device, arrays(tuple(arguments)))):
                return kernel(*arguments, allocator=partial(spare, self.lanes[share]))
            return kernel(*arguments, out=out)

    def span(self, share: Share, name: str) -> AbstractContextManager[None]:
        """Notes what is done inside, if that is wanted."""
        return self.trace.span(share.place, self.lanes[share], name) if self.trace else nullcontext()

    def _small(self, program: Expr, step: Step, share: Share, values: Values) -> list[NdArray]:
        """The leaves of what a device gives, on the host."""
        device, found = self.lanes[share], self._call(program, step, share, values)
        shape = leaves_of(type_of(program))
        return [_downloaded(device, a, leaf) for a, leaf in zip(arrays(found), shape, strict=True)]

    def _totals(self, step: Step, shares: Sequence[Share], values: Values) -> Expr:
        """What each block comes to, as an array of the host: an input of the name `totals`, entered in `values`."""
        found = self.each(shares, lambda i, s: self._small(step.program(s.count), step, s, values))
        t = Array(len(shares), type_of(step.program(1)))
        values.named[TOTALS] = Held(t, [np.stack(leaf) for leaf in zip(*found, strict=True)])
        return p.Input(TOTALS, t)

    def _on_host(self, e: Expr, values: Values) -> Held:
        value = evaluate(e, {n: values.named[n].value(t) for n, t in inputs_of(e).items()})
        return Held(type_of(e), [np.asarray(a) for a in arrays(value)])

    def _joined(self, step: Step, shares: Sequence[Share], work: Callable[[int, Share, Any], Any]) -> Held:
        """The blocks of a result, which `work` gives: they stay on the devices, or are put together on the host."""
        shape = leaves_of(step.type)
        host = None if self.resident else [np.empty(leaf.shape, leaf.scalar.dtype) for leaf in shape]

        def block(i: int, s: Share) -> Piece | None:
            device = self.lanes[s]
            if host is None:
                found = arrays(work(i, s, None))
                return Piece(device, s.start, s.start + s.count, _operands(device, found))
            rows = [whole[s.start : s.start + s.count] for whole in host]
            found = arrays(work(i, s, nested(step.type, rows)))
            for a, into, leaf in zip(found, rows, shape, strict=True):
                if is_on_device(a) and leaf.scalar != BOOL:
                    read_bytes(device, buffer_of(a), 0, into)
                elif a is not into:
                    part = Leaf((s.count, *leaf.shape[1:]), leaf.scalar)
                    into[...] = _downloaded(device, a, part)
            return None

        pieces = self.each(shares, block)
        return Held(step.type, host, tuple(pieces) if self.resident else ())


#: the name that the totals of blocks have on the host
TOTALS = "totals of blocks"
RUNS: Mapping[str, Callable[[Runner, Step, Sequence[Share], Values], Held]] = {
    "map": Runner.mapped,
    "reduce": Runner.reduced,
    "count": Runner.counted,
    "scan": Runner.scanned,
}


def nested(t: Type, parts: Sequence[Any]) -> Any:
    """A value from its leaves."""
    return result(t, list(parts), lambda a, shape, scalar: a)


def _operands(device: Device, found: Sequence[Any]) -> tuple[Operand, ...]:
    """What a kernel gave, on its device."""
    return tuple(device.upload(a) if isinstance(a, np.ndarray) else buffer_of(a) for a in found)


def _downloaded(device: Device, a: Any, leaf: Leaf) -> NdArray:
    if isinstance(a, np.ndarray | np.generic):
        return np.asarray(a)
    count = int(np.prod(leaf.shape, dtype=np.int64))
    return read_elements(device, buffer_of(a), leaf.scalar, 0, count).reshape(leaf.shape)
