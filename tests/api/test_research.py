"""The rule book from Python and on the command line: laws, saturation, proofs, and which laws `optimize` uses."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import egglift as el
from egglift.cli import main
from egglift.options import SCHEDULES
from egglift.research import left_out

pytestmark = pytest.mark.short

x = el.array("x", el.f32, 64)
TWO, ONE = (x * 2).map(lambda v: v + 1), x.map(lambda v: v * 2 + 1)
TWICE = """
;;; negated-twice
;; neg (neg v) = v
(rewrite (Op1 "neg" (Op1 "neg" v)) v)
"""


TWICE_NEGATED = x.map(lambda v: el.negative(-v) + 1)


def by_model(program: Any, **options: Any) -> el.Kernel:
    return el.optimize(program, "pocl", measure="none", cache=False, **options)


def test_the_laws_are_those_of_the_book() -> None:
    assert el.laws() == el.book().laws and "map-fusion" in {law.name for law in el.laws()}
    assert el.book()["map-fusion"].equation


def test_programs_are_proved_equal_by_laws() -> None:
    assert el.prove(TWO, ONE)
    assert not el.prove(TWO, ONE, without=["map-fusion"])
    assert not el.prove(TWO, ONE, only=["split-join"])
    assert el.prove(TWICE_NEGATED, x.map(lambda v: v + 1), rules=[TWICE])


def test_saturation_is_by_the_laws_that_are_asked_for() -> None:
    def used(**options: Any) -> set[str]:
        return {r.name for r in el.saturate(TWO, **options).laws if r.matches}

    assert "map-fusion" in used()
    assert "map-fusion" not in used(without=["map-fusion"])
    assert used(only=["map-fusion"]) == {"map-fusion"}
    assert el.saturate(x.sum(), limits=el.Limits(rows=300)).stopped == "rows"


def test_optimize_uses_no_law_that_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = import_module("egglift.search")
    found, whole = list[Any](), module.saturate
    monkeypatch.setattr(module, "saturate", lambda *a, **options: found.append(whole(*a, **options)) or found[-1])

    def used(**options: Any) -> set[str]:
        found.clear()
        by_model(x.sum(), **options)
        return {r.name for saturated in found for r in saturated.laws if r.matches}

    every, lowering = used(without=[SCHEDULES]), {law.name for law in el.laws() if "lower" in law.phases}
    assert {"chunk", "deal"} < every
    assert "deal" not in used(without=[SCHEDULES, "deal"])
    assert used(only=["chunk"]) - lowering == {"chunk"}
    used(without=[SCHEDULES], limits=el.Limits(rows=1))
    assert found[0].stopped == "rows"


def test_names_of_laws_that_there_are_not_are_refused() -> None:
    for options in ({"without": ["dael"]}, {"only": ["dael"]}):
        with pytest.raises(el.RuleError, match="no law 'dael'; there are .*deal"):
            by_model(x, **options)
    with pytest.raises(el.ArgumentError, match=r"write without=\[\"deal\"\]"):
        by_model(x, without="deal")


def test_a_law_of_ones_own_can_be_left_out_too() -> None:
    assert left_out([TWICE], ["negated-twice", SCHEDULES], None) == ("negated-twice", SCHEDULES)
    assert "negated-twice" in left_out([TWICE], [], ["deal"])
    assert not {law.name for law in el.laws() if "lower" in law.phases} & set(left_out([], [], ["deal"]))


def test_the_command_line_takes_laws_and_leaves_them_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.egg").write_text(TWICE)
    (tmp_path / "p.egglift").write_text(el.dumps(TWICE_NEGATED))
    usual = ["optimize", str(tmp_path / "p.egglift"), "--device", "pocl", "--measure", "none", "--no-cache"]
    assert main([*usual, "--rules", str(tmp_path / "mine.egg"), "--without", SCHEDULES]) == 0
    assert "-x[" not in capsys.readouterr().out
    for wrong, why in (("--rules", "cannot be read"), ("--without", "no law 'none.egg'")):
        assert main([*usual, wrong, "none.egg"]) != 0
        assert why in capsys.readouterr().err


def test_the_book_is_loaded_when_it_is_asked_for() -> None:
    code = "import sys, egglift as el; print(EGGLOG in sys.modules); el.laws(); print(EGGLOG in sys.modules)"
    code = code.replace("EGGLOG", "'egglog.bindings'")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.split() == ["False", "True"]
