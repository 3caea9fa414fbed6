"""Calibration: measures the profile of a device with micro-benchmarks, once per device and driver."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from egglift.codegen.imperative import Plan
from egglift.codegen.runtime import Device
from egglift.costmodel import probes
from egglift.costmodel.profile import Cache, Profile, load_profile, profile_path

Report = Callable[[str], None]


def calibrate(device: Device, *, keep: bool = True, report: Report = lambda line: None) -> Profile:
    """Measures `device` in 10 to 20 s and, with `keep`, stores the profile where `load_profile` finds it.

    report: called with a line for each stage.  What is not measured (lockstep width, cache lines, the costs
    of rarer functions) comes from the preset nearest to the device.
    """
    base = load_profile(device)
    profile = replace(base, name=device.name, driver=device.driver, kind=device.kind, warp=base.warp)
    for stage in (_launch, _memory, _caches, _instructions, _local, _starts):
        changes = stage(device, profile)
        profile = replace(profile, **changes)
        report(f"{stage.__name__[1:]}: {_show(changes)}")
    if keep:
        _store(device, profile)
    return profile


def _show(changes: dict[str, Any]) -> str:
    """The measured numbers on one line."""
    return ", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in changes.items())


def _store(device: Device, profile: Profile) -> None:
    path = profile_path(device)
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{time.time_ns()}.tmp")
        fresh.write_text(profile.dumps())
        fresh.replace(path)  # in one step: another process reads the old profile or the new one
    except OSError as error:
        warnings.warn(f"cannot write {path}: {error}; the profile is not kept", RuntimeWarning, stacklevel=3)


def _seconds(device: Device, plan: Plan, budget: float = 0.15, **inputs: Any) -> float:
    """The median time of a probe."""
    given = {name: [array] for name, array in inputs.items()}
    executable = device.build(plan)
    return executable.time(given, warmup=2, least=5, most=40, budget=budget, precision=0.02).seconds


def _launch(device: Device, profile: Profile) -> dict[str, Any]:
    """Device time of an empty kernel, and what the host takes beyond it to launch and wait."""
    executable = device.build(probes.empty(64, 64))
    seconds = executable.time({}, warmup=5, least=30, most=100, budget=0.5).seconds
    walls = []
    for _ in range(30):
        start = time.perf_counter()
        executable.enqueue({})
        device.queue.finish()
        walls.append(time.perf_counter() - start)
    return {"launch": seconds, "gap": max(float(np.median(walls)) - seconds, 0.0)}


def _memory(device: Device, profile: Profile) -> dict[str, Any]:
    """Copies beyond every cache, by vector width; the loads in flight they need; one load's latency."""
    gpu, units = profile.kind == "gpu", profile.compute_units
    n = 1 << 26 if gpu else 1 << 24
    while n * 16 > device.info.memory:
        n //= 2
    copies = {w: 8 * n / _seconds(device, probes.copy(n, w, gpu, units)) for w in (1, 4, 16)}
    chase, steps = _chain_of_indices(1 << (25 if gpu else 22)), 1 << 14  # beyond the last cache
    latency = (_seconds(device, probes.chase(chase.size, steps), x=chase) - profile.launch) / steps
    changes: dict[str, Any] = {
        "bandwidth": max(copies.values()),
        "copy_bandwidth": {str(w): b for w, b in copies.items()},
        "latency": max(latency, 1e-9),
        "bytes_in_flight": 0.0,
    }
    if gpu:  # with few groups, bandwidth is what their loads in flight allow: share = x / (1 + x^3)^(1/3)
        few = 4 * n / _seconds(device, probes.read(n, 1, gpu, units, units))
        share = min(few / changes["bandwidth"], 0.99)
        changes["bytes_in_flight"] = units * 256 * 16 / (share / (1 - share**3) ** (1 / 3))
    return changes


