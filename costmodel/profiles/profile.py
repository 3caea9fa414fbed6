"""Device profiles: the measured rates that the analytic model reads.  Seconds, bytes, and per second."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from egglift.codegen.device.device import Device
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.codegen.kernel.warp_groups import group_unit_bytes
from egglift.costmodel.records.cache_folder import cache_folder
from egglift.ir.errors import RecordError

SCHEMA = 2


@dataclass(frozen=True)
class Cache:
    """A cache level: its size in bytes and the bytes per second read from it, all units together.

    The size of a CPU's cache is that of all cores' caches together; of a GPU's, what all units can read again and
    again at the same time.
    """

    bytes: int
    bandwidth: float


@dataclass(frozen=True)
class Profile:
    """What a device can do.  Rates are of the whole device, all of it busy.

    name, driver, kind ("gpu" or "cpu"), compute_units: the device.
    warp: work-items that run in lockstep (1: none do).  simd_bytes: width of the registers that a vector
    statement is cut into (4 where each component is an instruction of its own).
    line_bytes: the unit in which memory is fetched.

    bandwidth: bytes per second, read + written, of the best copy.  copy_bandwidth: of copies by vectors of
    "1", "4" and "16" f32.  caches: smallest first.  local_bandwidth, local_bytes: local memory; the bytes are
    those of one work-group.  bytes_in_flight: outstanding loads that saturate the bandwidth (0: any do).
    latency: seconds of one load from global memory that nothing else hides.

    issue_rate: simple instructions per second, of work-items on a GPU, of vector registers on a CPU.
    op_costs: a scalar function's cost in simple instructions (1 where none is given); type_costs: factor on a
    type's instructions; matrix_costs: cost of a multiply-add on matrix units, by type (none: it has no such units).
    op_latency: seconds until a simple instruction's result can be used.

    launch: seconds of an empty kernel; gap: what the host adds between kernels that depend on each other.
    barrier: seconds of one barrier of a work-group of 64.  item_start, group_start: seconds that one more
    work-item or work-group adds on its compute unit.  items_per_unit: work-items that a unit holds at a time.

    What follows are measured curves, from a number (as text: JSON has no other keys) to a rate; bytes per second
    count what the work-items get.  An empty one, and a `random` of 0, was not measured.  The model reads `barriers`,
    and its own rule where they are empty; the others are there to be looked at and to judge its rules by.

    rates: component operations per second by type and operation ("f32": {"add": ..., "fma": ...}); "fma" is a
    multiplication whose result is added to, as one operation; "convert" a conversion to the type and back.
    unmeasured: by type, the operations whose rates a calibration could not measure: they are kept from before it.
    strided: loads of single f32 at so many elements' distance from each other.  random: loads of single f32 anywhere.
    Both from memory beyond the caches.  vector_rates: reading memory by vectors of so many f32.
    cache_curve: reading a working set of so many bytes again and again.
    local_strided: loads of local memory, neighbouring work-items at so many words' distance: bank conflicts.
    barriers: seconds of one barrier by the size of the work-group.
    bandwidth_share, rate_share: the part of the device's best bandwidth, and rate of multiply-adds, that so many
    work-groups reach (of 256 work-items on a GPU, of one on a CPU).
    transfer: copies of 64 MiB "to_device" and "from_device", and the same from memory that the driver has pinned
    ("to_device_pinned", "from_device_pinned").
    """

    name: str
    driver: str
    kind: str
    compute_units: int
    warp: int
    simd_bytes: int
    line_bytes: int
    bandwidth: float
    copy_bandwidth: dict[str, float]
    caches: tuple[Cache, ...]
    local_bandwidth: float
    local_bytes: int
    bytes_in_flight: float
    latency: float
    issue_rate: float
    op_costs: dict[str, float]
    type_costs: dict[str, float]
    op_latency: float
    launch: float
    gap: float
    barrier: float
    item_start: float
    group_start: float
    items_per_unit: int
    rates: dict[str, dict[str, float]] = field(default_factory=dict)
    unmeasured: dict[str, list[str]] = field(default_factory=dict)
    strided: dict[str, float] = field(default_factory=dict)
    random: float = 0.0
    vector_rates: dict[str, float] = field(default_factory=dict)
    cache_curve: dict[str, float] = field(default_factory=dict)
    local_strided: dict[str, float] = field(default_factory=dict)
    barriers: dict[str, float] = field(default_factory=dict)
    bandwidth_share: dict[str, float] = field(default_factory=dict)
    rate_share: dict[str, float] = field(default_factory=dict)
    transfer: dict[str, float] = field(default_factory=dict)
    matrix_costs: dict[str, float] = field(default_factory=dict)
    schema: int = SCHEMA

    @property
    def cache_bytes(self) -> int:
        """Bytes of the last cache before memory."""
        return self.caches[-1].bytes

    @property
    def cache_bandwidth(self) -> float:
        """Bytes per second read from the last cache before memory."""
        return self.caches[-1].bandwidth

    @property
    def limits(self) -> DeviceLimits:
        """What code for such a device may use where the device itself is not at hand."""
        gpu = self.kind == "gpu"
        units = tuple(self.matrix_costs)
        own = {"branch_barriers": gpu, "half_functions": gpu, "matrix_units": units}
        own["group_unit_bytes"] = group_unit_bytes(units)
        own["asynchronous_copies"] = own["ptx_functions"] = own["device_fence"] = bool(units)
        own["progress"] = gpu and self.name.startswith("NVIDIA")
        return DeviceLimits(compute_units=self.compute_units, warp=self.warp, **own)  # type: ignore[arg-type]

    def dumps(self) -> str:
        """The profile as JSON text."""
        return json.dumps(asdict(self), indent=2)


def loads_profile(text: str) -> Profile:
    """The inverse of `Profile.dumps`; RecordError where the text is no profile of this version."""
    try:
        raw = json.loads(text)
        if raw.get("schema") != SCHEMA:
            raise RecordError(f"a device profile of version {raw.get('schema')}, not {SCHEMA}; calibrate again")
        raw["caches"] = tuple(Cache(**c) for c in raw["caches"])
        return _sound(Profile(**raw))
    except RecordError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        expected = ", ".join(f.name for f in fields(Profile))
        raise RecordError(f"not a device profile: {error}; it has the fields {expected}") from error


#: what may be nought: loads in flight and waits that a device does not have, or are too short to measure
MAY_BE_ZERO = (
    "bytes_in_flight",
    "latency",
    "op_latency",
    "launch",
    "gap",
    "barrier",
    "item_start",
    "group_start",
    "local_bandwidth",
    "local_bytes",
    "random",
)


def _sound(profile: Profile) -> Profile:
    """`profile`, if its numbers are numbers that a device can have; ValueError names one that is not."""
    values = asdict(profile)
    texts = [values.pop(name) for name in ("name", "driver", "kind")]
    texts += [op for operations in values.pop("unmeasured").values() for op in operations]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("name, driver, kind and operations are texts")
    if not profile.caches:
        raise ValueError("it has no caches")
    for name, n in _numbers(values):
        number = isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n)
        if not number or n < 0 or (n == 0 and name not in MAY_BE_ZERO):
            raise ValueError(f"{name} is {str(n)[:40]}")
    return profile


def _numbers(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """What stands for numbers in a profile, however deep in its tables, with its name."""
    for name, value in values.items():
        match value:
            case dict():
                yield from _numbers(value, f"{prefix}{name} ")
            case list() | tuple():
                for part in value:
                    yield from _numbers(part, f"{prefix}{name} ")
            case _:
                yield prefix + str(name), value


def presets() -> dict[str, Profile]:
    """The profiles that come with egglift, by preset name (the file's stem)."""
    folder = files("egglift.costmodel.profiles.presets")
    found = {f.name.removesuffix(".json"): f for f in folder.iterdir() if f.name.endswith(".json")}
    return {name: loads_profile(found[name].read_text()) for name in sorted(found)}


def profile_path(device: Device) -> Path | None:
    """Where the measured profile of `device` and its driver is kept; None where the cache is off."""
    folder = cache_folder()
    if folder is None:
        return None
    name = f"{device.platform} {device.name} {device.driver} {device.compute_units}"
    return folder / "profiles" / ("".join(c if c.isalnum() else "_" for c in name) + ".json")


def load_profile(device: Device) -> Profile:
    """The profile of `device`: as measured, else the preset of its name, else a cautious one of its kind."""
    path = profile_path(device)
    if path is not None and path.is_file():
        try:
            return loads_profile(path.read_text())
        except (OSError, UnicodeDecodeError, RecordError):
            pass  # of an older version, or torn: calibrating again replaces it
    return preset_of(device)


def preset_of(device: Device) -> Profile:
    """The preset of the name of `device`, else a cautious one of its kind for as many compute units."""
    known = presets()
    for profile in known.values():
        if profile.name == device.name:
            return profile
    return scaled(known["pocl_cpu" if device.kind == "cpu" else "generic_gpu"], device)


def scaled(base: Profile, device: Device) -> Profile:
    """`base` for the compute units of `device`; memory and its outermost cache do not grow with them.

    What depends on how many units share something is taken as not measured.
    """
    factor = device.compute_units / base.compute_units
    inner = tuple(Cache(round(c.bytes * factor), c.bandwidth * factor) for c in base.caches[:-1])
    return replace(
        base,
        name=device.name,
        driver=device.driver,
        compute_units=device.compute_units,
        simd_bytes=device.info.vector_bytes or base.simd_bytes if device.kind == "cpu" else base.simd_bytes,
        caches=(*inner, base.caches[-1]),
        local_bytes=device.limits.local_bytes,
        local_bandwidth=base.local_bandwidth * factor,
        issue_rate=base.issue_rate * factor,
        rates={t: {op: r * factor for op, r in of.items()} for t, of in base.rates.items()},
        local_strided={s: b * factor for s, b in base.local_strided.items()},
        cache_curve={},
        bandwidth_share={},
        rate_share={},
    )
