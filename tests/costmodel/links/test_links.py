"""Links of a set of devices: kept, found again, and usual ones where nothing was measured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from egglift.codegen.device.device import Device, open_device
from egglift.costmodel.links.links import USUAL_RATE, Links, links_path, load_links, save_links
from egglift.costmodel.links.measure import measure_links

MEASURED = Links({"a": 1e10}, {"a": 2e10}, 1e-6, 2e-6, 0.75)


@pytest.fixture
def device() -> Device:
    return open_device("pocl")


def test_what_was_measured_is_found_again(device: Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    path = save_links([device], MEASURED)
    assert path is not None and json.loads(path.read_text())["together"] == 0.75
    assert load_links([device]) == MEASURED
    assert load_links([device, device]) != MEASURED
    path.write_text("{")
    assert load_links([device]) == Links()


def test_nothing_is_kept_where_the_cache_is_off(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", "off")
    assert links_path([device]) is None and save_links([device], MEASURED) is None


def test_devices_of_one_processor_share_its_speed(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", "off")
    gpu = Device(device.context, device.device)
    gpu.info = replace(gpu.info, kind="gpu")
    assert load_links([device]).together == 1
    assert load_links([device, device]).together == 0.5
    assert load_links([gpu, gpu]).together == load_links([gpu, device]).together == 1


def test_a_copy_takes_its_latency_and_its_bytes() -> None:
    assert MEASURED.to_device("a", 10**10) == pytest.approx(1 + 1e-6)
    assert MEASURED.from_device("a", 10**10) == pytest.approx(0.5 + 1e-6)
    assert replace(MEASURED, beside=0.5).to_device("a", 10**10, all=True) == pytest.approx(2 + 1e-6)
    assert replace(MEASURED, beside=0.5).from_device("a", 10**10, all=True) == pytest.approx(1 + 1e-6)
    assert MEASURED.to_device("b", int(USUAL_RATE)) == pytest.approx(1 + 1e-6)


def test_measured_rates_are_those_of_a_device(device: Device) -> None:
    told: list[str] = []
    links = measure_links([device, device.sibling()], told.append)
    assert set(links.to) == set(links.fro) == {device.name}
    assert 1e7 < links.to[device.name] < 1e13 and 1e7 < links.fro[device.name] < 1e13
    assert 0 < links.latency < 1 and 0 < links.start < 1 and 0 < links.together <= 1
    assert 0 < links.beside <= 1
    assert len(told) == 3 and told[0].startswith("device 0, ")
