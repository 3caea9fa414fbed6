"""Programs from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from egglift.ir.errors import ProgramError
from egglift.ir.patterns import Apply, Arg, Input, Literal, Map, Tup
from egglift.ir.text import dumps
from egglift.ir.types import F32, Array
from egglift.programs import load_program

PROGRAM = Map(Apply("neg", (Arg(F32),)), Input("x", Array(10, F32)))
PYTHON = """
import egglift as el
x = el.array("x", el.f32, 10)
program = x.map(lambda v: -v)
both = (program, x)
def later(): return program
number = object()
"""


def test_a_text_file_is_a_program(tmp_path: Path) -> None:
    path = tmp_path / "neg.egglift"
    path.write_text(dumps(PROGRAM))
    assert load_program(str(path)) is PROGRAM


def test_a_python_file_gives_its_variable_program_or_another_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PYTHON)
    assert load_program(str(path)) is PROGRAM
    both = load_program(f"{path}:both")
    assert isinstance(both, Tup)
    assert both.items[0] is PROGRAM


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("missing.egglift", "cannot read .*missing.egglift: No such file"),
        (".", "cannot read"),
        ("broken.egglift", r"broken.egglift: .*1"),
        ("mine.py:absent", r"has no variable absent; name another one: .*mine.py:NAME"),
        ("mine.py:later", "mine.py:later is a function"),
        ("fails.py", "fails.py fails when it is run: ZeroDivisionError"),
        ("binary.egglift", "cannot read .*not a text file"),
    ],
)
def test_what_is_no_program_is_named(tmp_path: Path, spec: str, message: str) -> None:
    (tmp_path / "mine.py").write_text(PYTHON)
    (tmp_path / "fails.py").write_text("1 / 0")
    (tmp_path / "broken.egglift").write_text("(map")
    (tmp_path / "binary.egglift").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProgramError, match=message):
        load_program(str(tmp_path / spec))


def test_a_variable_that_is_no_value_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PYTHON)
    with pytest.raises(ProgramError):
        load_program(f"{tmp_path / 'mine.py'}:number")


NEST = "void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2; }\n"


def test_a_file_of_c_is_a_program_of_given_sizes(tmp_path: Path) -> None:
    file = tmp_path / "twice.c"
    file.write_text(NEST + "void g(float *x) { x[0] = 1; }")
    twice = Map(Apply("mul", (Arg(F32), Literal(2.0, F32))), Input("x", Array(8, F32)))
    assert load_program(f"{file}:f", {"n": 8}) is twice
    with pytest.raises(ProgramError, match="name one"):
        load_program(str(file), {"n": 8})


def test_sizes_are_for_c_alone(tmp_path: Path) -> None:
    file = tmp_path / "x.egglift"
    file.write_text(dumps(PROGRAM))
    with pytest.raises(ProgramError, match="sizes are for loop nests in C"):
        load_program(str(file), {"n": 8})
