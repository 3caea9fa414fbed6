"""Lines of several programs: searched by several processes side by side, timed one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.brought.lines import line
from benchmarks.brought.program import Scale
from benchmarks.peers import absent
from benchmarks.processes import spread
from benchmarks.unseen.programs import chosen
from egglift.codegen.device.device import Device, open_device


def lines_of(names: Sequence[str], scale: Scale, device: Device, jobs: int = 1) -> Iterator[dict[str, Any]]:
    """A line of each program as soon as it is done; with several `jobs`, in the order in which they end.

    Searches keep cores busy, and so do not disturb a GPU; beside a CPU, times with one job are to be trusted only.
    """
    if jobs == 1:
        yield from (one(name, scale, device) for name in names)
        return
    yield from spread(partial(elsewhere, scale=scale, device=device.name), names, jobs)


def one(name: str, scale: Scale, device: Device) -> dict[str, Any]:
    """The line of a program; torch's convolutions of f32 are of f32, as all else is, not of TF32."""
    beside_torch = device.kind == "gpu" and not absent("torch")
    if beside_torch:
        import torch

        torch.backends.cudnn.allow_tf32 = False
    (program,) = chosen([name])
    found = line(program, scale, device)
    if beside_torch:
        torch.cuda.empty_cache()  # other processes need the memory, too
    return found


def elsewhere(name: str, scale: Scale, device: str) -> dict[str, Any]:
    """The same in another process, which opens the device by its name."""
    return one(name, scale, open_device(device))
