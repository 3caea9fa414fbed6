"""The benchmark suite: what it writes, and what its figures mean."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import suite
from benchmarks.peers import EXPRESSIONS, peer
from benchmarks.programs.catalogue import chosen, entries
from egglift.codegen.runtime import open_device


def test_suites_name_programs_and_sizes_that_there_are() -> None:
    for programs in suite.SUITES.values():
        assert len(list(chosen(programs, lambda e: e.sizes[0]))) == len(programs)


def test_peers_and_the_literature_name_programs_that_there_are() -> None:
    names = {e.name for e in entries()}
    assert names >= EXPRESSIONS.keys() and names >= suite.LIFT.keys()


def test_a_run_writes_json_and_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(suite.SUITES, "tiny", ("scal:1000", "nrm2:1000"))
    lines = suite.run("tiny", "pocl", ("numpy",), tmp_path)
    assert [line.result for line in lines] == ["equal", "equal"]
    data = json.loads((tmp_path / "pocl_tiny.json").read_text())
    assert [r["program"] for r in data["results"]] == ["scal", "nrm2"]
    assert {"device", "driver", "date", "versions"} <= data.keys()
    table = (tmp_path / "pocl_tiny.md").read_text()
    assert "| scal | 1000 |" in table and "x numpy" in table and "x numba" not in table


def test_lifts_ratios_are_those_of_its_papers() -> None:
    least, most = suite.published("scal") or (0.0, 0.0)
    assert 0 < least < most
    assert suite.published("ten_maps") is None


def test_a_table_says_how_many_times_faster_and_how_much_of_the_floor() -> None:
    line = suite.Line("dot", "8", 2e-6, 1.0, 1e-6, "memory", "G(c)", {"numpy": 6e-6}, (0.9, 1.1))
    row = suite.markdown([line], open_device("pocl")).splitlines()[-1]
    assert row == "| dot | 8 | 2.0 | 0.50 (memory) | 3.00 | 0.90 to 1.10 | equal |"


@pytest.mark.parametrize("name", sorted(EXPRESSIONS))
def test_numexpr_computes_the_same_where_it_is_installed(name: str) -> None:
    run = peer("numexpr", name)
    if run is None:
        pytest.skip("numexpr is not installed")
    (e,) = (e for e in entries() if e.name == name)
    inputs = e.inputs(1000, np.random.default_rng(0))
    np.testing.assert_allclose(run(**inputs), e.reference(**inputs), rtol=1e-4)


def test_a_peer_that_is_not_written_is_none() -> None:
    assert peer("numexpr", "srad-1") is None and peer("abacus", "dot") is None
