"""From a program and devices to its kernel: distribution by laws, blocks by speed and memory, each device's kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter

from egglift.codegen.device.device import Device
from egglift.costmodel.links.links import Links
from egglift.distribution.held import bytes_of, leaves_of
from egglift.distribution.iterating import windows_of
from egglift.distribution.kernel import DistributedKernel
from egglift.distribution.pricing import cheaper, edge_of
from egglift.distribution.running import DeviceKernel
from egglift.distribution.shares import Share, cut, shares_of
from egglift.egraph.distribution.distribute import distributed
from egglift.egraph.distribution.steps import Step, Steps
from egglift.ir.check import type_of
from egglift.ir.deadline import until
from egglift.ir.errors import ArgumentError, OutOfMemory
from egglift.ir.patterns import Expr, Iterate
from egglift.ir.run_time_lengths import lengths_of
from egglift.ir.signature import inputs_of
from egglift.ir.types import Type

#: seconds for a kernel, however little time is left
LEAST = 2.5
HOWS = ("block", "overlap", "copy", "single")
#: makes the kernel of a program for a device, given that of a device of the same kind, or None
Optimised = Callable[[Expr, Device, DeviceKernel | None], DeviceKernel]


@dataclass
class Kernels:
    """Kernels of programs on devices: `kernels(program, device)`; devices of one kind share what is found.

    end: by when all should be made; awaited: how many are still to be made, with equal parts of the rest.
    """

    optimised: Optimised
    end: float = inf
    awaited: int = 3
    _made: dict[tuple[Expr, Device], DeviceKernel] = field(default_factory=dict)
    _kinds: dict[tuple[Expr, str, str], DeviceKernel] = field(default_factory=dict)

    def __call__(self, program: Expr, device: Device) -> DeviceKernel:
        """The kernel of a program on a device."""
        key, kind = (program, device), (program, device.name, device.driver)
        if key not in self._made:
            now = perf_counter()
            with until(now + max(LEAST, (self.end - now) / max(1, self.awaited))):
                self._made[key] = self.optimised(program, device, self._kinds.get(kind))
            self.awaited -= kind not in self._kinds
            self._kinds.setdefault(kind, self._made[key])
        return self._made[key]


@dataclass(frozen=True)
class Request:
    """What several devices are asked for.

    distribution: how devices have inputs, by name; "single", or "block" for whatever the laws find; None: the model
    decides whether several pay.  memory: bytes that each may use (None: what it has).  reassociate: as for
    `optimize`.  again: of an iteration, a program for one of its steps, the input that is its state, and the iteration.
    """

    program: Expr
    devices: tuple[Device, ...]
    distribution: Mapping[str, str] | str | None = None
    memory: int | None = None
    reassociate: bool = True
    again: tuple[Expr, str, Iterate] | None = None
    remote: bool = False  # are results to come back from each step, as the devices are workers elsewhere?

    def __post_init__(self) -> None:
        given = self.distribution
        hows = [given] if isinstance(given, str) else list((given or {}).values())
        for how in hows:
            if how not in HOWS:
                raise ArgumentError(f"a distribution is one of {', '.join(HOWS)}, not {how!r}")
        names = set() if given is None or isinstance(given, str) else set(given)
        if unknown := sorted(names - set(inputs_of(self.program))):
            takes = ", ".join(inputs_of(self.program))
            raise ArgumentError(f"no input {', '.join(unknown)} to distribute; the program takes {takes}")
        if lengths := lengths_of(self.program):
            said = ", ".join(n.name for n in lengths)
            raise ArgumentError(f"its lengths {said} are known when it is called: several devices take numbers")

    @property
    def named(self) -> Mapping[str, str]:
        """The distribution of inputs by name."""
        return {} if self.distribution is None or isinstance(self.distribution, str) else self.distribution

    @property
    def is_single(self) -> bool:
        """Is one device to do all?"""
        return self.distribution == "single" or (bool(self.named) and set(self.named.values()) == {"single"})


def distributed_kernel(request: Request, optimised: Optimised, links: Links, end: float = inf) -> DistributedKernel:
    """The kernel of a program on devices; `end` is the time by which it should be found.

    ArgumentError where it cannot be distributed as asked; OutOfMemory where not even one element of a block fits.
    """
    made = Kernels(optimised, end)
    return _chosen(request, made, links).prepared()


def _chosen(request: Request, made: Kernels, links: Links) -> DistributedKernel:
    alone = _alone(request, made, "one device does all")
    if request.is_single:
        return alone
    shared = _shared(request, made, links)
    if shared is not None and len(request.devices) == 1 and not (shared.streamed or shared.remote):
        return alone
    if shared is None or request.distribution is not None or shared.streamed:
        return shared or alone
    return cheaper(shared, alone, links)


def _alone(request: Request, made: Kernels, why: str) -> DistributedKernel:
    return DistributedKernel(request.program, request.devices[:1], Steps((), request.program), {}, made, why)


def _shared(request: Request, made: Kernels, links: Links) -> DistributedKernel | None:
    """The kernel of all devices; None where no law gives each a part, and that was not asked for."""
    program = request.again[0] if request.again else request.program
    divided = {name for name, how in request.named.items() if how in ("block", "overlap")}
    count = len(request.devices)
    steps = distributed(program, max(2, count), divided=divided, reassociate=request.reassociate)
    if not steps.steps:
        if request.named:
            raise ArgumentError(f"no law distributes the program so: {dict(request.named)}")
        return None
    _require(request, steps)
    shares = {s.name: _blocks(s, request, made) for s in steps.steps}
    if not all(shares.values()):
        return None  # nothing is left to be cut
    programs = {
        (q, request.devices[s.place].name) for e in steps.steps for s in shares[e.name] for q in e.programs(s.count)
    }
    made.awaited = len(programs) + (request.distribution is None)
    streamed = any(len(of) > len({s.place for s in of}) for of in shares.values())
    copied = frozenset(name for name, how in request.named.items() if how == "copy")
    some = "1 device takes" if count == 1 else f"{count} devices take"
    why = f"{some} blocks that fit, one after the other" if streamed else f"{some} part, as asked"
    kernel = DistributedKernel(request.program, request.devices, steps, shares, made, why)
    kernel.streamed, kernel.remote = streamed, request.remote
    kernel.copied = frozenset() if request.remote else copied
    if request.again:
        _, kernel.state, whole = request.again
        assert isinstance(whole.count, int)
        kernel.start, kernel.count = whole.x, whole.count
        if not (streamed or request.remote) and (windows := windows_of(steps, kernel.state, shares)) is not None:
            made.awaited += len(programs)  # edges, and what is between them
            kernel.windows = replace(windows, edge=edge_of(windows, kernel, links))
    return kernel


def _require(request: Request, steps: Steps) -> None:
    """ArgumentError where an input is not distributed as asked."""
    for name, how in request.named.items():
        has = {h for s in steps.steps for h in s.of(name)}
        if how in ("block", "overlap") and has != {how}:
            found = " and ".join(sorted(has)) or "single"
            raise ArgumentError(
                f"input {name} cannot be distributed as {how}: by the laws that were found it is {found}"
            )


# ---------------------------------------------------------------------------------------- blocks


def _blocks(step: Step, request: Request, made: Kernels) -> tuple[Share, ...]:
    """Who has which block: by speed where devices differ, and no more at a time than memory has room for."""
    if not step.length:
        return ()
    speeds = _speeds(step, request.devices, made)
    shares = shares_of(step.length, speeds)
    most = [_room(step, place, device, request.memory) for place, device in enumerate(request.devices)]
    return cut(shares, most)


def _speeds(step: Step, devices: Sequence[Device], made: Kernels) -> list[float]:
    """Elements a second of each device, from its kernel of an equal block; 1 where all are of one kind."""
    if len({(d.name, d.driver) for d in devices}) == 1:
        return [1.0] * len(devices)
    program = step.program(max(1, step.length // len(devices)))
    return [1 / max(made(program, d).chosen.seconds, 1e-9) for d in devices]


def _room(step: Step, place: int, device: Device, memory: int | None) -> int:
    """How many elements a block may have at most; OutOfMemory if not one."""
    limit = min(memory or device.info.memory, device.info.memory)
    copies = sum(bytes_of(type_of(r.source)) for r in step.reads if r.how == "copy")
    one, two = _taken(step, 1), _taken(step, 2)
    each = max(1, two - one)
    room = min((limit - copies - (one - each)) // each, device.info.buffer // max(1, _widest(step)))
    if room < 1:
        what = f"{step.name} takes {copies + one} bytes for one element of a block, {copies} of them copies"
        raise OutOfMemory(f"device {place}: {device.name} may use {limit} bytes, but {what}")
    return room


def _taken(step: Step, count: int) -> int:
    """Bytes of the parts and of the result of a block."""
    program = step.programs(count)[-1]
    return sum(map(bytes_of, _parts(step, count))) + bytes_of(type_of(program))


def _widest(step: Step) -> int:
    """Bytes of the longest row among the parts of a block."""
    return max((leaf.row_bytes for t in _parts(step, 1) for leaf in leaves_of(t)), default=1)


def _parts(step: Step, count: int) -> list[Type]:
    """The types of the parts that are no copies."""
    parts = {r.name for r in step.reads if r.how != "copy"}
    return [t for n, t in inputs_of(step.program(count)).items() if n in parts]
