"""Kernels that cannot be built, with what is known of them, in files that errors and records name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from egglift.codegen.device.device import Device, open_device
from egglift.codegen.device.execute import build
from egglift.costmodel.measurement.bench import Local, Measurement
from egglift.costmodel.measurement.measure import measure
from egglift.costmodel.measurement.measuring import Measuring
from egglift.costmodel.measurement.refused_kernels import keep_failure, named, with_file
from egglift.ir.errors import BuildError, DeviceLost, EggliftError, OutOfMemory
from tests.costmodel.measurement.test_measure import GOOD, SUBJECT, candidate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    return tmp_path / "failures"


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("pocl")


@pytest.mark.parametrize("isolate", [False, True])
def test_a_kernel_that_is_not_compiled_is_kept_with_its_log(device: Device, folder: Path, isolate: bool) -> None:
    broken = candidate("y[0] = undeclared; /* a remark */")
    for _ in range(2):
        (found,) = measure([broken], SUBJECT, device, Measuring(isolate=isolate))
        (file,) = folder.iterdir()
        assert found.status == "build"
        assert found.reason.endswith(f"; kernel and log are in {file}")
        source, _, log = file.read_text().partition("/* The compiler's log:")
        assert source.strip() == broken.source.strip()
        assert "undeclared" in log
        assert log.count("*/") == 1  # what the log quotes does not end the comment


def test_a_build_error_names_the_file(device: Device, folder: Path) -> None:
    with pytest.raises(BuildError) as caught:
        build(device, candidate("y[0] = undeclared;"))
    error = named(caught.value)
    (file,) = folder.iterdir()
    assert str(error) == f"{caught.value}; kernel and log are in {file}"
    assert (error.source, error.log) == (caught.value.source, caught.value.log)


def test_other_measurements_are_as_they_were(folder: Path) -> None:
    for status in ("ok", "wrong", "launch", "skipped"):
        assert with_file(m := Measurement(GOOD, status, "why")) is m
    assert not folder.exists()


def test_where_nothing_can_be_kept_the_error_is_as_it_was(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = BuildError("refused", "kernel", "log")
    folder.write_text("a file")
    assert keep_failure("kernel", "log") is None
    assert named(error) is error
    monkeypatch.setenv("EGGLIFT_CACHE", "off")
    assert named(error) is error
    assert named(BuildError("more work-items than there may be")).source == ""


@pytest.mark.parametrize(
    ("error", "status"),
    [(OutOfMemory("no room"), "memory"), (DeviceLost("gone"), "lost"), (EggliftError("no"), "launch")],
)
def test_what_a_device_refuses_is_the_candidates_status(
    device: Device, monkeypatch: pytest.MonkeyPatch, error: EggliftError, status: str
) -> None:
    bench = Local(device, SUBJECT)

    def refuse(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("egglift.codegen.device.execute.Executable.run", refuse)
        found = bench.run(GOOD, 0.01)
    assert (found.status, found.reason, found.seconds) == (status, str(error), None)
    other = replace(GOOD, kernels=(replace(GOOD.kernels[0], local_size=(20,)),))
    assert bench.run(other, 0.01).status == "ok"
    monkeypatch.setattr("egglift.codegen.device.execute.Executable.time", refuse)
    assert bench.run(other, 0.01).status == ("implausible" if status == "launch" else status)
