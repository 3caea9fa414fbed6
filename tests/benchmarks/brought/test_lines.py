"""What the runner of the programs that users bring prints."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks.brought.__main__ import main
from benchmarks.brought.lines import line, summary
from benchmarks.brought.programs import chosen
from egglift.codegen.device.device import open_device
from egglift.ir.errors import EggliftError


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["benchmarks.brought", *arguments])
    return main()


def test_a_run_prints_a_line_for_each_and_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(el, "optimize", partial(el.optimize, measure="none"))
    assert run(monkeypatch, "--device", "pocl", "--scale", "small", "outer_update", "maxima_of_columns") == 0
    *rows, counts = map(json.loads, capsys.readouterr().out.splitlines())
    assert [row["program"] for row in rows] == ["outer_update", "maxima_of_columns"]
    for row in rows:
        assert row["size"] == "12" and row["right"] and row["error"] < 1e-5 and row["structure"]
        assert row["of the best peer"] == pytest.approx(row["numpy us"] / row["us"], rel=0.1)
    assert counts["programs"] == 2 and counts["failed"] == counts["wrong"] == 0


def test_a_wrong_result_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    (b,) = chosen(["outer_update"])
    monkeypatch.setattr(el, "optimize", partial(el.optimize, measure="none"))
    wrong = replace(b, numpy=lambda A, x, y: A + np.where(np.arange(12) == 5, 1, 0))
    found = line(wrong, "small", open_device("pocl"))
    assert not found["right"] and found["error"] > 0.1 and "instead of" in found["difference"]


def test_what_has_no_kernel_is_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> Any:
        raise EggliftError("no candidate\nruns")

    monkeypatch.setattr(el, "optimize", none)
    found = line(chosen(["bicg"])[0], "small", open_device("pocl"))
    assert found == {"program": "bicg", "size": "12", "failed": "no candidate runs"}
    assert summary([found])["failed"] == 1


def test_the_last_line_counts_by_the_ratio() -> None:
    found = [{"of the best peer": ratio, "right": ratio != 2.0} for ratio in (0.5, 0.75, 0.9, 1.2, 2.0)]
    assert summary(found) == {
        "programs": 5,
        "at least 0.9": 3,
        "at least 1.2": 2,
        "below 0.75": 1,
        "wrong": 1,
        "failed": 0,
    }


def test_an_unknown_program_is_explained(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run(monkeypatch, "three_mm")
    assert end.value.code == 2 and "there is no program three_mm; there are two_mm" in capsys.readouterr().err
