"""Devices that are not there, or lack what a program needs: said before the search begins."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import Device, DeviceInfo, open_device
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.ir.errors import CodegenError, DeviceError, ShapeError

pytestmark = pytest.mark.short


def lacking(monkeypatch: pytest.MonkeyPatch, *, limits: dict[str, Any] | None = None, **info: Any) -> Device:
    """PoCL's device that says it has less."""
    device = Device(open_device("pocl").context, open_device("pocl").device)
    less = replace(device.info.limits, **(limits or {}))
    monkeypatch.setattr(device, "info", replace(device.info, limits=less, **info))
    return device


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("searched for a program that cannot run")

    monkeypatch.setattr("egglift.search.searched", refuse)


@pytest.mark.parametrize(
    "command", [["devices"], ["optimize", "p.egglift"], ["calibrate"], ["batch", "p.egglift", "--out", "o"]]
)
def test_without_a_platform_every_command_ends_in_one_line(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "p.egglift").write_text("(map (fn f32 (neg arg)) (input x [f32]8))")
    # pyopencl finds PoCL's wheel by itself, and a library's loader by its path: neither is there for this run
    code = "import pyopencl as cl, sys\ndef none(): raise cl.LogicError('clGetPlatformIDs: PLATFORM_NOT_FOUND_KHR')"
    code += "\ncl.get_platforms = none\nfrom egglift.cli import main\nsys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, *command], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert "Traceback" not in done.stderr
    if command == ["devices"]:
        assert done.returncode == 0
    else:
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "there is no OpenCL platform: install a driver" in done.stderr
        assert not (tmp_path / "o").exists()


def test_an_unknown_device_is_an_error_that_lists_all(tmp_path: Path) -> None:
    environment = os.environ | {"EGGLIFT_DEVICE": "abacus"}
    (tmp_path / "p.egglift").write_text("(map (fn f32 (neg arg)) (input x [f32]8))")
    done = subprocess.run(
        [sys.executable, "-m", "egglift", "optimize", str(tmp_path / "p.egglift")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no OpenCL device 'abacus'; there are: " in done.stderr
    assert open_device("pocl").name in done.stderr


def test_a_float_the_device_lacks_is_named_before_the_search(monkeypatch: pytest.MonkeyPatch, no_search: None) -> None:
    device, scalar = lacking(monkeypatch, limits={"float64": False}), el.f64
    x = el.array("x", el.f32, 64)
    hidden = x.map(lambda v: (v.cast(scalar) + 1).cast(el.f32))
    for program in (el.array("y", scalar, 64) * 2, hidden):
        with pytest.raises(DeviceError, match=rf"has no {scalar}, which .* is made of; cast .* to f32, or choose"):
            el.optimize(program, device, cache=False)


def test_inputs_and_results_too_large_to_hold_are_counted(monkeypatch: pytest.MonkeyPatch, no_search: None) -> None:
    device = lacking(monkeypatch, memory=1000, buffer=500)
    x, y = el.array("x", el.f32, 100), el.array("y", el.f32, 200)
    with pytest.raises(DeviceError, match=r"inputs and result take 1600 bytes together, but .* has 1000"):
        el.optimize(el.tuple(x + el.array("z", el.f32, 100), x), device, cache=False)
    with pytest.raises(DeviceError, match=r"input y takes 800 bytes, but .* has buffers of 500 at most"):
        el.optimize(y.reduce(el.add), device, cache=False)
    with pytest.raises(DeviceError, match=r"the result takes 40000 bytes"):
        el.optimize(x.map(lambda a: x.map(lambda b: a * b)), device, cache=False)


@pytest.mark.parametrize("shape", [(1 << 40,), (1 << 31, 1 << 31)])
def test_a_program_beyond_every_memory_is_an_error_everywhere(shape: tuple[int, ...]) -> None:
    x = el.fill(shape[0], 1.0) if len(shape) == 1 else el.fill(shape[0], el.fill(shape[1], 1.0))
    with pytest.raises(DeviceError, match=r"the result takes \d+ bytes"):
        el.optimize(x, "pocl", cache=False)


def test_the_interpreter_refuses_more_values_than_fit() -> None:
    x = el.array("x", el.f32, 8)
    with pytest.raises(el.EggliftError, match="do not fit into memory") as caught:
        el.interpret(el.pad_up(1 << 50, x), x=np.ones(8, np.float32))
    assert isinstance(caught.value, MemoryError)


@pytest.mark.parametrize("size", [0, -1, 1 << 20])
def test_a_work_group_that_the_device_refuses_is_named(size: int) -> None:
    program = (el.array("x", el.f32, 64) * 2).expr
    with pytest.raises(CodegenError, match=f"work-groups of {size}: the device allows 1 to 64"):
        compile_term(program, Launch(group_size=size), DeviceLimits(group_size=64))


@pytest.mark.parametrize("limits", [{"group_size": 1}, {"local_bytes": 0}, {"local_bytes": 64, "group_size": 4}])
def test_a_device_of_tiny_groups_or_memory_still_gets_a_kernel(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]
) -> None:
    device = lacking(monkeypatch, limits=limits)
    A, B = el.array("A", el.f32, (16, 12)), el.array("B", el.f32, (12, 20))
    kernel = el.optimize(A @ B, device, measure="none", cache=False)
    a, b = np.ones((16, 12), np.float32), np.ones((12, 20), np.float32)
    np.testing.assert_array_equal(kernel(a, b), a @ b)
    assert all(np.prod(k.local_size) <= device.limits.group_size for k in kernel.plan.kernels)


def test_lengths_beyond_64_bits_are_refused_as_they_are_written() -> None:
    for n in (1 << 63, 10**30, 10**5000):
        with pytest.raises(ShapeError, match=r"at most 2\^62"):
            el.array("x", el.f32, n)
    with pytest.raises(ShapeError, match=r"more than 2\^62 cannot be counted"):
        el.array("x", el.f32, (1 << 40, 1 << 40))


def test_a_device_says_how_large_its_buffers_are() -> None:
    info = open_device("pocl").info
    assert isinstance(info, DeviceInfo)
    assert 0 < info.buffer <= info.memory
