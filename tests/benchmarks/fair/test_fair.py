"""Programs beside their strongest peers: what is measured, and that no peer stops a run or is left out silently."""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks.brought.program import Brought
from benchmarks.demo import difference
from benchmarks.fair.__main__ import main, part
from benchmarks.fair.arrays import ARRAYS
from benchmarks.fair.cases import CASES
from benchmarks.fair.clocks import host_times, in_a_row, our_times
from benchmarks.fair.cupy_peers import KERNELS as CUPY
from benchmarks.fair.job import CORE, Job, chosen, jobs
from benchmarks.fair.lines import beside_one, line, peers, within
from benchmarks.fair.peer import Peer, Times
from benchmarks.fair.rebound import rebound
from benchmarks.fair.torch_library import CONVOLUTIONS
from benchmarks.fair.torch_numpy import TorchNumpy
from benchmarks.fair.triton_peers import KERNELS as TRITON
from benchmarks.programs import sobel
from egglift.codegen.device.device import Device, open_device

pytestmark = [pytest.mark.short, pytest.mark.usefixtures("few_objects")]


@pytest.fixture
def pocl() -> Device:
    return open_device("pocl")


@pytest.fixture(autouse=True)
def by_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(el, "optimize", partial(el.optimize, measure="none"))


def job(name: str) -> Job:
    return next(j for j in jobs("small") if j.key == name)


def peer(name: str, call: Any, absent: str | None = None, ways: bool = True) -> Peer:
    """A peer whose only way is a call; it takes a second."""
    return Peer(
        name,
        lambda: absent,
        lambda _: {"a way": lambda: call} if ways else {},
        lambda _: Times(1.0, 2.0, "wish"),
        _same,
    )


def _same(value: Any) -> Any:
    return value


# ---------------------------------------------------------------------------------------- what is measured


@pytest.mark.parametrize("b", CASES, ids=lambda b: b.name)
def test_a_case_means_what_its_numpy_says(b: Brought) -> None:
    program, inputs = b.program(*b.sizes.small), b.inputs("small")
    assert difference(program, b.numpy(**inputs), el.interpret(program, **inputs)) is None


def test_all_programs_are_there_and_keys_differ() -> None:
    found = list(jobs("gpu"))
    assert {j.of for j in found} == {"catalogue", "brought", "cases"} and len(found) > 125
    assert len({j.key for j in found}) == len(found)


def test_a_name_is_of_a_program_or_of_a_group() -> None:
    assert {j.key for j in chosen(["sobel"], "small")} == {"sobel", "brought/sobel"}
    assert [j.key for j in chosen(["brought/sobel"], "small")] == ["brought/sobel"]
    assert len(chosen(["cases"], "small")) == len(CASES)
    assert {j.key for j in chosen(["core"], "small")} == set(CORE)
    assert [j.name for j in chosen(["jacobi_2d"], "small")] == ["jacobi_2d-5", "jacobi_2d-9"]
    with pytest.raises(ValueError, match="there is no program sobell; there are scal, "):
        chosen(["sobell"], "small")


def test_parts_of_a_run_are_all_of_it() -> None:
    assert part(range(7), "1/1") == list(range(7))
    assert sorted(i for place in (1, 2, 3) for i in part(range(7), f"{place}/3")) == list(range(7))
    for wrong in ("0/3", "4/3", "third"):
        with pytest.raises(ValueError, match="write 1/3"):
            part(range(7), wrong)


def test_what_is_written_for_peers_is_of_a_program() -> None:
    keys = {j.key for j in jobs("small")}
    assert {*ARRAYS, *CUPY, *TRITON, *CONVOLUTIONS} <= keys


# ---------------------------------------------------------------------------------------- how it is written


def test_a_function_of_numpy_is_run_by_another_library() -> None:
    class Other:
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(np, name)

    asked: list[str] = []
    x = sobel.inputs(7, 9, np.random.default_rng(0))["x"]
    assert np.array_equal(rebound(sobel.reference, Other())(x), sobel.reference(x))
    assert asked == ["pad", "sqrt"]  # the pad is in another module
    assert rebound(partial(sobel.reference), Other())(x).shape == x.shape
    assert rebound(exp, Other()) is exp


@pytest.mark.parametrize("key", [key for key in ARRAYS if "/" not in key])
def test_array_operations_mean_what_numpy_says(key: str) -> None:
    found = job(key)
    assert found.arrays is not None
    got = found.arrays(np, **found.inputs)
    assert difference(found.program(), found.numpy(**found.inputs), got) is None


@pytest.mark.parametrize("key", [j.key for j in jobs("small")])
def test_torch_means_what_numpy_says(key: str) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is not installed")
    from benchmarks.fair.torch_peers import torch_peer

    found, beside = job(key), torch_peer("cpu", compiled=False)
    if key.startswith("integer_sums-u") or key in ("bitwise_or", "laplace"):
        pytest.skip("torch has no such operation")
    assert torch and found
    for made in beside.ways(found).values():
        assert difference(found.program(), found.numpy(**found.inputs), beside.host(made()())) is None