def _chain_of_indices(n: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Each element is the index of the next: one cycle through all n, in random order."""
    order = np.random.default_rng(0).permutation(n)
    after = np.empty(n, np.int32)
    after[order] = np.roll(order, -1)
    return after


def _caches(device: Device, profile: Profile) -> dict[str, Any]:
    """Read bandwidth of each cache, from a working set of half its size."""
    gpu, units = profile.kind == "gpu", profile.compute_units
    last = max(device.info.cache, 1 << 15)
    sizes = {last} if gpu else {min(units << 15, last), min(units << 19, last), last}
    caches = []
    for size in sorted(sizes):
        used = 1 << (size // 2).bit_length() - 1
        repeats = max(1, (1 << (30 if gpu else 26)) // used)
        seconds = _seconds(device, probes.read(used // 4, repeats, gpu, units)) - profile.launch
        caches.append(Cache(size, max(used * repeats / max(seconds, 1e-9), profile.bandwidth)))
    if gpu and caches[-1].bandwidth > 2 * profile.local_bandwidth:
        return {}  # faster than local memory: the driver's compiler has seen through the probe; keep what is known
    return {"caches": tuple(caches)}


def _instructions(device: Device, profile: Profile) -> dict[str, Any]:
    """The rate of multiply-adds, and in units of it the costs of other functions and types."""
    gpu = profile.kind == "gpu"
    simd = profile.simd_bytes if gpu else device.info.vector_bytes or profile.simd_bytes
    per_second = {
        op: _rate(device, profile, "f32", op) for op in ("mul", "div", "sqrt", "exp", "log", "sin", "pow")
    }
    cost = {op: max(1.0, per_second["mul"] / rate) for op, rate in per_second.items()}
    like = {"rsqrt": "sqrt", "exp2": "exp", "log2": "log", "cos": "sin", "tan": "sin", "tanh": "exp"}
    like |= {"erf": "exp", "atan2": "pow"}
    cost |= {op: cost[known] for op, known in like.items()}
    cost["floordiv"] = cost["mod"] = max(1.0, per_second["mul"] / _rate(device, profile, "i32", "div"))
    types = {"i32": _rate(device, profile, "i32", "mul"), "i64": _rate(device, profile, "i64", "mul")}
    if device.limits.float64:
        types["f64"] = _rate(device, profile, "f64", "mul")
    # a CPU's vectors hold fewer of the wide types; that is in their number, not in their cost
    width = {t: 1.0 if gpu else (8 if t[1:] == "64" else 4) / 4 for t in types}
    type_costs = {t: max(1.0, per_second["mul"] / rate / width[t]) for t, rate in types.items()}
    type_costs |= {"u" + t[1:]: c for t, c in type_costs.items() if t[0] == "i"}
    chain = 1 << 16
    latency = (_seconds(device, probes.dependent(chain)) - profile.launch) / chain
    return {
        "simd_bytes": simd,
        "issue_rate": per_second["mul"] / (1 if gpu else simd // 4),
        "op_costs": {op: round(c, 2) for op, c in cost.items() if op != "mul"},
        "type_costs": {t: round(c, 2) for t, c in type_costs.items() if c > 1.1},
        "op_latency": max(latency, 1e-10),
    }


def _rate(device: Device, profile: Profile, type: str, op: str) -> float:
    """Component operations per second of `op` on `type`, with all of the device busy."""
    plan, operations = probes.chain(type, op, profile.kind == "gpu", profile.compute_units)
    executable = device.build(plan)
    steps = 32
    while True:  # grows until it takes long enough to time, without a guess of the device's speed
        given = {"steps": [np.array([steps], np.int32)]}
        seconds = executable.time(given, warmup=1, least=3, most=3).seconds - profile.launch
        if seconds > 3e-4 or steps >= 1 << 24:
            again = executable.time(given, warmup=0, least=5, most=20, budget=0.05, precision=0.02).seconds
            return operations * steps / max(again - profile.launch, 1e-9)
        steps *= 1 << max(1, round(np.log2(1e-3 / max(seconds, 1e-6))))


def _local(device: Device, profile: Profile) -> dict[str, Any]:
    """Reading local memory, and barriers."""
    gpu, units = profile.kind == "gpu", profile.compute_units
    plan, size = probes.local_read(4096, 256 if gpu else 64, units * 8 if gpu else units)
    bandwidth = size / max(_seconds(device, plan) - profile.launch, 1e-9)
    count = 512
    fenced, bare = (_seconds(device, probes.barriers(count, 64, units, real)) for real in (True, False))
    return {
        "local_bandwidth": bandwidth,
        "local_bytes": device.limits.local_bytes,
        "barrier": max(fenced - bare, 1e-9) / (2 * count),
    }


def _starts(device: Device, profile: Profile) -> dict[str, Any]:
    """What one more work-item, and one more work-group, add to a kernel."""
    gpu, units = profile.kind == "gpu", profile.compute_units
    items, large, small = (1 << 24, 256, 32) if gpu else (1 << 20, 256, 16)
    coarse, fine = (_seconds(device, probes.empty(items, n)) - profile.launch for n in (large, small))
    group = max(fine - coarse, 0.0) / (items // small - items // large) * units
    item = max(coarse - group * (items // large) / units, 0.0) / items * units
    return {"group_start": group, "item_start": item}
