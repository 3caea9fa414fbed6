"""torch, eager and compiled: by its library, by what libraries share, and by NumPy's way of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.fair.clocks import host_times, torch_times
from benchmarks.fair.job import Job
from benchmarks.fair.peer import Call, Peer
from benchmarks.fair.rebound import rebound
from benchmarks.fair.torch_numpy import TorchNumpy


def torch_peer(kind: str, compiled: bool) -> Peer:
    """torch on the kind of device: "gpu" or "cpu"."""
    name = "torch.compile" if compiled else "torch"
    times = torch_times if kind == "gpu" else host_times
    return Peer(name, partial(_absent, kind), partial(_ways, kind, compiled), times, on_host, partial(_free, kind))


def _absent(kind: str) -> str | None:
    try:
        import torch
    except ImportError as error:
        return f"torch cannot be imported ({error})"
    return "torch sees no GPU" if kind == "gpu" and not torch.cuda.is_available() else None


def _ways(kind: str, compiled: bool, job: Job) -> Mapping[str, Callable[[], Call]]:
    """By the name of the way: eager calls, or compiled ones."""
    import torch

    found: dict[str, Callable[..., Any]] = {}
    if job.torch:
        found["its library"] = partial(job.torch, torch)
    if job.arrays:
        found["array operations"] = partial(job.arrays, TorchNumpy(torch))
    if not found:
        found["as in NumPy"] = rebound(job.numpy, TorchNumpy(torch))
    return {name: partial(_call, kind, compiled, f, job) for name, f in found.items()}


def _call(kind: str, compiled: bool, function: Callable[..., Any], job: Job) -> Call:
    import torch

    torch.backends.cudnn.allow_tf32 = False  # convolutions of f32 are of f32, as products are without being told
    place = "cuda" if kind == "gpu" else "cpu"
    tensors = {name: tensor(torch, value, place) for name, value in job.inputs.items()}

    def run(**given: Any) -> Any:
        return function(**given)

    if compiled:
        torch.compiler.reset()
        run = torch.compile(run)
    return partial(run, **tensors)


def tensor(torch: Any, value: Any, place: str) -> Any:
    """A NumPy value, or a tuple of such, as a tensor; scalars as they are."""
    if isinstance(value, tuple):
        return tuple(tensor(torch, part, place) for part in value)
    return torch.from_numpy(value).to(place) if getattr(value, "shape", ()) else value.item()


def on_host(value: Any) -> Any:
    """A result of torch as NumPy's; named tuples as tuples."""
    if isinstance(value, (tuple, list)):
        return tuple(on_host(part) for part in value)
    return value.detach().cpu().numpy()


def _free(kind: str) -> None:
    import torch

    torch.compiler.reset()
    if kind == "gpu":
        torch.cuda.empty_cache()
