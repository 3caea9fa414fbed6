"""Profiles: presets, files, and measuring one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError, validate

from egglift.codegen.device import transfer_rates
from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, open_device
from egglift.codegen.device.execute import Executable, Timing
from egglift.codegen.opencl.natives import Natives
from egglift.costmodel.calibration import arithmetic_probes, memory_rates, probe_timer
from egglift.costmodel.calibration.calibrate import STAGES, calibrate
from egglift.costmodel.calibration.probe_timer import Rig
from egglift.costmodel.profiles.profile import (
    SCHEMA,
    Cache,
    Profile,
    load_profile,
    loads_profile,
    presets,
    profile_path,
)
from egglift.ir.errors import RecordError

SCHEMA_FILE = json.loads((files("egglift.costmodel.profiles") / "profile.schema.json").read_text())


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("pocl")


def plausible(profile: Profile) -> None:
    assert profile.kind in ("gpu", "cpu")
    assert profile.compute_units >= 1
    positive = ("bandwidth", "local_bandwidth", "issue_rate", "latency", "op_latency", "launch", "barrier")
    for name in positive:
        assert getattr(profile, name) > 0, name
    for name in ("gap", "item_start", "group_start", "bytes_in_flight"):
        assert getattr(profile, name) >= 0, name
    assert profile.bandwidth == max(profile.copy_bandwidth.values())
    assert [c.bytes for c in profile.caches] == sorted(c.bytes for c in profile.caches)
    assert profile.cache_bandwidth >= profile.bandwidth
    assert all(c >= 1 for c in (*profile.op_costs.values(), *profile.type_costs.values()))


@pytest.mark.parametrize("name", sorted(presets()))
def test_every_preset_is_plausible_valid_and_round_trips(name: str) -> None:
    profile = presets()[name]
    plausible(profile)
    assert loads_profile(profile.dumps()) == profile
    validate(json.loads(profile.dumps()), SCHEMA_FILE)


def test_the_schema_takes_a_profiles_fields_and_no_others() -> None:
    Draft202012Validator.check_schema(SCHEMA_FILE)
    assert list(SCHEMA_FILE["properties"])[1:] == [f.name for f in fields(Profile) if f.name != "schema"]
    assert SCHEMA_FILE["properties"]["schema"] == {"description": "version of this schema", "const": SCHEMA}
    good = json.loads(presets()["pocl_cpu"].dumps())
    wrong = ({"schema": 1}, {"bandwidth": 0}, {"strided": {"two": 1.0}}, {"rate_share": {"1": 1.5}}, {"more": 1})
    for change in wrong:
        with pytest.raises(ValidationError):
            validate(good | change, SCHEMA_FILE)


def test_a_profile_of_version_1_is_refused_with_what_to_do() -> None:
    old = json.loads(presets()["pocl_cpu"].dumps()) | {"schema": 1}
    with pytest.raises(RecordError, match=rf"version 1, not {SCHEMA}; calibrate again"):
        loads_profile(json.dumps(old))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 99}', f'{{"schema": {SCHEMA}, "caches": []}}', "null"])
def test_what_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(RecordError, match=r"profile"):
        loads_profile(text)


def test_an_unmeasured_device_gets_a_profile_of_its_kind(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    profile = load_profile(device)
    plausible(profile)
    assert (profile.name, profile.kind) == (device.name, "cpu")
    assert profile.compute_units == device.compute_units
    assert profile.local_bytes == device.limits.local_bytes
    assert not profile.cache_curve, "another device's caches are not its own"


def test_a_kept_profile_is_found_again_unless_it_is_broken(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    mine = replace(load_profile(device), bandwidth=123.0)
    path = profile_path(device)
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_text(mine.dumps())
    assert load_profile(device) == mine
    path.write_text(mine.dumps()[:100])
    assert load_profile(device) != mine
    path.write_text(json.dumps(asdict(mine) | {"schema": 1}))
    assert load_profile(device) != mine


# ---------------------------------------------------------------------------------------- calibration


STEP, LAUNCH, FENCES = 1e-5, 1e-6, 1e-3  # seconds that the counting clock gives a loop's step, a launch, barriers


class Ticks:
    """The host's clock for a calibration that does not depend on the machine: each look at it is a second later."""

    now = 0.0

    def perf_counter(self) -> float:
        self.now += 1.0
        return self.now


