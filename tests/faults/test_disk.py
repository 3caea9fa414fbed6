"""Disks that are full, read-only, or hold something else where the cache should be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import egglift as el

pytestmark = pytest.mark.short

X = np.arange(8, dtype=np.float32)
PROGRAM = el.array("x", el.f32, 8) * 2


def right() -> None:
    np.testing.assert_array_equal(el.optimize(PROGRAM, "pocl", measure="none")(X), 2 * X)


@pytest.mark.parametrize("kind", ["a file", "a device", "a link to nowhere", "below a file"])
def test_where_the_cache_is_no_folder_work_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = tmp_path / "cache"
    match kind:
        case "a file":
            path.write_text("mine")
        case "a device":
            path = Path("/dev/null")
        case "a link to nowhere":
            path.symlink_to(tmp_path / "nowhere" / "at all")
        case "below a file":
            path.write_text("mine")
            path = path / "cache"
    monkeypatch.setenv("EGGLIFT_CACHE", str(path))
    with pytest.warns(RuntimeWarning, match=r"cannot (read|write) .*(not kept|without what it holds)"):
        right()


@pytest.mark.parametrize("error", [28, 30, 122], ids=["full", "read-only", "quota"])
def test_where_nothing_can_be_written_the_work_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))

    def refuse(*_: object) -> int:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr("egglift.costmodel.records.jsonl.os.write", refuse)
    with pytest.warns(RuntimeWarning, match="results are not kept"):
        right()


def test_a_disk_that_fills_up_in_a_line_loses_only_that_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    write, left = os.write, [100]

    def some(descriptor: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(28, os.strerror(28))
        count = write(descriptor, data[: left[0]])
        left[0] -= count
        return count

    with monkeypatch.context() as patch:
        patch.setattr("egglift.costmodel.records.jsonl.os.write", some)
        with pytest.warns(RuntimeWarning, match="results are not kept"):
            right()
    assert (tmp_path / "records.jsonl").stat().st_size == 100
    other = el.array("x", el.f32, 8) + 1
    with pytest.warns(RuntimeWarning, match="(holds a line that is no record|ends in the middle of a record)"):
        el.optimize(other, "pocl", measure="none")
    assert len((tmp_path / "records.jsonl").read_bytes().splitlines()) == 2


def test_results_the_disk_refuses_are_an_error_in_one_line(tmp_path: Path) -> None:
    program = tmp_path / "p.egglift"
    program.write_text(el.dumps(PROGRAM))
    command = [sys.executable, "-m", "egglift", "batch", str(program), "--out", "/dev/full", "--measure", "none"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr == "egglift: cannot write /dev/full: No space left on device\n"


def test_without_a_home_there_is_still_a_cache(tmp_path: Path) -> None:
    code = "from egglift.costmodel.records.cache_folder import cache_folder; print(cache_folder())"
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME", "EGGLIFT_CACHE")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip().endswith("egglift")
