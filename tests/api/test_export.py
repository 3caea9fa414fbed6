"""Kernels as programs that need no egglift."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import egglift as el
from benchmarks.programs.catalogue import Entry, entries
from egglift.cli import main
from egglift.costmodel.measurement.expected_results import expect, flatten
from tests.codegen.export.c_compiler import compiled, execute, results
from tests.deep import sampled

pytestmark = pytest.mark.short

#: an iteration of several launches, several kernels, records, doubles
OFTEN = {"mean_variance", "nbody", "jacobi_2d-5"}


def small(e: Entry) -> tuple[int, ...]:
    """The largest size of which a step takes no time."""
    return max((s for s in e.sizes if np.prod(s) < 20_000), key=np.prod)


@pytest.mark.parametrize("e", sampled(entries(), lambda e: e.name in OFTEN), ids=lambda e: e.name)
def test_an_exported_program_computes_its_results(e: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("egglift.search.TRIES", 4)  # whatever is chosen is exported
    program = el.as_program(e.program(*small(e)))
    kernel = el.optimize(program, "pocl", measure="none", cache=False)
    kernel.export(tmp_path / "made", name="program")
    expected = expect(program, seed=3)
    given = [leaf for name in kernel.inputs for leaf in flatten(expected.inputs[name])]
    outputs = [(b.size, b.scalar.dtype) for b in kernel.plan.outputs]
    assert expected.disagreement(results(tmp_path / "made", "program", given, outputs)) is None


def test_the_command_line_exports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = el.array("x", el.f32, 100)
    (tmp_path / "twice.egglift").write_text(el.dumps(el.as_program(2 * x)))
    command = ["optimize", str(tmp_path / "twice.egglift"), "--device", "pocl", "--measure", "none", "--no-cache"]
    assert main([*command, "--export", str(tmp_path / "twice")]) == 0
    example = compiled(tmp_path / "example", *sorted((tmp_path / "twice").glob("*.c")))
    assert execute(example).stdout == "out: 0 2 4 6 8 10 12 0\n"
    assert main([*command, "--export", str(tmp_path / "in_python"), "--language", "python"]) == 0
    assert [f.name for f in (tmp_path / "in_python").iterdir()] == ["in_python.py"]
    assert main([*command, "--export", str(tmp_path)]) == 2
    assert "export into a folder" in capsys.readouterr().err


def test_fast_math_goes_along(tmp_path: Path) -> None:
    x = el.array("x", el.f32, 100)
    kernel = el.optimize(el.exp(x), "pocl", measure="none", cache=False, fast_math=True)
    kernel.export(tmp_path / "exps")
    assert 'OPTIONS[] = "-w -cl-fast-relaxed-math"' in (tmp_path / "exps" / "exps.c").read_text()


def test_a_nest_in_c_comes_back_as_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nest.c").write_text("void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] = x[i] * 2 + i; }")
    command = ["optimize", str(tmp_path / "nest.c"), "--device", "pocl", "--measure", "none", "--no-cache"]
    assert main([*command, "--size", "n=10", "--export", str(tmp_path / "made")]) == 0
    example = compiled(tmp_path / "example", *sorted((tmp_path / "made").glob("*.c")))
    assert execute(example).stdout == "out: 0 3 6 9 12 15 18 7\n"
    assert main(command) == 2
    assert "give sizes={'n': ...}" in capsys.readouterr().err
