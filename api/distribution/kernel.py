"""A program of several devices, as a callable."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from egglift.codegen.device.device import Device
from egglift.codegen.device.timeline import Span, Trace, chrome_trace
from egglift.distribution.containers import Container, contained
from egglift.distribution.held import Held, leaves_of
from egglift.distribution.iterating import Windows, iterated
from egglift.distribution.running import DeviceKernel, Lanes, Made, Runner, Values
from egglift.distribution.shares import LANES, Share
from egglift.egraph.distribution.extraction import works
from egglift.egraph.distribution.steps import Step, Steps
from egglift.ir import patterns as p
from egglift.ir.arguments import convert
from egglift.ir.batch import arrays
from egglift.ir.check import type_of
from egglift.ir.errors import ArgumentError
from egglift.ir.patterns import Expr
from egglift.ir.plain_numbers import duration
from egglift.ir.signature import inputs_of
from egglift.ir.types import Type

#: bytes of what is worked on, at the end, on the host
FEW = 1 << 18


@dataclass(eq=False)
class DistributedKernel:
    """What `optimize(..., devices=...)` gives: call it with the inputs by name, or in order of names.

    NumPy in, NumPy out; with Vectors and Matrices among the inputs, results are such, and stay on the devices.
    devices: those that compute.  steps: what they do.  shares: of each step, who has which block.  why: what decided
    how many devices take part.
    """

    program: Expr
    devices: tuple[Device, ...]
    steps: Steps
    shares: Mapping[str, Sequence[Share]]
    made: Made
    why: str
    count: int = 1  # how often the steps are repeated, each time on the result of the time before
    state: str = ""  # the input that holds it
    start: Expr | None = None
    streamed: bool = False  # has a device many blocks, one after the other?
    remote: bool = False  # are the devices workers elsewhere?
    copied: frozenset[str] = frozenset()
    windows: Windows | None = None  # of an iteration that exchanges borders only
    _lanes: Lanes | None = field(default=None, repr=False)
    _pool: ThreadPoolExecutor | None = field(default=None, repr=False)
    _lock: Any = field(default_factory=threading.RLock, repr=False)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs, sorted as Python sorts: the order of positional arguments."""
        return tuple(inputs_of(self.program))

    @property
    def kernels(self) -> tuple[DeviceKernel, ...]:
        """The kernels of all devices, those of equal blocks once."""
        found: dict[Expr, DeviceKernel] = {}
        for step in self.steps.steps:
            for share in self.shares[step.name]:
                for program in self.programs(step, share):
                    found.setdefault(program, self.made(program, self.lanes[share]))
        return tuple(found.values())

    @property
    def lanes(self) -> Lanes:
        """The devices of shares."""
        with self._lock:
            self._lanes = self._lanes or Lanes(self.devices)
            return self._lanes

    def programs(self, step: Step, share: Share) -> tuple[Expr, ...]:
        """The programs of a device in a step, each once."""
        return self.windows.programs(share) if self.windows else step.programs(share.count)

    def prepared(self) -> DistributedKernel:
        """Itself, with all its kernels found."""
        for step in self.steps.steps:
            for share in self.shares[step.name]:
                for program in self.programs(step, share):
                    self.made(program, self.lanes[share])
        if not self.steps.steps:
            self.made(self.steps.last, self.devices[0])
        return self

    def explain(self) -> str:
        """Who has what: of every step, each device's block, and how it has each array."""
        lines = [self.why]
        if self.count != 1 or self.state:
            how = f"{self.count} times, from one {self.state} to the next; only borders are exchanged between"
            edge = self.windows.edge if self.windows else 0
            lines.append(how + (f", of {edge} rows, while the rest is computed" if edge else ""))
        for step in self.steps.steps:
            lines.append(f"{step.name}: {MEANING[step.kind]}, {step.length} elements in blocks")
            lines += [f"  {share}" for share in self.shares[step.name]]
            lines += [f"  {read}" for read in step.reads]
        if not self.steps.steps:
            lines.append("device 0: all")
        elif not isinstance(self.steps.last, p.Input):
            lines.append("at the end, by one: " + str(self.steps.last))
        return "\n".join(lines)

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """The program's value; ArgumentError where the inputs do not fit, DeviceError names the device that failed."""
        given = self._bound(args, named)
        stays = any(isinstance(v, Container) for v in given.values())
        resident = (stays or self.count > 1 or len(self.steps.steps) > 1) and not (self.streamed or self.remote)
        found = self._repeated(self._values(given), resident, owned=not stays)
        found = replace(found, type=type_of(self.program))  # tuples as the program has them
        return contained(found) if stays and found.leaves[0].shape else found.value()

    def profile(self, /, *args: Any, **named: Any) -> Timeline:
        """What each device does when, on these inputs: every copy and kernel is waited for before the next one."""
        trace = Trace()
        resident = not (self.streamed or self.remote)
        found = self._repeated(self._values(self._bound(args, named)), resident, trace)
        for piece in found.pieces:
            with trace.span(self.devices.index(piece.device), piece.device, "copies back"):
                for i in range(len(found.leaves)):
                    found.rows(i, piece.start, piece.stop)
        names = {i: f"device {i}, {d.name}" for i, d in enumerate(self.devices)}
        return Timeline(tuple(trace.spans), names)

    def _repeated(self, values: Values, resident: bool, trace: Trace | None = None, owned: bool = False) -> Held:
        """owned: is nothing of `values` looked at later?"""
        runner = Runner(self.lanes, self.made, self._threads(), resident, self.copied, trace, self.streamed)
        if not self.state:
            return self._once(values, runner)
        assert self.start is not None
        value = self._finish(self.start, values)
        if self.windows and self.count and resident and not trace:
            values = Values({**values.named, self.state: value})
            return iterated(self.windows, runner, values, self.state, self.count, owned)
        for i in range(self.count):
            values = Values({**values.named, self.state: value})
            last, value = value, self._once(values, runner)
            if i:  # what the caller gave stays his
                runner.spare.give(last)
        return value

    def _once(self, values: Values, runner: Runner) -> Held:
        for step in self.steps.steps:
            values.named[step.name] = runner.run(step, self.shares[step.name], values)
        last = self.steps.last
        if not self.steps.steps and runner.resident and works(last):
            return runner.alone(last, values)
        return self._finish(self.steps.last, values)

    def _finish(self, last: Expr, values: Values) -> Held:
        """What is made of the steps' results: on the host if it is little, else by the first device."""
        if isinstance(last, p.Input):
            return values[last]
        taken = inputs_of(last)
        large = sum(leaf.bytes for t in taken.values() for leaf in leaves_of(t)) > FEW
        if not works(last) or (self.steps.steps and not large):
            return values[last]
        found = self.made(last, self.devices[0])(*[values.named[name].value(t) for name, t in taken.items()])
        return Held(type_of(last), [np.asarray(a) for a in arrays(found)])

    def _threads(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                count = len(self.devices) * (LANES if self.streamed else 1)
                self._pool = ThreadPoolExecutor(count, thread_name_prefix="egglift device")
            return self._pool

    # ------------------------------------------------------------------------------------ arguments

    def _bound(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        if len(args) > len(self.inputs):
            raise ArgumentError(f"{len(args)} arguments given, but the program takes {', '.join(self.inputs)}")
        given = dict(zip(self.inputs, args, strict=False))
        if twice := [name for name in named if name in given]:
            raise ArgumentError(f"given by position and by name: {', '.join(twice)}")
        return given | dict(named)

    def _values(self, given: Mapping[str, Any]) -> Values:
        types = inputs_of(self.program)
        plain = {n: t for n, t in types.items() if not isinstance(given.get(n), Container)}
        found = convert(plain, {n: v for n, v in given.items() if not isinstance(v, Container)})
        named = {n: Held(t, [np.asarray(a, order="C") for a in arrays(found[n])]) for n, t in plain.items()}
        named |= {n: _held(n, t, given[n]) for n, t in types.items() if n not in plain}
        return Values(named)


@dataclass(frozen=True)
class Timeline:
    """What devices did when: `spans`, and the devices' names by place."""

    spans: tuple[Span, ...]
    names: Mapping[int, str]

    def timeline(self) -> str:
        """The JSON text that chrome://tracing and Perfetto read, a row for each device."""
        return chrome_trace(self.spans, self.names)

    def seconds(self, place: int, name: str | None = None) -> float:
        """How long a device was at something, or at all."""
        return sum(s.seconds for s in self.spans if s.place == place and name in (None, s.name))

    def __str__(self) -> str:
        kinds = dict.fromkeys(s.name for s in self.spans)
        rows = [
            f"{self.names[place]}: " + ", ".join(f"{kind} {duration(self.seconds(place, kind))}" for kind in kinds)
            for place in self.names
        ]
        return "\n".join(rows)


MEANING = {
    "map": "each device computes its part",
    "reduce": "each device reduces its part, and the host what they give",
    "count": "each device counts in its part, and the host adds",
    "scan": "each device reduces its part, then scans it from what those before it come to",
}


def _held(name: str, t: Type, container: Container) -> Held:
    """What a container holds, if the program takes such an array."""
    if leaves_of(t) != container.held.leaves:
        takes = ", ".join(f"{leaf.scalar} of shape {leaf.shape}" for leaf in leaves_of(t))
        has = ", ".join(f"{leaf.scalar} of shape {leaf.shape}" for leaf in container.held.leaves)
        raise ArgumentError(f"input {name} is {has}, but the program takes {takes}")
    return container.held
