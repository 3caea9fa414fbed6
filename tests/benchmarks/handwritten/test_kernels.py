"""The kernels by hand compute what their programs mean, in every way that they are launched; and what is printed."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks.handwritten.__main__ import main
from benchmarks.handwritten.catalogue import KERNELS, chosen
from benchmarks.handwritten.kernel import ByHand, Subject
from benchmarks.handwritten.lines import Ours, fastest, line, lines, summary
from benchmarks.handwritten.reductions import _until_one
from benchmarks.programs.convolution_forms import FORMS
from egglift.codegen.device.device import Device, open_device
from egglift.codegen.device.execute import Executable, Timing
from tests.deep import every


@pytest.fixture
def pocl() -> Device:
    return open_device("pocl")


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is timed for long, and egglift's kernel is the model's first."""
    time = Executable.time
    monkeypatch.setattr(Executable, "time", lambda self, given, **_: time(self, given, least=1, most=1, warmup=0))
    monkeypatch.setattr(el, "optimize", partial(el.optimize, measure="none"))


def expected(subject: Subject) -> Ours:
    """What is right at the small scale, without a kernel of egglift's."""
    size = subject.sizes.small
    inputs = subject.inputs(*size, np.random.default_rng(0))
    program = el.as_program(subject.program(*size))
    return Ours(size, program, inputs, subject.reference(**inputs), 1.0, "none", None)


@pytest.mark.parametrize("kernel", every(5, KERNELS), ids=lambda k: k.name)
def test_a_kernel_by_hand_is_right_in_every_way(kernel: ByHand, pocl: Device) -> None:
    found = expected(kernel.subject)
    row = line(replace(kernel, derived=None), found, pocl)
    assert row["right"] and row["us"] > 0 and row["launched"], row.get("wrong")


def test_there_are_all_that_are_asked_for() -> None:
    names = [k.name for k in KERNELS]
    assert names[:7] == [f"reduce{i}" for i in range(7)]
    assert [name for name in names if name.startswith("conv")] == [f"convolution_{form}" for form in FORMS]
    assert {"md", "md_rows", "stencil_2d", "nbody"} <= set(names) and len(names) == 24


@pytest.mark.parametrize(("n", "launches"), [(1, 1), (256, 1), (257, 2), (256**2, 2), (256**2 + 1, 3)])
def test_sums_are_added_until_one_is_left(n: int, launches: int) -> None:
    way = _until_one(n, 256, 256, n, {})
    assert len(way.calls) == launches and way.calls[-1].items == (256,)
    assert [call.buffers[1] for call in way.calls] == [*way.temporaries, "out_0"]


def test_few_groups_leave_few_sums() -> None:
    way = _until_one(1 << 20, 256, 512, 16, {})
    assert dict(way.temporaries) == {"sums_0": 16}


def test_a_wrong_kernel_is_told(pocl: Device) -> None:
    (kernel,) = chosen(["stencil_2d"])
    found = expected(kernel.subject)
    row = line(kernel, replace(found, expected=found.expected + 1), pocl)
    assert not row["right"] and row["us"] is None and "instead of" in row["wrong"]


def test_a_launch_that_fails_is_told(pocl: Device) -> None:
    (kernel,) = chosen(["stencil_2d"])
    found = expected(kernel.subject)
    ways = partial(_too_large, kernel)
    row = line(replace(kernel, ways=ways), found, pocl)
    assert not row["right"] and "work-items per group" in row["wrong"]


def _too_large(kernel: ByHand, size: Any, device: Device) -> Any:
    (way, *_) = kernel.ways(size, device)
    return [replace(way, calls=(replace(way.calls[0], group=(1 << 20, 1)),))]


def test_the_fastest_way_counts(pocl: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    (kernel,) = chosen(["nbody"])
    found = expected(kernel.subject)
    times = iter([3e-6, 1e-6, 2e-6])
    monkeypatch.setattr(Executable, "time", lambda *_, **__: Timing(seconds := next(times), (seconds,), ()))
    arrays = kernel.layout(found.inputs)
    plans = [(kernel.plan(way, found.size, arrays), str(i)) for i, way in enumerate(kernel.ways(found.size, pocl)[:3])]
    assert (best := fastest(plans, arrays, found, pocl)).how == "1" and best.seconds == 1e-6


def test_a_derived_kernel_is_beside_the_one_by_hand(pocl: Device) -> None:
    (kernel,) = chosen(["convolution_05"])
    row = line(kernel, expected(kernel.subject), pocl)
    assert row["derived right"] and row["derived us"] > 0


def test_a_program_without_a_kernel_is_a_line_for_each(pocl: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> Any:
        raise el.EggliftError("no candidate\nruns")

    monkeypatch.setattr(el, "optimize", none)
    found = list(lines(chosen(["md"]), "small", pocl))
    assert [row["failed"] for row in found] == ["no candidate runs"] * 2
    assert summary(found)["failed"] == 2


def test_a_run_prints_keeps_and_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "new" / "by_hand.json"
    arguments = ["--device", "pocl", "--scale", "small", "--out", str(out), "reduce6"]
    monkeypatch.setattr(sys, "argv", ["benchmarks.handwritten", *arguments])
    assert main() == 0
    *rows, counts = map(json.loads, capsys.readouterr().out.splitlines())
    assert [row["kernel"] for row in rows] == ["reduce6", "llp1", "llp2", "llp3"]
    assert all(row["right"] and row["egglift right"] and row["GB/s"] >= 0 for row in rows)
    assert rows[0]["of the kernel by hand"] == pytest.approx(rows[0]["us"] / rows[0]["egglift us"], rel=0.1)
    assert counts["kernels"] == 4 and counts["wrong"] == counts["failed"] == 0
    kept = json.loads(out.read_text())
    assert kept["results"] == rows and kept["scale"] == "small" and kept["versions"]["numpy"]


def test_an_unknown_kernel_is_explained() -> None:
    with pytest.raises(ValueError, match="there is no kernel reduce9; there are reduce0, "):
        chosen(["md", "reduce9"])
