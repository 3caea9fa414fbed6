"""What the search holds and finds: counts of programs, the best so far, and what is switched off."""

from __future__ import annotations

import json
import sys
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import egglift as el
from benchmarks import phases
from benchmarks.fair import switched
from benchmarks.handwritten import simplifier
from benchmarks.tables import peers, raw, search
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.codegen.kernel.index import Index, Quotient, Remainder, Var, as_written, index, is_simplifying
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.lifting import as_program

# ---------------------------------------------------------------------------------------- programs that are held


def test_what_is_no_choice_is_one_program() -> None:
    program = as_program(el.array("x", el.f32, 8).map(lambda v: v * v))
    graph = saturate(program, phases=()).graph
    assert phases.held(graph, phases.size_of(program)) == 1
    assert phases.held(graph, 1) == 0


def test_more_laws_hold_more_programs() -> None:
    program = as_program(el.array("x", el.f32, 64).map(lambda v: v * v).reduce(el.add, 0.0))
    found = [saturate(program, phases=phases.EXPLORE[: i + 1]).graph for i in range(3)]
    counts = [phases.held(graph, 24) for graph in found]
    assert 1 <= counts[0] < counts[1] < counts[2]
    assert phases.held(found[2], 20) < counts[2]


def test_a_node_stands_for_all_choices_of_its_children() -> None:
    one, two = [0, 2, 0, 1], [0, 3, 1, 0]  # programs of 0, 1, 2, 3 patterns
    assert phases._of_size(2, [one, two]) == 2 * 3
    assert phases._of_size(3, [one, two]) == 2 * 1
    assert phases._of_size(4, [one, two]) == 1 * 3
    assert phases._of_size(0, []) == 1 and phases._of_size(1, []) == 0


# ---------------------------------------------------------------------------------------- the best so far


def test_by_chance_the_best_is_the_mean_of_all_draws() -> None:
    times = [5.0, 1.0, 3.0, 8.0, 2.0]
    for n in range(1, 6):
        assert search.best_by_chance(times, n) == pytest.approx(fmean(map(min, combinations(times, n))))
    assert search.best_in_order(times, 1) == 5.0 and search.best_in_order(times, 3) == 1.0


def test_tables_without_raw_data_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in (peers, raw, search):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    assert search.phases() == search.simplifier("pocl") == search.switched("nvidia_h200") == peers.NONE
    lines = [{"program": "a", "size": "9", "all us": 2.0, "no tiles, times as long": 3.0}, {"program": "b"}]
    (tmp_path / "pocl_switched.json").write_text(json.dumps({"results": lines}))
    assert "| a | 9 | 2.0 | no kernel | no kernel | 3.00 |" in search.switched("pocl")


# ---------------------------------------------------------------------------------------- indices as written


def test_indices_stay_as_they_are_written() -> None:
    i = index(Var("i", 12, "global"))
    assert (i * 4 + 3) // 4 == i and ((i * 4 + 3) % 4) == Index((), 3)
    with as_written():
        assert not is_simplifying()
        assert isinstance(((i * 4 + 3) // 4).terms[0][0], Quotient)
        assert isinstance(((i * 4 + 3) % 4).terms[0][0], Remainder)
        assert index(7) // 4 == Index((), 1)  # numbers are numbers
    assert is_simplifying()


def test_what_is_written_below_zero_is_a_floor() -> None:
    i = index(Var("i", 12, "global"))
    with as_written():
        quotient, remainder = (i - 5) // 4, (i - 5) % 4
        ((low, _), (inside, _)) = (q.terms[0][0].x.range for q in (quotient, remainder))
    assert low >= 0 and inside >= 0  # so that C's division is Python's
    assert [quotient.constant + (v - 5 + 8) // 4 for v in range(12)] == [(v - 5) // 4 for v in range(12)]


def test_code_is_kept_apart_by_how_indices_are_written() -> None:
    subject, term = simplifier.TERMS["llp2"]
    low_level = term(subject.sizes.small)
    plain = compile_term(low_level, Launch(64)).source
    with as_written():
        written = compile_term(low_level, Launch(64)).source
    assert simplifier.divisions(written) > simplifier.divisions(plain)
    assert compile_term(low_level, Launch(64)).source == plain


def test_the_simplifier_is_measured_on_right_results(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["--device", "pocl", "--scale", "small", "--out", str(tmp_path / "found.json"), "llp2"]
    monkeypatch.setattr(sys, "argv", ["benchmarks.handwritten.simplifier", *arguments])
    assert simplifier.main() == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["program"] == "llp2" and row["right"] and row["times as long"] > 0


# ---------------------------------------------------------------------------------------- switches


def test_each_switch_leaves_out_more() -> None:
    left = switched.switches()
    assert left["all"] == () and set(left["laws alone"]) < set(left["no local memory"])
    assert {"fold-split", "schedules"} <= set(left["no tiles"])


def test_a_switched_program_is_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(el, "optimize", partial(el.optimize, measure="none"))
    monkeypatch.setattr(
        sys, "argv", ["benchmarks.fair.switched", "--device", "pocl", "--scale", "small", "cases/transpose"]
    )
    assert switched.main() == 0
    row: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert row["program"] == "cases/transpose" and row["all us"] > 0 and row["no tiles, times as long"] > 0
