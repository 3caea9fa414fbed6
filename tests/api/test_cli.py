"""The command line, on PoCL."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from egglift.batch import run_batch
from egglift.cli import main
from egglift.codegen.device.device import devices
from egglift.costmodel.calibration.calibrate import STAGES
from egglift.costmodel.calibration.probe_timer import Rig
from egglift.ir.errors import RecordError
from egglift.ir.parser import loads
from egglift.ir.patterns import Apply, Arg, Input, Map
from egglift.ir.text import dumps
from egglift.ir.types import F32, Array

pytestmark = pytest.mark.short


def program(folder: Path, op: str, n: int = 100) -> str:
    """A file with the text of `map op x`."""
    path = folder / f"{op}.egglift"
    path.write_text(dumps(Map(Apply(op, (Arg(F32),)), Input("x", Array(n, F32)))))
    return str(path)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path / "cache"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_devices_lists_every_device_as_text_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "devices")
    assert status == 0
    assert all(d.name in out for d in devices())
    status, out, _ = run(capsys, "devices", "--json")
    assert [d["name"] for d in json.loads(out)] == [d.name for d in devices()]


def test_optimize_shows_source_candidates_and_check(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, err = run(capsys, "optimize", program(tmp_path, "neg"), "--device", "pocl", "--measure", "none")
    assert (status, err) == (0, "")
    assert "kernel" in out
    assert "Candidates" in out
    assert "agrees with NumPy" in out


def test_optimize_as_json_carries_what_a_tool_needs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = program(tmp_path, "neg")
    options = ("--measurements", "2", "--deadline", "30", "--no-isolate")
    status, out, err = run(capsys, "optimize", file, "--device", "pocl", "--budget", "1", "--json", *options)
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert result["check"] is None
    assert result["program"] == Path(file).read_text()
    assert result["chosen"] in result["candidates"]
    assert result["chosen"]["measured"] > 0
    loads(result["chosen"]["term"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("optimize", "missing.egglift"), "cannot read missing.egglift"),
        (("optimize", "GOOD", "--device", "no such"), "no OpenCL device 'no such'; there are"),
        (("batch", "GOOD", "--device", "no such", "--out", "OUT"), "no OpenCL device"),
        (("calibrate", "--device", "no such"), "no OpenCL device"),
        (("batch", "GOOD", "--device", "pocl", "--out", "GOOD"), "is no result of a batch"),
        (("batch", "GOOD", "--device", "pocl", "--out", "/nowhere/x"), "cannot write"),
        (("batch", "GOOD", "--device", "pocl", "--out", "OUT", "--cluster", "nowhere"), "no dask scheduler answers"),
    ],
)
@pytest.mark.usefixtures("searched_here")
def test_an_error_is_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    good = program(tmp_path, "neg")
    Path(good).write_text(Path(good).read_text() + "\n\n")
    names = {"GOOD": good, "OUT": str(tmp_path / "out")}
    if "/nowhere/x" in arguments:
        (tmp_path / "file").write_text("")
        names["/nowhere/x"] = str(tmp_path / "file" / "x")
    status, out, err = run(capsys, *(names.get(a, a) for a in arguments))
    assert status == 2
    assert err.count("\n") == 1
    assert err.startswith("egglift: ")
    assert message in err
    assert out == ""


def test_wrong_arguments_end_with_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        (),
        ("optimize",),
        ("batch", "f", "--out", "o", "--jobs", "0"),
        ("optimize", "f", "--measure", "x"),
        ("optimize", "f", "--measurements", "0"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
    assert "usage" in capsys.readouterr().err


def rows(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()]


@pytest.mark.usefixtures("searched_here")
def test_a_batch_does_every_program_and_goes_on_where_it_stopped(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    neg, absolute, out = program(tmp_path, "neg"), program(tmp_path, "abs"), tmp_path / "results.jsonl"
    common = ("--device", "pocl", "--measure", "none", "--jobs", "1", "--out", str(out))
    status, text, err = run(capsys, "batch", neg, *common)
    assert (status, err) == (0, "")  # no progress bar where there is no terminal
    assert "1 done, 0 failed, 0 skipped" in text
    with out.open("a") as file:
        file.write('{"name": "torn')  # as an interruption leaves it
    status, text, _ = run(capsys, "batch", neg, absolute, str(tmp_path / "missing"), *common, "--json")
    assert status == 1
    assert {k: json.loads(text)[k] for k in ("done", "failed", "skipped")} == {
        "done": 1,
        "failed": 1,
        "skipped": 1,
    }
    good = [json.loads(line) for line in out.read_text().splitlines() if not line.endswith("torn")]
    assert [row["name"] for row in good] == [neg, str(tmp_path / "missing"), absolute]
    assert "cannot read" in good[1]["error"]
    assert good[2]["chosen"]["term"]


def test_a_batch_measures_in_the_parent_and_keeps_the_kernel(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    summary = run_batch([program(tmp_path, "neg")], "pocl", out, measurements=1, jobs=1)
    assert (summary.done, summary.failed) == (1, 0)
    (row,) = rows(out)
    assert row["chosen"]["measured"] > 0
    assert "kernel" in row["source"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("searched_here")
def test_the_progress_bar_shows_on_a_terminal_only(tmp_path: Path) -> None:
    files, out = [program(tmp_path, "neg"), str(tmp_path / "missing")], tmp_path / "r.jsonl"
    terminal, pipe = Terminal(), io.StringIO()
    run_batch(files, "pocl", out, measure="none", jobs=1, progress=terminal)
    assert "[##############################] 2/2" in terminal.getvalue()
    run_batch(files, "pocl", out, measure="none", jobs=1, progress=pipe)
    assert pipe.getvalue() == ""


def test_a_file_that_holds_something_else_is_not_appended_to(tmp_path: Path) -> None:
    out = tmp_path / "notes.txt"
    out.write_text("my notes\nof yesterday\n")
    with pytest.raises(RecordError, match=r"notes.txt:1 is no result of a batch"):
        run_batch([program(tmp_path, "neg")], "pocl", out, measure="none")
    assert out.read_text() == "my notes\nof yesterday\n"


def test_calibrate_prints_stages_or_a_profile_and_keeps_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = {name: STAGES[name] for name in ("launch", "starts")}
    monkeypatch.setattr("egglift.costmodel.calibration.calibrate.STAGES", stages)
    status, out, _ = run(capsys, "calibrate", "--device", "pocl", "--json")
    assert status == 0
    assert json.loads(out)["kind"] == "cpu"
    status, out, _ = run(capsys, "calibrate", "--device", "pocl")
    (kept,) = (tmp_path / "cache" / "profiles").iterdir()
    assert status == 0
    assert re.fullmatch(rf"launch: launch \d.*s; gap .*s\nstarts: .*s\nkept in {kept}\n", out)


def test_an_interrupted_calibration_goes_on_or_starts_afresh(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(rig: Rig) -> dict[str, object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "egglift.costmodel.calibration.calibrate.STAGES", {"launch": STAGES["launch"], "starts": interrupted}
    )
    for options, again in (((), True), ((), False), (("--fresh",), True)):
        status, out, err = run(capsys, "calibrate", "--device", "pocl", *options)
        assert (status, err) == (130, "egglift: interrupted\n")
        assert out.startswith("launch: launch" if again else "launch: kept from")
