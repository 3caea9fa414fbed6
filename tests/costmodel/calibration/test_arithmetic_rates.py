"""Rates of arithmetic: what could not be measured is kept as it was, and is said."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from egglift.codegen.device.device import Device, open_device
from egglift.costmodel.calibration import arithmetic_rates
from egglift.costmodel.calibration.arithmetic_rates import _operations, arithmetic
from egglift.costmodel.calibration.memory_rates import Changes
from egglift.costmodel.calibration.probe_timer import Rig
from egglift.costmodel.calibration.summary import line
from egglift.costmodel.profiles.profile import Profile, load_profile, loads_profile, preset_of

UNIT = 1e9  # multiply-adds of f32 per second
BEYOND = 100 * UNIT  # faster than the device can be: the compiler has seen through the probe


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("pocl")


def calibrated(
    device: Device, monkeypatch: pytest.MonkeyPatch, before: Profile, **odd: float | None
) -> tuple[Profile, Changes]:
    """The profile after a stage that measures a rate of UNIT for all operations but the `odd` ones ("i32_add")."""
    monkeypatch.setattr(arithmetic_rates, "_rate", lambda rig, type, op: odd.get(f"{type}_{op}", UNIT))
    monkeypatch.setattr(Rig, "seconds", lambda self, probe, *args, **inputs: 1e-3)
    changes = arithmetic(Rig(device, before))
    return replace(before, **{k: v for k, v in changes.items() if v is not None}), changes


def test_every_rate_that_was_measured_is_the_devices_own(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    profile, changes = calibrated(device, monkeypatch, preset_of(device))
    assert {r for rates in profile.rates.values() for r in rates.values()} == {UNIT}
    assert profile.unmeasured == {}
    assert "unmeasured" not in line(changes)


@pytest.mark.parametrize("found", [None, BEYOND], ids=["no time, however many", "beyond the device"])
def test_a_rate_that_could_not_be_measured_is_the_presets(
    device: Device, monkeypatch: pytest.MonkeyPatch, found: float | None
) -> None:
    preset = preset_of(device)
    profile, changes = calibrated(device, monkeypatch, preset, i32_add=found, f32_pow=found)
    assert profile.rates["i32"] == dict.fromkeys(_operations("i32"), UNIT) | {"add": preset.rates["i32"]["add"]}
    assert profile.rates["f32"]["pow"] == preset.rates["f32"]["pow"]
    assert profile.unmeasured == {"i32": ["add"], "f32": ["pow"]}
    assert "unmeasured (f32: pow, i32: add)" in line(changes)
    assert loads_profile(profile.dumps()) == profile


def test_an_earlier_calibration_counts_before_the_preset(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    before = replace(preset_of(device), rates={"i32": {"add": 123.0}})
    profile, _ = calibrated(device, monkeypatch, before, i32_add=None, i32_mul=None)
    assert profile.rates["i32"]["add"] == 123.0
    assert profile.rates["i32"]["mul"] == preset_of(device).rates["i32"]["mul"]


def test_the_cost_of_a_type_is_kept_with_its_rate(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    before = replace(preset_of(device), type_costs={"i64": 7.0, "u64": 7.0, "f64": 5.0})
    assert calibrated(device, monkeypatch, before, i64_fma=None)[0].type_costs == {"i64": 7.0, "u64": 7.0}


def test_without_a_multiply_add_to_compare_with_all_is_kept(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    preset = preset_of(device)
    profile, changes = calibrated(device, monkeypatch, preset, f32_fma=None)
    assert profile == replace(preset, unmeasured={t: list(_operations(t)) for t in profile.unmeasured})
    assert profile.unmeasured.keys() >= {"f32", "i32", "i64"}
    assert "rates not measured" in line(changes)


def test_a_profile_silent_on_what_was_not_measured_is_read(device: Device) -> None:
    raw = json.loads(load_profile(device).dumps())
    del raw["unmeasured"]
    assert loads_profile(json.dumps(raw)) == load_profile(device)
