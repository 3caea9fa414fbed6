"""Calibration: measures the profile of a device with micro-benchmarks, once per device and driver."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from egglift.codegen.device.device import Device
from egglift.costmodel.calibration import arithmetic_rates, memory_rates
from egglift.costmodel.calibration.memory_rates import Changes
from egglift.costmodel.calibration.probe_timer import Rig
from egglift.costmodel.calibration.summary import line
from egglift.costmodel.profiles.profile import Profile, load_profile, loads_profile, profile_path
from egglift.ir.errors import RecordError

Report = Callable[[str], None]
Stage = Callable[[Rig], Changes]

#: in order: a stage may use what those before it have found
STAGES: dict[str, Stage] = {
    "launch": memory_rates.launch,
    "arithmetic": arithmetic_rates.arithmetic,
    "memory": memory_rates.memory,
    "vectors": memory_rates.vectors,
    "local": memory_rates.local,
    "caches": memory_rates.caches,
    "access": memory_rates.access,
    "saturation": memory_rates.saturation,
    "parallelism": arithmetic_rates.parallelism,
    "barriers": memory_rates.barriers,
    "starts": memory_rates.starts,
    "transfers": memory_rates.transfers,
}


@dataclass(frozen=True)
class Progress:
    """A calibration that goes on: the profile so far, and the names of the stages that are done."""

    profile: Profile
    done: tuple[str, ...] = ()


def calibrate(device: Device, *, keep: bool = True, fresh: bool = False, report: Report = lambda line: None) -> Profile:
    """Measures `device` in half a minute and, with `keep`, stores the profile where `load_profile` finds it.

    Each stage's result is kept too, so that a calibration that was interrupted goes on where it stopped; `fresh`
    measures all anew.  report: called with a line for each stage.  What is not measured (lockstep width, cache lines,
    the costs of rarer functions) comes from the preset nearest to the device.
    """
    path = profile_path(device) if keep else None
    beside = path.with_suffix(".partial") if path else None
    progress = (None if fresh or beside is None else _interrupted(beside, device)) or _begun(device)
    for name, stage in STAGES.items():
        if name in progress.done:
            report(f"{name}: kept from the calibration that was interrupted")
            continue
        changes = stage(Rig(device, progress.profile))
        measured = {field: value for field, value in changes.items() if value is not None}
        progress = Progress(replace(progress.profile, **measured), (*progress.done, name))
        if beside:
            _store(beside, json.dumps(asdict(progress)))
        report(f"{name}: {line(changes)}")
    if path and beside:
        _store(path, progress.profile.dumps())
        beside.unlink(missing_ok=True)
    return progress.profile


def _begun(device: Device) -> Progress:
    """Nothing is measured yet."""
    return Progress(replace(load_profile(device), name=device.name, driver=device.driver, kind=device.kind))


def _interrupted(path: Path, device: Device) -> Progress | None:
    """What an interrupted calibration of this device, driver and version of the profile has left; None: nothing."""
    try:
        raw = json.loads(path.read_text())
        profile, done = loads_profile(json.dumps(raw["profile"])), tuple(map(str, raw["done"]))
    except (OSError, ValueError, KeyError, TypeError, RecordError):
        return None
    same = (device.name, device.driver, device.compute_units) == (profile.name, profile.driver, profile.compute_units)
    return Progress(profile, done) if same else None


def _store(path: Path, text: str) -> None:
    """Puts `text` at `path` in one step: another process reads the old file or the new one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{time.time_ns()}.tmp")
        fresh.write_text(text)
        fresh.replace(path)
    except OSError as error:
        warnings.warn(f"cannot write {path}: {error}; the profile is not kept", RuntimeWarning, stacklevel=3)
