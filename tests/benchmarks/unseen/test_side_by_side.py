"""What the runner of the programs that were written unseen prints."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import pytest

import egglift as el
from benchmarks.unseen import side_by_side
from benchmarks.unseen.__main__ import main
from benchmarks.unseen.side_by_side import lines_of
from egglift.codegen.device.device import Device, open_device

pytestmark = pytest.mark.short


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["benchmarks.unseen", *arguments])
    return main()


def test_a_run_prints_a_line_for_each_and_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(el, "optimize", partial(el.optimize, measure="none"))
    file = tmp_path / "found.json"
    assert run(monkeypatch, "--device", "pocl", "--out", str(file), "kronecker") == 0
    row, counts = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["program"] == "kronecker" and row["size"] == "4x5" and row["right"] and row["structure"]
    assert row["of the best peer"] == pytest.approx(row["numpy us"] / row["us"], rel=0.1)
    assert counts["programs"] == 1 and counts["failed"] == counts["wrong"] == 0
    kept = json.loads(file.read_text())
    assert kept["results"] == [row] and kept["scale"] == "small" and kept["device"]


def test_processes_side_by_side_have_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "elsewhere", named)
    found = [*lines_of(["morton_codes", "kronecker"], "small", open_device("pocl"), jobs=2)]
    assert sorted(row["program"] for row in found) == ["kronecker", "morton_codes"]


def named(name: str, scale: str, device: str) -> dict[str, str]:
    """In place of a search."""
    return {"program": name, "scale": scale, "device": device}


def test_a_process_that_dies_is_a_failed_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "elsewhere", dying)
    (row,) = lines_of(["kronecker"], "small", open_device("pocl"), jobs=2)
    assert row == {"program": "kronecker", "failed": "a process ended before its time"}


def dying(*_: object, **__: object) -> None:
    """In place of a search that ends its process."""
    import os

    os._exit(1)


def test_elsewhere_opens_the_device_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def one(name: str, scale: str, device: Device) -> dict[str, str]:
        return {"program": name, "device": device.name}

    monkeypatch.setattr(side_by_side, "one", one)
    device = open_device("pocl")
    assert side_by_side.elsewhere("kronecker", "small", device.name)["device"] == device.name


@pytest.mark.parametrize(
    ("arguments", "said"), [(("three_mm",), "there is no program three_mm"), (("--jobs", "0"), "--jobs is at least 1")]
)
def test_what_cannot_be_run_is_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(SystemExit) as end:
        run(monkeypatch, "--device", "pocl", *arguments)
    assert end.value.code == 2 and said in capsys.readouterr().err
