"""Texts from anywhere: a program or an error of ours with its place, soon, and without a stack."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import egglift as el
from egglift.codegen.opencl.names import identifier
from egglift.ir.errors import EggliftError, ProgramError
from egglift.programs import load_program

pytestmark = pytest.mark.short


def nested(head: str, depth: int, leaf: str) -> str:
    return f"({head} " * depth + leaf + ")" * depth


MEGABYTES = {
    "brackets": "(" * 1_000_000,
    "closing brackets": ")" * 1_000_000,
    "a body of 20,000 levels": f"(map (fn f32 {nested('neg', 20_000, 'arg')}) (input x [f32]8))",
    "rows of rows, 20,000 deep": nested("fill 1", 20_000, "1.0:f32"),
    "tuples in tuples, 20,000 deep": nested("tuple 1.0:f32", 20_000, "1.0:f32"),
    "bodies that begin": "(fn f32 " * 100_000,
    "types that begin": "(input x " + "[" * 200_000,
    "a tuple of 2^60 numbers": "(let ("
    + " ".join(f"(a{i} (tuple {f'a{i - 1}' if i else '1.0:f32'} {f'a{i - 1}' if i else '1.0:f32'}))" for i in range(60))
    + ") a59)",
    "a tuple of 50,000 numbers": "(tuple " + "1.0:f32 " * 50_000 + ")",
    "a word": "a" * 2_000_000,
    "a pattern's name": "(" + "a" * 2_000_000,
    "a number": "9" * 2_000_000,
    "a number's fraction": "1." + "0" * 2_000_000 + ":f32",
    "an unfinished string": '(input "' + "a" * 2_000_000,
    "backslashes": '(input "' + "\\" * 1_000_001,
    "a comment": ";" + "a" * 2_000_000,
    "NUL": "\0" * 1_000_000,
}


@pytest.mark.parametrize("name", MEGABYTES)
def test_megabytes_of_nonsense_are_refused_in_a_short_message(name: str) -> None:
    if name == "a body of 20,000 levels":
        assert el.loads(MEGABYTES[name]) is el.loads(MEGABYTES[name])
        return
    with pytest.raises(ProgramError, match="line 1, column") as caught:
        el.loads(MEGABYTES[name])
    assert len(str(caught.value)) < 1000


MALFORMED = {
    "(input x [f32]-5)": "a length is 0 or more",
    f"(input x [f32]{'9' * 900})": "more than 2\\^62 cannot be counted",
    f"(input x [f32]{'9' * 10_000})": "a number of more than 1000 digits",
    "(input x [[f32]9999999999]9999999999)": "more than 2\\^62 cannot be counted",
    "(constant [[f32]-1]-1 1.0)": "a length is 0 or more",
    "(iota 99999999999999999999 i32)": "more than 2\\^62",
    "(fill 99999999999999999999 1.0:f32)": "more than 2\\^62",
    "(pad 99999999999999999999 1 clamp (input x [f32]8))": "more than 2\\^62",
    "(slide 3 99999999999999999999 (input x [f32]8))": "more than 2\\^62",
    "(iterate 999999999999999999999 (fn f32 arg) (input x f32))": "more than 2\\^62",
    "(input x [f32]\u0668)": "expected a length",
    "\u0661:f32": "expected an expression",
    "(add\u00a01.0:f32 1.0:f32)": "column 5",
    "(\u0430dd 1.0:f32 1.0:f32)": "expected the name of a pattern",
    '(input "\\ud800" f32)': "is not a string",
    "(__class__ 1.0:f32)": "no pattern or function '__class__'",
    "(reduce __import__:f32 0.0:f32 (input x [f32]8))": "expected an operator",
    "(pad 1 1 __class__ (input x [f32]8))": "no boundary mode '__class__'",
}


@pytest.mark.parametrize("text", MALFORMED, ids=lambda t: t[:40])
def test_what_cannot_be_is_refused_where_it_stands(text: str) -> None:
    with pytest.raises(ProgramError, match=MALFORMED[text]) as caught:
        el.loads(text)
    assert str(caught.value).startswith("line 1, column")
    assert len(str(caught.value)) < 1000


OPEN = {
    "(fn f32 (neg arg))": "depends on the argument of a body",
    "(arg f32)": "depends on the argument of a body",
    "(input x [f32]n)": "the length n is no number yet",
    "(map (fn f32 (neg arg)) (input x [f32](3 - 5)))": "is no number yet",
    "(add (input x f32) (cast f32 (input x i32)))": "two inputs are named x, of types f32 and i32; rename one",
}


@pytest.mark.parametrize("text", OPEN)
def test_a_text_that_is_no_whole_program_is_not_optimised(text: str) -> None:
    with pytest.raises(ProgramError, match=OPEN[text]):
        el.optimize(el.loads(text), "pocl", measure="none", cache=False)


def test_line_ends_and_byte_order_marks_are_skipped(tmp_path: Path) -> None:
    for i, text in enumerate(("(add ; one\r\n\t1.0:f32 2.0:f32)\r\n", "(add ; one\r1.0:f32 2.0:f32)\r")):
        path = tmp_path / f"{i}.egglift"
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert load_program(str(path)) is el.loads("(add 1.0:f32 2.0:f32)")


# ---------------------------------------------------------------------------------------- names


NAMES = [
    "float",
    "__kernel",
    "x; }",
    "*/ evil",
    "a\nb",
    "a\\\nb",
    "//",
    "/*",
    "\\",
    "??/",
    "#define x",
    "",
    "\0",
    "{x}",
    "%",
    "r0",
    "g0",
    "acc0",
    "i0",
    "w0",
    "l0",
    "lane",
    "y0",
    "k0",
    "x0",
    "v",
    "_",
    "__",
    "M_PI",
    "M_PI_F",
    "NULL",
    "INT_MAX",
    "CHAR_BIT",
    "FLT_EPSILON",
    "MAXFLOAT",
    "CLK_LOCAL_MEM_FENCE",
    "image2d_t",
    "event_t",
    "linux",
    "unix",
    "half",
    "float4",
    "get_global_id",
    "barrier",
    "sin",
    "fma",
    "vload4",
    "asm",
    "restrict",
    "__attribute__",
    "\u0443\u0448",
    "x\u200b",
    "a" * 5000,
]


def test_no_users_name_reaches_opencl_as_it_stands() -> None:
    """All names in one program each for inputs and operators, and every one as an identifier."""
    for name in NAMES:
        assert identifier(name).isascii() and identifier(name).isidentifier()
    usable = [name for name in NAMES if "%" not in name]
    inputs = [f"(input {json.dumps(name)} [f32]8)" for name in usable]
    total = inputs[0]
    for other in inputs[1:]:
        total = f"(map (fn (f32, f32) (add (get 0 arg) (get 1 arg))) (zip {total} {other}))"
    kernel = el.optimize(el.loads(total), "pocl", measure="none", cache=False)
    given = {name: np.full(8, i, np.float32) for i, name in enumerate(usable)}
    np.testing.assert_array_equal(kernel(**given), np.full(8, sum(range(len(usable)))))
    assert kernel.source.isascii()


@pytest.mark.parametrize("name", ["*/ a\nb\\", '%s%n{0}"; }'])
def test_an_operator_has_any_name(name: str) -> None:
    body = "(fn (f32, f32) (add (get 0 arg) (get 1 arg)))"
    text = f"(reduce (operator {json.dumps(name)} associative commutative {body} 0.0:f32) 0.0:f32 (input x [f32]64))"
    kernel = el.optimize(el.loads(text), "pocl", measure="none", cache=False)
    assert kernel(np.ones(64, np.float32)) == 64


# ---------------------------------------------------------------------------------------- files


def cli(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "egglift", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("name", ["missing.egglift", "/", "/dev/zero", "/dev/null", "nul\0.egglift", "a" * 5000])
def test_a_file_that_is_no_program_is_named(name: str) -> None:
    with pytest.raises(ProgramError, match=r"cannot read|expected an expression"):
        load_program(name)


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ProgramError, match=r"cannot read .*: Permission denied"):
        load_program(str(tmp_path / "secret.egglift"))


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("1.0:f32"))
    writer.start()
    assert load_program(str(pipe)) is el.loads("1.0:f32")
    writer.join()


def test_a_python_file_that_leaves_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "leaves.py"
    path.write_text("import sys; sys.exit(0)")
    with pytest.raises(ProgramError, match="fails when it is run: SystemExit"):
        load_program(str(path))


def test_a_text_never_runs(tmp_path: Path) -> None:
    path, trace = tmp_path / "evil.egglift", tmp_path / "ran"
    path.write_text(f"__import__('pathlib').Path({str(trace)!r}).touch()")
    with pytest.raises(EggliftError):
        load_program(str(path))
    assert not trace.exists()


def test_the_command_line_says_it_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "open.egglift"
    path.write_text("(fn f32 (neg arg))")
    done = cli("optimize", str(path), "--no-cache", "--measure", "none", "--device", "pocl")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("egglift: (neg arg) depends on the argument of a body")
