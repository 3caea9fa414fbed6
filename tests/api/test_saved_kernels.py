"""Kernels in files and pickles: `kernel.save(path)`, `el.load(path)`."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import open_device, opencl
from egglift.search import Searched

pytestmark = pytest.mark.short

N = 256
X = np.arange(N, dtype=np.float32)
Y = X[::-1].copy()


@pytest.fixture(scope="module")
def dot() -> el.Kernel:
    x, y = el.array("x", el.f32, N), el.array("y", el.f32, N)
    return el.optimize((x * y).reduce(el.add, 0.0), "pocl", measure="none", cache=False, fast_math=True)


@pytest.fixture
def saved(dot: el.Kernel, tmp_path: Path) -> Path:
    dot.save(tmp_path / "dot.kernel")
    return tmp_path / "dot.kernel"


@pytest.fixture(autouse=True)
def pocl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_DEVICE", "pocl")


def same(a: el.Kernel, b: el.Kernel) -> None:
    assert a.program is b.program and a.term is b.term and a.source == b.source and a.options == b.options
    assert a(X, Y) == b(X, Y) == X @ Y


def test_a_loaded_kernel_is_the_saved_one(dot: el.Kernel, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Searched, "by_all_ways", lambda *_: pytest.fail("it is searched again"))
    for path in (saved, str(saved)):
        same(dot, el.load(path))
    assert el.load(saved).chosen.laws == dot.chosen.laws


def test_it_is_built_for_the_device_that_is_asked_for(dot: el.Kernel, saved: Path) -> None:
    own = opencl().CommandQueue(opencl().Context([dot.device.device]))
    k = el.load(saved, own)
    assert k.device.queue == own
    same(dot, k)
    with pytest.raises(el.DeviceError, match="no OpenCL device 'nowhere'"):
        el.load(saved, device="nowhere")


def test_another_process_unpickles_it(dot: el.Kernel, tmp_path: Path) -> None:
    (tmp_path / "k").write_bytes(pickle.dumps(dot))
    code = "import pickle, sys, numpy as np; k = pickle.load(open(sys.argv[1], 'rb')); x = np.ones(256, np.float32); "
    done = subprocess.run(
        [sys.executable, "-c", f"{code}print(k(x, x))", str(tmp_path / "k")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "256.0\n"


def test_a_copy_is_the_kernel_itself(dot: el.Kernel) -> None:
    assert copy.copy(dot) is dot and copy.deepcopy([dot])[0] is dot


def test_a_schedules_account_is_kept(tmp_path: Path) -> None:
    x = el.array("A", el.f32, (64, 128))
    k = el.optimize(x.map(lambda row: row.reduce(el.add, 0.0)), "pocl", measure="none", cache=False)
    k.save(tmp_path / "k")
    assert el.load(tmp_path / "k").explain() == k.explain()


# ---------------------------------------------------------------------------------------- files that are no kernels


@pytest.mark.parametrize("text", ["", "{}", "[1]", "egglift", "{" * 10000, '{"kind": "egglift"}', "\0\1"])
def test_a_file_that_is_no_kernel_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "k").write_text(text)
    with pytest.raises(el.RecordError, match=r"k is no kernel of egglift; kernel.save\(path\) writes one"):
        el.load(tmp_path / "k")


def test_a_missing_or_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(el.RecordError, match="cannot read a kernel from .*k: No such file"):
        el.load(tmp_path / "k")
    (tmp_path / "k").write_bytes(bytes(range(256)))
    with pytest.raises(el.RecordError, match="it is no text"):
        el.load(tmp_path / "k")


@pytest.mark.parametrize(("field", "value"), [("format", 0), ("egglift", "0.0.1")])
def test_a_kernel_of_another_version_is_refused(saved: Path, field: str, value: Any) -> None:
    saved.write_text(json.dumps(json.loads(saved.read_text()) | {field: value}))
    match = rf"was saved by egglift .*{value}.*, and this is egglift .*; optimise the program again"
    with pytest.raises(el.RecordError, match=match):
        el.load(saved)


@pytest.mark.parametrize(
    ("field", "value"),
    [("program", "(input x [f32]8"), ("program", 7), ("chosen", {}), ("laws", None), ("measure", "often")],
)
def test_a_damaged_kernel_is_refused(saved: Path, field: str, value: Any) -> None:
    saved.write_text(json.dumps(json.loads(saved.read_text()) | {field: value}))
    with pytest.raises(el.RecordError, match=r"is damaged: .*; optimise the program again"):
        el.load(saved)


def test_a_term_of_another_type_is_refused(saved: Path) -> None:
    data = json.loads(saved.read_text())
    saved.write_text(json.dumps(data | {"program": el.dumps(el.array("x", el.f32, N))}))
    with pytest.raises(el.RecordError, match="its term is not of its program's type"):
        el.load(saved)


def test_a_device_that_cannot_run_it_says_so(saved: Path) -> None:
    data = json.loads(saved.read_text())
    group = 2 * open_device("pocl").limits.group_size
    x = el.array("x", el.f32, 4 * group)
    data["program"] = data["chosen"]["term"] = el.dumps(x + 1.0)
    data["chosen"]["launch"]["group_size"] = group
    saved.write_text(json.dumps(data))
    with pytest.raises(el.DeviceError, match=r"holds a kernel that .* cannot run: .*; optimise the program for this"):
        el.load(saved)


# ---------------------------------------------------------------------------------------- whole or not at all


def test_what_was_there_stays_where_the_disk_is_full(
    dot: el.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "k"
    path.write_text("before")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(el.RecordError, match="cannot write .*k: No space left on device"):
        dot.save(path)
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_a_folder_is_made_and_one_in_the_way_is_named(dot: el.Kernel, tmp_path: Path) -> None:
    dot.save(tmp_path / "new" / "k")
    assert el.load(tmp_path / "new" / "k")(X, Y) == X @ Y
    with pytest.raises(el.RecordError, match="cannot write .*new"):
        dot.save(tmp_path / "new")
