"""What comes of a program that a user brings: its time beside its peers', and whether the result is right."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import egglift as el
from benchmarks.baselines import cuda_seconds, on_cuda
from benchmarks.brought.program import Inputs, Scale, Timed
from benchmarks.demo import best
from benchmarks.peers import absent
from benchmarks.programs.catalogue import size_text
from egglift.codegen.device.device import Device
from egglift.costmodel.measurement.device_lock import alone
from egglift.costmodel.measurement.expected_results import flatten
from egglift.ir.errors import EggliftError

#: of the best peer: what is nearly as fast, what is clearly faster, what is too slow
NEAR, FASTER, SLOW = 0.9, 1.2, 0.75
RATIO = "of the best peer"


def line(b: Timed, scale: Scale, device: Device) -> dict[str, Any]:
    """One program at a scale: microseconds, the ratio of the best peer's time to egglift's, and what was chosen.

    right: the result is the peer's, as near as different orders of the same operations come; error: the largest
    difference, of the root mean square of the peer's result.  A failure is a line, too.  While something is timed, no
    other process that measures on the device does.
    """
    found: dict[str, Any] = {"program": b.name, "size": size_text(b.size(scale))}
    try:
        return found | _measured(b, scale, device)
    except (EggliftError, RuntimeError, MemoryError) as error:  # of torch all are RuntimeErrors
        return found | {"failed": " ".join(str(error).split())}


def _measured(b: Timed, scale: Scale, device: Device) -> dict[str, Any]:
    program, inputs = b.program(*b.size(scale)), b.inputs(scale)
    start = time.perf_counter()
    kernel = el.optimize(program, device)
    searched = time.perf_counter() - start
    with alone(device):
        seconds = kernel.profile(**inputs).seconds
    expected, peers = _peers(b, inputs, device)
    actual = kernel(**inputs)
    problem = b.difference(program, expected, actual)
    return {
        "us": _us(seconds),
        **{f"{peer} us": _us(took) for peer, took in peers.items()},
        **({RATIO: round(min(peers.values()) / seconds, 3)} if peers else {}),
        "optimize s": round(searched, 2),
        "structure": kernel.chosen.structure,
        "right": problem is None,
        "error": _error(expected, actual),
        **({"difference": problem} if problem else {}),
    }


def _peers(b: Timed, inputs: Inputs, device: Device) -> tuple[Any, dict[str, float]]:
    """The result of a peer, and the seconds of all: NumPy beside a CPU; torch beside a GPU, its data there."""
    if device.kind != "gpu":
        with alone(device):
            return b.numpy(**inputs), {"numpy": best(lambda: b.numpy(**inputs))}
    if absent("torch"):
        return b.numpy(**inputs), {}
    plain = on_cuda(b.in_torch, inputs)
    expected = _on_host(plain())
    compiled = on_cuda(b.in_torch, inputs, compiled=True)
    compiled()  # compiles it
    with alone(device):
        return expected, {"torch": cuda_seconds(plain), "torch.compile": cuda_seconds(compiled)}


def _on_host(value: Any) -> Any:
    """A result of torch as NumPy's."""
    return tuple(_on_host(part) for part in value) if isinstance(value, tuple) else value.cpu().numpy()


def _error(expected: Any, actual: Any) -> float:
    """The largest difference, of the root mean square of what is expected, where that is finite."""
    errors = []
    for want, got in zip(flatten(expected), flatten(actual), strict=True):
        finite = np.isfinite(want)
        exact = want[finite].astype(np.complex128 if np.iscomplexobj(want) else np.float64)
        scale = float(np.sqrt(np.mean(np.square(np.abs(exact))))) if exact.size else 1.0
        errors.append(float(np.abs(exact - got.reshape(want.shape)[finite]).max(initial=0.0)) / (scale or 1.0))
    return float(f"{max(errors):.2g}")


def _us(seconds: float) -> float:
    return round(1e6 * seconds, 2)


def summary(lines: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How many programs are nearly as fast as the best peer, clearly faster, too slow, wrong, or have no kernel."""
    ratios = [line[RATIO] for line in lines if RATIO in line]
    return {
        "programs": len(lines),
        f"at least {NEAR}": sum(r >= NEAR for r in ratios),
        f"at least {FASTER}": sum(r >= FASTER for r in ratios),
        f"below {SLOW}": sum(r < SLOW for r in ratios),
        "wrong": sum(not line.get("right", True) for line in lines),
        "failed": sum("failed" in line for line in lines),
    }