def test_numbers_stay_numbers_for_torch() -> None:
    assert TorchNumpy(np).float32(0.25) == 0.25
    with pytest.raises(NotImplementedError, match="mirror image"):
        TorchNumpy(np).pad(np.zeros(3), 2, "symmetric")


# ---------------------------------------------------------------------------------------- what is said


def test_every_peer_has_a_place_in_the_line(pocl: Device) -> None:
    found = job("axpy")
    right = found.numpy(**found.inputs)

    def broken() -> Any:
        raise RuntimeError("no\ngood")

    beside = (
        peer("slow", lambda: right),
        peer("wrong", lambda: right + 1),
        peer("broken", broken),
        peer("missing", broken, absent="it is not installed"),
        peer("silent", broken, ways=False),
    )
    row = line(found, pocl, beside, 60.0)
    assert row["right"] and row["best peer"] == "slow" and row["of the best peer"] > 1 and row["held against"] == "slow"
    assert row["peers"]["slow"] == {"us": 1e6, "in a row us": 2e6, "way": "a way", "timed by": "wish", "right": True}
    assert not row["peers"]["wrong"]["right"] and "instead of" in row["peers"]["wrong"]["difference"]
    assert row["peers"]["broken"] == {"failed": "a way: RuntimeError: no good"}
    assert row["absent"] == {"missing": "it is not installed", "silent": "not written for this program"}


def test_a_wrong_first_peer_makes_no_other_wrong(pocl: Device) -> None:
    found = job("axpy")
    right = found.numpy(**found.inputs)
    row = line(found, pocl, (peer("wrong", lambda: right + 1), peer("right", lambda: right)), 60.0)
    assert row["right"] and row["held against"] == "right" and row["best peer"] == "right"
    assert not row["peers"]["wrong"]["right"]


def test_without_a_right_peer_there_is_no_ratio(pocl: Device) -> None:
    found = job("axpy")
    row = line(found, pocl, (peer("wrong", lambda: found.inputs["x"]),), 60.0)
    assert row["right"] and row["held against"] == "numpy" and "best peer" not in row


def test_a_peer_that_takes_too_long_is_stopped(pocl: Device) -> None:
    row, result = beside_one(job("axpy"), peer("endless", lambda: time.sleep(60)), 0.2, pocl)
    assert result is None and isinstance(row, dict) and "TimeoutError" in row["failed"]
    with within(5.0):
        pass  # what is in time is left alone


def test_a_program_without_a_kernel_is_a_line(pocl: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> Any:
        raise el.EggliftError("no candidate\nruns")

    monkeypatch.setattr(el, "optimize", none)
    assert line(job("axpy"), pocl, (), 60.0)["failed"] == "EggliftError: no candidate runs"


def test_peers_of_a_gpu_are_absent_with_a_reason_here() -> None:
    beside = peers("gpu")
    assert [p.name for p in beside] == ["torch", "torch.compile", "cupy", "jax", "triton"]
    assert all(p.absent() for p in beside)


def test_small_calls_are_timed_many_in_a_row() -> None:
    asked: list[int] = []

    def once(count: int) -> float:
        asked.append(count)
        return 1e-6 * count

    assert in_a_row(once) == pytest.approx(1e-6) and asked[-1] == 20
    assert in_a_row(lambda count: 1.0 * count) == 1.0
    assert host_times(lambda: None).how == "calls"


def test_our_kernel_is_timed_with_and_without_launching(pocl: Device) -> None:
    found = job("axpy")
    times = our_times(el.optimize(found.program(), pocl), found.inputs)
    assert times.how == "the device's clock" and times.in_a_row >= times.seconds > 0


def test_a_run_prints_keeps_and_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "fair.json"
    arguments = ["--device", "pocl", "--scale", "small", "--peers", "numpy,numexpr", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["benchmarks.fair", *arguments, "axpy", "brought/outer_update"])
    assert main() == 0
    *rows, counts = map(json.loads, capsys.readouterr().out.splitlines())
    assert [(row["program"], row["of"]) for row in rows] == [("axpy", "catalogue"), ("outer_update", "brought")]
    for row in rows:
        assert row["right"] and row["peers"]["numpy"]["right"] and row["of the best peer"] > 0
        assert {"numpy", "numexpr"} == {*row["peers"], *row["absent"]}
    assert counts["programs"] == 2 and counts["wrong"] == counts["failed"] == counts["left out"] == 0
    kept = json.loads(out.read_text())
    assert kept["results"] == rows and kept["peers"] == ["numpy", "numexpr"] and kept["device"]


def test_what_a_limit_leaves_out_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--device", "pocl", "--scale", "small", "--peers", "numpy", "--seconds-limit", "0.000001"]
    monkeypatch.setattr(sys, "argv", ["benchmarks.fair", *arguments, "axpy"])
    assert main() == 0
    row, counts = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["left out"] == "not begun in time" and counts["left out"] == 1 and counts["programs"] == 0


def test_an_unknown_peer_is_explained(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks.fair", "--device", "pocl", "--peers", "thrust", "axpy"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2 and "there is no peer 'thrust'; there are numpy" in capsys.readouterr().err