def counted(self: Executable, inputs: Mapping[str, Sequence[Any]], **_: object) -> Timing:
    """The device's clock for it: the probe runs, and takes as long as its loop's length (its first number) says."""
    self.enqueue(inputs, Chain(self.device.queue))
    self.device.queue.finish()
    steps = int(inputs["numbers"][0][0]) if "numbers" in inputs else 0
    seconds = LAUNCH + STEP * steps + FENCES * ("barrier" in self.plan.source)
    return Timing(seconds, (seconds,), ())


@dataclass(frozen=True)
class Calibrated:
    """A calibration: its profile, what it reported, and the folder that it was kept in."""

    profile: Profile
    lines: list[str]
    cache: Path


@pytest.fixture(scope="module")
def calibrated(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    cache, lines = tmp_path_factory.mktemp("calibrated"), list[str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EGGLIFT_CACHE", str(cache))
        patch.setattr(Executable, "time", counted)
        for module in (memory_rates, probe_timer, transfer_rates):
            patch.setattr(module, "time", Ticks())
        return Calibrated(calibrate(device, report=lines.append), lines, cache)


def test_calibration_measures_a_plausible_profile_and_keeps_it(
    device: Device, calibrated: Calibrated, monkeypatch: pytest.MonkeyPatch
) -> None:
    plausible(calibrated.profile)
    monkeypatch.setenv("EGGLIFT_CACHE", str(calibrated.cache))
    assert load_profile(device) == calibrated.profile
    assert [p.suffix for p in (calibrated.cache / "profiles").iterdir()] == [".json"]


def test_calibration_reports_a_line_with_units_for_each_stage(calibrated: Calibrated) -> None:
    assert [s.split(":")[0] for s in calibrated.lines] == list(STAGES)
    assert not any("\n" in s for s in calibrated.lines)
    for stage, units in (("launch", "s"), ("memory", "B/s"), ("arithmetic", "op/s"), ("caches", "KiB")):
        assert any(s.startswith(f"{stage}: ") and units in s for s in calibrated.lines), stage


def test_a_calibration_follows_the_schema_with_every_curve(calibrated: Calibrated) -> None:
    raw = json.loads(calibrated.profile.dumps())
    validate(raw, SCHEMA_FILE)
    p = calibrated.profile
    assert set(p.rates) >= {"f32", "i32", "i64"}
    for rates in p.rates.values():
        assert set(rates) >= {"add", "mul", "fma", "div", "mod", "convert"}
    assert list(p.strided) == ["1", "2", "4", "8", "16", "32", "64", "128"]
    assert list(p.local_strided) == ["1", "2", "4", "8", "16", "32"]
    assert list(p.vector_rates) == ["1", "2", "4", "8", "16"]
    sizes = list(map(int, p.cache_curve))
    assert sizes == sorted(sizes) and sizes[-1] >= 64 * sizes[0]
    assert max(p.bandwidth_share.values()) == max(p.rate_share.values()) == 1.0
    assert {"to_device", "from_device"} <= set(p.transfer)
    assert p.random > 0


def test_a_measured_rate_is_the_probes_work_by_its_time(calibrated: Calibrated) -> None:
    p = calibrated.profile
    items = p.compute_units  # of a CPU that is kept busy
    for type, rates in p.rates.items():
        for op, rate in rates.items():
            _, operations = arithmetic_probes.chain(type, op, False, 4 * items, Natives())
            assert rate == pytest.approx(operations / STEP), (type, op)
    assert p.issue_rate == pytest.approx(p.rates["f32"]["fma"] / (p.simd_bytes // 4))
    bytes = {"vector_rates": {str(w): 4 * w for w in (1, 2, 4, 8, 16)}, "strided": dict.fromkeys(p.strided, 4)}
    bytes |= {"cache_curve": dict.fromkeys(p.cache_curve, 64)}
    for curve, each in bytes.items():
        assert getattr(p, curve) == pytest.approx({at: b * items / STEP for at, b in each.items()}), curve
    assert p.random == pytest.approx(4 * items / STEP)
    assert p.unmeasured == {}


def test_rates_beyond_what_the_device_can_do_are_not_measured(device: Device) -> None:
    known = load_profile(device)
    slow = replace(known, issue_rate=1.0, bandwidth=1.0, caches=(Cache(1 << 20, 1.0),))
    for stage in ("caches", "access"):
        assert set(STAGES[stage](Rig(device, slow)).values()) == {None}


def launched(_: Rig) -> dict[str, object]:
    return {"launch": 1.25e-6, "gap": 0.0}


def crossed(bench: Rig) -> dict[str, object]:
    return {"random": bench.profile.launch * 1e12, "strided": None}


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_calibration_goes_on_where_it_stopped(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    before, calls, broken = load_profile(device), list[str](), True

    def first(rig: Rig) -> dict[str, object]:
        calls.append("first")
        return launched(rig)

    def second(rig: Rig) -> dict[str, object]:
        calls.append("second")
        if broken:
            raise error("on purpose")
        return crossed(rig)

    monkeypatch.setattr("egglift.costmodel.calibration.calibrate.STAGES", {"first": first, "second": second})
    with pytest.raises(error, match="on purpose"):
        calibrate(device)
    assert load_profile(device) == before, "half a profile is not used"
    broken = False
    lines: list[str] = []
    profile = calibrate(device, report=lines.append)
    assert calls == ["first", "second", "second"]
    assert (profile.launch, profile.random) == (1.25e-6, 1.25e6)
    assert profile.strided == before.strided, "what was not measured is kept"
    assert "interrupted" in lines[0] and "not measured" in lines[1]
    assert load_profile(device) == profile
    calibrate(device)
    assert calls[3:] == ["first", "second"], "a calibration that was finished is measured again"


def test_a_fresh_calibration_measures_all_anew(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    calls: list[str] = []

    def first(rig: Rig) -> dict[str, object]:
        calls.append("first")
        return launched(rig)

    def fails(rig: Rig) -> dict[str, object]:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("egglift.costmodel.calibration.calibrate.STAGES", {"first": first, "second": fails})
    for fresh in (False, True):
        with pytest.raises(RuntimeError, match="on purpose"):
            calibrate(device, fresh=fresh)
    assert calls == ["first", "first"]


@pytest.mark.parametrize("change", [{"driver": "another"}, {"name": "another"}, {"compute_units": 99}, {"schema": 1}])
def test_what_another_device_or_version_left_is_not_used(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object]
) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    calls: list[str] = []

    def first(rig: Rig) -> dict[str, object]:
        calls.append("first")
        return launched(rig)

    monkeypatch.setattr("egglift.costmodel.calibration.calibrate.STAGES", {"first": first})
    path = profile_path(device)
    assert path is not None
    path.parent.mkdir(parents=True)
    profile = asdict(replace(load_profile(device), name=device.name, driver=device.driver)) | change
    path.with_suffix(".partial").write_text(json.dumps({"profile": profile, "done": ["first"]}))
    calibrate(device)
    assert calls == ["first"]


def test_nothing_is_kept_where_the_cache_is_off(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", "off")
    monkeypatch.setattr("egglift.costmodel.calibration.calibrate.STAGES", {"first": launched})
    assert calibrate(device).launch == 1.25e-6
