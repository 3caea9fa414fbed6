"""`egglift check-rules`, on laws of a user's own and on some of the book."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import egglift as el
from egglift.cli import main

LAWS = """;;; twice
;; map f . map g, written out
(rewrite (Map f (Map g x)) (Map (Subst f g) x))
;;; backwards
;; concat a b = concat b a, which is wrong
(rewrite (Concat x y) (Concat y x))
;;; never
;; no body is an argument and computes something
(rule ((= e (Map f x)) (= f (Arg t)) (work f)) ((union e x)))
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["check-rules", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.egg"
    path.write_text(LAWS)
    return path


def test_a_line_a_law_and_the_counter_example_of_a_wrong_one(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    status, out, err = run(capsys, file, "--instances", 5, "--jobs", 1)
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].split() == ["twice", "5", "instances", "5", "fired", lines[0].split()[5], "compared", "sound"]
    assert lines[1].startswith("backwards") and lines[1].endswith("WRONG")
    assert 'p = el.loads("""' in out
    assert "never fired" in lines[-2]
    assert lines[-1] == "1 of 3 laws are sound"


def test_a_sound_law_is_status_0_and_json_says_the_same(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    status, out, _ = run(capsys, file, "--law", "twice", "--instances", 5, "--jobs", 1, "--json")
    (law,) = json.loads(out)
    assert status == 0
    assert (law["law"], law["sound"], law["instances"], law["counterexample"]) == ("twice", True, 5, None)


def test_processes_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    laws = ("--law", "map-fusion", "--law", "join-split", "--instances", 4)
    assert run(capsys, *laws, "--jobs", 1) == run(capsys, *laws, "--jobs", 2)
    assert run(capsys, *laws, "--seed", 1, "--jobs", 1)[0] == 0


def test_with_the_book_all_its_laws_rewrite_what_a_law_has_made(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """What this law claims of operators shows only where the book's laws take it at its word."""
    file.write_text(
        """;;; claims
;; (+) is commutative
;; reassociating
(rule ((= e (Reduce f z x)) (associative f) (= (Arr n t) (type-of x)) (< (depth n) 1)) ((commutative f)))
"""
    )
    arguments = (file, "--instances", 40, "--jobs", 1)
    assert "WRONG" not in run(capsys, *arguments)[1]
    status, out, _ = run(capsys, *arguments, "--with-book")
    assert status == 1 and "WRONG" in out


DISTRIBUTE = """;;; distribute
;; map f (concat x y) = concat (map f x) (map f y)
(rewrite (Map f (Concat x y)) (Concat (Map f x) (Map f y)))
"""


def test_a_sound_law_is_not_blamed_for_another_of_its_file(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """With the book, each law is tested as if the others of its file were not there."""
    file.write_text(DISTRIBUTE + LAWS.partition(";;; never")[0])
    arguments = (file, "--instances", 3, "--with-book", "--jobs", 1)
    status, out, _ = run(capsys, *arguments, "--law", "distribute")
    assert status == 0 and "1 of 1 laws are sound" in out
    status, out, _ = run(capsys, *arguments, "--law", "distribute", "--law", "backwards", "--json")
    assert (status, [law["verdict"] for law in json.loads(out)]) == (1, ["sound", "WRONG"])


def test_coverage_says_which_laws_fire_on_which_programs(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    x = el.array("x", el.i32, 5)
    for name, e in (("one", x.map(lambda v: v + 1).map(lambda v: v * 2)), ("two", el.concat(x, x))):
        (tmp_path / f"{name}.egglift").write_text(el.dumps(e))
    programs = (tmp_path / "one.egglift", tmp_path / "two.egglift")
    status, out, _ = run(capsys, file, "--coverage", *programs)
    assert status == 1
    assert out.splitlines()[0].split()[:3] == ["twice", "1", "programs"]
    assert out.splitlines()[-2:] == ["2 of 3 laws fire on the 2 programs", "on none: never"]
    status, out, _ = run(capsys, file, "--law", "backwards", "--coverage", *programs, "--json")
    assert (status, list(json.loads(out)["backwards"])) == (0, [str(programs[1])])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (";;; one\n;; x\n\n  (rewrite (Mapp f x) x)\n", "mine.egg, line 4, column 12: Unbound function Mapp"),
        (";;; one\n(rewrite (Map f x) y)\n", "mine.egg, line 2, column 20: Unbound symbol y"),
        (";;; one\n(rule ((= e (Map f x)) ((union e x)))\n", "parse error"),
        (";;; map-fusion\n(rewrite (Map f x) x)\n", "there is a law 'map-fusion' already"),
        (";;; x\n(rewrite (Map f y) y)\n", "a law cannot be called x"),
        ("(relation foo (Expr))\n", "only (rule ...) and (rewrite ...) belong into a law"),
    ],
)
def test_a_bad_file_is_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], file: Path, text: str, message: str
) -> None:
    file.write_text(text)
    status, out, err = run(capsys, file)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_bad_arguments_are_errors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, tmp_path / "missing.egg")[0] == 2
    assert "no law 'nothing'" in run(capsys, "--law", "nothing")[2]
    assert "at least one instance" in run(capsys, "--instances", 0)[2]
