"""Derivations by hand: laws that apply, steps, undoing, pins, scripts; each state is compared with the interpreter."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.cli import check, main

pytestmark = pytest.mark.short

A, B = el.array("A", el.f32, (64, 80)), el.array("B", el.f32, (80, 48))
PRODUCT = """
# from the program as it is written to tiles in registers
apply hoist-capture
apply reduce-to-fold
apply block m0=8 n0=16
apply fold-map-fusion
pin fused
apply interchange-outer
apply vectorise-map v0=8
apply map-global-2d
apply map-vec
"""


@pytest.fixture(scope="module")
def derived() -> Any:
    return el.session(A @ B, "pocl").run(PRODUCT)


def test_the_product_is_derived_from_naive_to_tiled(derived: Any) -> None:
    first = el.session(A @ B, "pocl")
    assert len(derived.steps) == 8
    assert derived.seconds < first.seconds
    assert "float8" in derived.kernel().source
    assert "float8" not in first.kernel().source
    assert check(derived.kernel()) is None


def test_a_script_leads_to_the_same_program_again(derived: Any) -> None:
    again = el.session(A @ B, "pocl").run(derived.script)
    assert again.program == derived.program
    assert again.script == derived.script


def test_a_kernel_by_hand_is_called_like_any_other(derived: Any) -> None:
    a, b = np.random.rand(64, 80).astype(np.float32), np.random.rand(80, 48).astype(np.float32)
    np.testing.assert_allclose(derived.kernel()(a, b), a @ b, rtol=1e-5)
    assert derived.measure() > 0


def test_the_search_goes_on_from_a_step() -> None:
    session = el.session(A @ B, "pocl").apply("hoist-capture")
    kernel = session.finish(measure="none", cache=False)
    assert check(kernel) is None
    assert kernel.chosen.estimate < session.seconds


def test_what_is_possible_says_what_it_changes_and_costs() -> None:
    found = {p.step.law: p for p in el.session(A @ B, "pocl").possible()}
    assert {"hoist-capture", "reduce-to-fold", "map-global", "chunk"} <= set(found)
    assert "block" not in found, "which needs hoist-capture first"
    assert str(found["reduce-to-fold"].step) == "apply reduce-to-fold"
    assert found["reduce-to-fold"].change.startswith("(reduce add 0.0 ")
    assert "(reduceSeq " in found["reduce-to-fold"].change
    assert "of now)" in str(found["chunk"])


def test_steps_are_undone_and_pins_come_back() -> None:
    session = el.session(A @ B, "pocl")
    start = session.program
    session.apply("hoist-capture").pin("hoisted").apply("reduce-to-fold")
    folded = session.program
    session.undo()
    assert session.script == "apply hoist-capture\n"
    session.undo()
    assert session.program == start
    session.back("hoisted").apply("reduce-to-fold")
    assert session.program == folded


def test_tuples_of_three_stay_results_of_three() -> None:
    x = el.array("x", el.f32, 16)
    session = el.session(x.map(lambda v: (v, v * 2, v * 3)), "pocl").apply("map-seq")
    a, b, c = session.kernel()(np.arange(16, dtype=np.float32))
    assert (a[3], b[3], c[3]) == (3, 6, 9)


WRONG = {
    "apply nonsense": "line 1, 'apply nonsense': no law 'nonsense'",
    "apply block": "block does not apply at 0: it does nowhere",
    "apply reduce-to-fold at 7": "does not apply at 7: it does at 1 places",
    "apply chunk q0=3": "chunk leaves no tile q0 open; it leaves r0",
    "apply chunk r0=x": "r0=x is not TILE=N",
    "undo": "nothing to undo",
    "back home": "nothing is pinned as home",
    "apply": "a step is: apply LAW",
    "hurry": "a step is: apply LAW",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_cannot_be_done_is_said_with_its_line(line: str) -> None:
    with pytest.raises(el.EggliftError, match=WRONG[line]):
        el.session(A @ B, "pocl").run(line)


def test_a_law_that_is_wrong_is_caught_at_its_step() -> None:
    wrong = ';;; plus-is-times\n;; x + y = x * y\n(rewrite (Op2 "add" x y) (Op2 "mul" x y))\n'
    x = el.array("x", el.f32, 64)
    session = el.session(x.map(lambda v: v + 3), "pocl", rules=[wrong])
    with pytest.raises(el.WrongResult, match="after apply plus-is-times the device computes something else"):
        session.apply("plus-is-times")
    assert session.steps == ()


# ---------------------------------------------------------------------------------------- the command line

NEST = "void f(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }"


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    (tmp_path / "nest.c").write_text(NEST)
    return ["session", str(tmp_path / "nest.c"), "--size", "n=64", "--device", "pocl"]


def test_a_session_is_run_by_a_file(command: list[str], tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "steps").write_text(f"apply map-global\nkernel\nmeasure\nsave {tmp_path / 'kept'}\n")
    assert main([*command, "--script", str(tmp_path / "steps")]) == 0
    printed = capsys.readouterr().out
    assert "kernel" in printed and "equal to the interpreter's result" in printed
    assert (tmp_path / "kept").read_text() == "apply map-global\n"


def test_an_error_in_a_file_names_its_line(command: list[str], tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "steps").write_text("\napply block\n")
    assert main([*command, "--script", str(tmp_path / "steps")]) == 2
    assert "steps:2: block does not apply" in capsys.readouterr().err


def test_a_conversation_goes_on_after_an_error(command: list[str], capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("apply block\nlaws map-global\napply map-global\nhelp\nquit\nundo\n"))
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "block does not apply" in printed
    assert "1 steps; " in printed
    assert "nothing to undo" not in printed
