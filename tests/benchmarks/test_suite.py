"""The benchmark suite: what it writes, and what its figures mean."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import report, suite
from benchmarks.__main__ import main
from benchmarks.baselines import TORCH
from benchmarks.blas import CLBLAST, blas_call, blas_seconds
from benchmarks.floor import floor, rate
from benchmarks.jitted import jitted
from benchmarks.line import Line
from benchmarks.peers import EXPRESSIONS, absent, peer
from benchmarks.programs.catalogue import Entry, Size, chosen, entries, size_text
from benchmarks.published import LIFT, published
from benchmarks.suites import SUITES, programs
from egglift.codegen.device.device import open_device
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.profiles.profile import Cache, load_profile, presets
from egglift.ir.lifting import as_program
from egglift.ir.types import F32, F64


def entry(name: str) -> Entry:
    (found,) = (e for e in entries() if e.name == name)
    return found


def jobs(*wanted: str) -> list[tuple[Entry, Size]]:
    return list(chosen(wanted, lambda e: e.sizes[0]))


# ---------------------------------------------------------------------------------------- what is run


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_suites_name_programs_and_sizes_that_there_are(kind: str) -> None:
    for name in SUITES:
        wanted = programs(name, kind)
        found = jobs(*wanted)
        assert [f"{e.name}:{size_text(size).replace('x', ',')}" for e, size in found] == list(wanted)


def test_all_programs_of_the_catalogue_are_in_a_suite() -> None:
    assert sorted(SUITES["all"]) == sorted(e.name for e in entries())


def test_peers_and_the_literature_name_programs_that_there_are() -> None:
    names = {e.name for e in entries()}
    assert names >= EXPRESSIONS.keys() and names >= LIFT.keys() and names >= CLBLAST.keys() | TORCH.keys()


def test_a_run_writes_json_a_table_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "calibrate", load_profile)
    lines = suite.run("tiny", jobs("scal:1000", "nrm2:1000"), open_device("pocl"), ("numpy", "torch"), tmp_path)
    assert [line.result for line in lines] == ["equal", "equal"]
    data = json.loads((tmp_path / "tiny.json").read_text())
    assert [r["program"] for r in data["results"]] == ["scal", "nrm2"]
    assert {"device", "driver", "date", "profile"} <= data.keys()
    assert {"egglift", "egglog", "numpy", "pyopencl"} <= data["versions"].keys()
    assert any(seconds for _, _, seconds in data["results"][0]["candidates"])
    table = (tmp_path / "tiny.md").read_text()
    assert "| scal | 1000 |" in table and "x numpy" in table and "x numba" not in table
    if absent("torch"):
        assert "x torch" not in table and "No column torch: " in table
    try:
        import matplotlib as matplotlib
    except ImportError:
        return
    assert {p.name for p in tmp_path.glob("*.png")} == {"tiny.png", "tiny_times.png", "tiny_model.png"}


@pytest.mark.deep
def test_searches_on_a_cluster_give_the_same_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="dask is not installed: pip install 'egglift[cluster]'")
    monkeypatch.setattr(suite, "calibrate", load_profile)
    (line,) = suite.run("far", jobs("scal:1000"), open_device("pocl"), (), tmp_path, "local")
    assert (line.result, line.search) == ("equal", None)


def test_what_has_no_kernel_is_a_line_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(text: str, *_: Any) -> Any:
        raise suite.EggliftError("no candidate\nruns")

    monkeypatch.setattr(suite, "calibrate", load_profile)
    monkeypatch.setattr(suite, "search", none)
    (line,) = suite.run("none", jobs("scal:1000"), open_device("pocl"), ("numpy",), tmp_path)
    assert line.seconds is None and line.result == "no candidate runs"
    assert "| scal | 1000 | - | - |" in (tmp_path / "none.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dott:3",), "there is no program dott"),
        (("dot:3", "--against", "numpy,abacus"), "--against abacus: choose from numpy, numexpr"),
        (("dot:3", "--device", "no such"), "no OpenCL device 'no such'"),
    ],
)
def test_wrong_arguments_are_explained(
    arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "run", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2 and message in capsys.readouterr().err


# ---------------------------------------------------------------------------------------- what figures mean


def test_lifts_ratios_are_those_of_its_papers() -> None:
    found = published("scal")
    assert found is not None and 0 < found.least < found.most
    assert str(published("hotspot_3d")) == "0.81 to 1.22 (hand-OpenCL)"
    assert published("ten_maps") is None


def test_a_table_says_the_speedup_and_the_share_of_the_floor() -> None:
    line = Line("dot", "8", 2e-6, 1e-6, "memory", "G(c)", 1.0, {"numpy": 6e-6}, published("hotspot_3d"))
    row = report.row(line, ("numpy", "clblast"))
    assert row == "| dot | 8 | 2.0 | 0.50 (memory) | 3.00 |  | 0.81 to 1.22 (hand-OpenCL) | equal |"
    table = report.markdown([line], ("numpy",), {"numba": "numba cannot be imported"}, open_device("pocl"))
    assert row.replace("3.00 |  |", "3.00 |") in table and "No column numba: numba cannot be imported." in table


def test_the_floor_is_that_of_bytes_or_that_of_operations() -> None:
    caches = (Cache(1 << 10, 4e9), Cache(1 << 20, 2e9))
    profile = replace(presets()["pocl_cpu"], caches=caches, bandwidth=1e9, issue_rate=1e9, simd_bytes=32)
    scal, matmul = entry("scal"), entry("matmul-f32")
    for n, bandwidth, bound in ((100, 4e9, "cache"), (10_000, 2e9, "cache"), (1_000_000, 1e9, "memory")):
        found = floor(as_program(scal.program(n)), profile, None)
        assert (found.bound, found.seconds) == (bound, (8 * n + 4) / bandwidth)
    found = floor(as_program(matmul.program(512, 512, 512)), profile, 2 * 512**3)
    assert (found.bound, found.seconds) == ("operations", 512**3 / (1e9 * 8))
    assert floor(as_program(matmul.program(512, 1, 1)), profile, 2 * 512).bound == "cache"


def test_the_rate_is_that_of_multiply_adds_in_every_lane() -> None:
    cpu = replace(presets()["pocl_cpu"], issue_rate=1e9, simd_bytes=32, type_costs={"f64": 1.5})
    assert (rate(cpu, F32), rate(cpu, F64)) == (16e9, 8e9 / 1.5)
    gpu = replace(presets()["generic_gpu"], issue_rate=1e12, type_costs={"f64": 2.0})
    assert (rate(gpu, F32), rate(gpu, F64)) == (2e12, 1e12)
    doubles = floor(as_program(entry("matmul-f64").program(512, 512, 512)), cpu, 2 * 512**3)
    assert doubles.seconds == 2 * 512**3 / rate(cpu, F64)


# ---------------------------------------------------------------------------------------- peers


@pytest.mark.parametrize("name", sorted(EXPRESSIONS))
def test_numexpr_computes_the_same_where_it_is_installed(name: str) -> None:
    run = peer("numexpr", name)
    if run is None:
        pytest.skip("numexpr is not installed")
    inputs = entry(name).inputs(1000, np.random.default_rng(0))
    np.testing.assert_allclose(run(**inputs), entry(name).reference(**inputs), rtol=1e-4)


@pytest.mark.skipif(bool(absent("numba")), reason="numba is not installed")
@pytest.mark.parametrize("names", [("dot", "nbody", "jacobi_2d-9"), pytest.param((), marks=pytest.mark.deep)])
def test_numba_computes_the_same_where_it_is_installed(names: tuple[str, ...]) -> None:
    for name in names or jitted():
        run, e = jitted()[name], entry(name)
        inputs = e.inputs(*SMALL[len(e.sizes[0])], np.random.default_rng(0))
        for got, want in zip(flatten(run(**inputs)), flatten(e.reference(**inputs)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4, err_msg=name)


SMALL = {1: (100,), 2: (37, 23), 3: (33, 17, 21), 4: (3, 12, 17, 9)}
#: CLBlast's kernels of batches take half a minute to compile
BATCHES = pytest.param("batched_matmul", marks=pytest.mark.deep)


@pytest.mark.skipif(bool(absent("clblast")), reason="pyclblast is not installed")
@pytest.mark.parametrize("name", ["scal", "axpy", "dot", "gesummv", "atax", "gemm-nt", "syrk", BATCHES])
def test_clblast_computes_the_same_where_it_is_installed(name: str) -> None:
    e, device = entry(name), open_device("pocl")
    inputs = e.inputs(*SMALL[len(e.sizes[0])], np.random.default_rng(0))
    call = blas_call(name, inputs, device)
    assert call is not None
    np.testing.assert_allclose(np.squeeze(call().get()), e.reference(**inputs), rtol=1e-3, atol=1e-4)
    assert (blas_seconds(name, inputs, device) or 0) > 0


def test_a_peer_that_is_not_written_is_none() -> None:
    assert peer("numexpr", "srad-1") is None and peer("abacus", "dot") is None
    assert blas_call("srad-1", {}, open_device("pocl")) is None
