"""Runs plans such that what they must not do shows: guard zones around every buffer, poison in what they write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from egglift.codegen.device.device import Device, open_device, opencl
from egglift.codegen.kernel.imperative import Buffer, Plan
from egglift.ir.errors import BuildError, EggliftError, WrongResult
from egglift.ir.types import BOOL
from tests.harness import poison

NdArray = np.ndarray[Any, Any]
Inputs = Mapping[str, Sequence[NdArray]]
#: bytes before and after each buffer that nobody may touch (more before it where the device aligns to more)
GUARD = 512
FILLED = 0x5C
#: what a plan's source defines: functions, types and constants
DEFINED = re.compile(r"^(?!kernel)(?:(?:typedef|constant) )?\w+ (\w+)(?:[(\[]| __)", re.MULTILINE)


class Zone:
    """Device memory with the bytes of `data` between two guard zones; `inside` is what a kernel is given."""

    def __init__(self, device: Device, data: NdArray) -> None:
        cl = opencl()
        self.device, self.data = device, data.view(np.uint8)
        self.start = max(GUARD, device.device.mem_base_addr_align // 8)
        self.host = np.full(self.start + self.data.size + GUARD, FILLED, np.uint8)
        self.host[self.start : self.start + self.data.size] = self.data
        flags = cl.mem_flags.READ_WRITE
        self.whole = cl.Buffer(device.context, flags | cl.mem_flags.COPY_HOST_PTR, hostbuf=self.host)
        self.inside = self.whole.get_sub_region(self.start, self.data.size, flags)

    def read(self, name: str) -> NdArray:
        """The bytes inside now; WrongResult where a guard zone has changed."""
        opencl().enqueue_copy(self.device.queue, self.host, self.whole, is_blocking=True)
        end = self.start + self.data.size
        for zone, what in ((self.host[: self.start][::-1], "before"), (self.host[end:], "behind")):
            if (zone != FILLED).any():
                raise WrongResult(f"byte {int(np.argmax(zone != FILLED))} {what} the buffer {name} was written")
        return self.host[self.start : end].copy()


def outputs_of(jobs: Sequence[tuple[Plan, Inputs]]) -> list[list[NdArray]]:
    """The outputs of each plan for its inputs, flat, on PoCL; what is wrong with any is raised."""
    found = []
    for result in run_each(open_device("pocl"), jobs):
        if isinstance(result, EggliftError):
            raise result
        found.append(result)
    return found


def run_all(
    device: Device, plans: Sequence[Plan], inputs: Inputs, options: Sequence[str] = ()
) -> list[list[NdArray] | EggliftError]:
    """The outputs of each plan for the same inputs."""
    return run_each(device, [(plan, inputs) for plan in plans], options)


def run_each(
    device: Device, jobs: Sequence[tuple[Plan, Inputs]], options: Sequence[str] = ()
) -> list[list[NdArray] | EggliftError]:
    """The outputs of each plan, flat, or what is wrong with it.  options: of the compiler.

    The plans are built together: PoCL takes 0.1 s for each build (0.04 s with few declarations), and 0.02 s for a
    kernel.  They are built one by one where that fails.
    """
    try:
        program = _build(device, "".join(_apart(plan, i) for i, (plan, _) in enumerate(jobs)), options)
    except BuildError:
        if len(jobs) == 1:
            raise
        return [found for job in jobs for found in run_each(device, [job], options)]
    results: list[list[NdArray] | EggliftError] = []
    for i, (plan, inputs) in enumerate(jobs):
        try:
            kernels = [opencl().Kernel(program, f"p{i}_{k.name}") for k in plan.kernels]
            results.append(_run(device, plan, kernels, inputs))
        except EggliftError as error:
            results.append(error)
    return results


def _apart(plan: Plan, i: int) -> str:
    """The plan's source with its definitions under names that no other plan's has."""
    names = {*DEFINED.findall(plan.source), *(k.name for k in plan.kernels)}
    before = "".join(f"#define {name} p{i}_{name}\n" for name in sorted(names))
    after = "".join(f"#undef {name}\n" for name in sorted(names))
    return f"{before}{plan.source}\n{after}"


def _build(device: Device, source: str, options: Sequence[str]) -> Any:
    cl = opencl()
    try:
        return cl.Program(device.context, source).build(["-w", *options])
    except cl.Error as error:
        raise BuildError(f"it does not compile: {error}", source) from error


def _run(device: Device, plan: Plan, kernels: Sequence[Any], inputs: Inputs) -> list[NdArray]:
    """The plan's outputs.  WrongResult: it wrote outside of a buffer, or into an input."""
    for kernel in plan.kernels:
        device.admit(kernel)
    zones: dict[Buffer, Zone] = {}
    for name, buffers in plan.inputs.items():
        for b, array in zip(buffers, inputs[name], strict=True):
            if b.size:
                zones[b] = Zone(device, np.ascontiguousarray(array).reshape(-1))
    given = set(zones)
    for b in (*plan.temporaries, *plan.outputs):
        if b.size:
            zones[b] = Zone(device, poison(b).copy())
    for k, buffers in plan.steps:
        kernels[k].set_args(*(zones[b].inside if b in zones else None for b in buffers))
        sizes = plan.kernels[k].global_size, plan.kernels[k].local_size
        opencl().enqueue_nd_range_kernel(device.queue, kernels[k], *sizes)
    device.queue.finish()
    after = {b: zone.read(b.name) for b, zone in zones.items()}
    for b in given:
        if (after[b] != zones[b].data).any():
            raise WrongResult(f"the input {b.name} was written")
    return [_value(b, after[b]) if b.size else np.empty(0, b.scalar.dtype) for b in plan.outputs]


def _value(b: Buffer, raw: NdArray) -> NdArray:
    if b.scalar == BOOL and raw.max() > 1:
        raise WrongResult(f"element {int(np.argmax(raw > 1))} of the bools {b.name} was not written, or is {raw.max()}")
    return raw.view(b.scalar.dtype)
