"""Profiles: presets, files, and measuring one."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from egglift.codegen.runtime import Device, open_device
from egglift.costmodel.calibrate import calibrate
from egglift.costmodel.profile import Profile, load_profile, loads_profile, presets, profile_path
from egglift.ir.errors import RecordError


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


@pytest.mark.parametrize("name", ["pocl_cpu", "nvidia_h200", "generic_gpu"])
def test_every_preset_is_a_plausible_profile_and_round_trips(name: str) -> None:
    profile = presets()[name]
    plausible(profile)
    assert loads_profile(profile.dumps()) == profile


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 99}', '{"schema": 1, "caches": []}', "null"])
def test_what_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(RecordError, match=r"profile"):
        loads_profile(text)


def test_a_device_without_a_measured_profile_gets_one_of_its_kind(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    profile = load_profile(device)
    plausible(profile)
    assert (profile.name, profile.kind) == (device.name, "cpu")
    assert profile.compute_units == device.compute_units
    assert profile.local_bytes == device.limits.local_bytes


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


def test_calibration_measures_a_plausible_profile_and_keeps_it(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    stages: list[str] = []
    profile = calibrate(device, report=stages.append)
    plausible(profile)
    assert load_profile(device) == profile
    assert [s.split(":")[0] for s in stages] == [
        "launch",
        "memory",
        "caches",
        "instructions",
        "local",
        "starts",
    ]
    assert {f.name for f in fields(Profile)} >= {"issue_rate", "op_costs"}
