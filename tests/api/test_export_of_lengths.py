"""Exported programs over run-time lengths: a call says them, and they are right at all of them."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.cli import main
from egglift.codegen.device.device import open_device
from tests.codegen.export.c_compiler import STRICT, compiled, execute
from tests.codegen.export.test_python import NOWHERE
from tests.deep import sampled
from tests.run_time_programs import PROGRAMS, Program

pytestmark = pytest.mark.short

HERE = Path(__file__).parent
#: of one length; of several: nothing, one, the edges of tiles, more
SHORT = [(n, 0, 0) for n in (0, 1, 2, 7, 8, 9, 17, 64, 129, 1000, 4099)]
EDGES = [(0, 1, 2), (1, 1, 1), (2, 0, 3), (3, 5, 0), (4, 8, 8), (5, 7, 9), (16, 16, 16), (33, 70, 31), (257, 130, 200)]
OFTEN = {"dot in pieces", "gemv"}


def rows_of(name: str) -> list[dict[str, int]]:
    """Lengths at which a program means something: no window of 3 fits into a grid of nothing and its edges."""
    rows = SHORT if len(PROGRAMS[name].letters) == 1 else EDGES
    return [dict(zip("nmk", row)) for row in rows if name != "jacobi" or row[0] * row[1]]


def ran(p: Program, example: Path, numbers: dict[str, int], folder: Path) -> Any:
    """What the example of an exported program writes at these lengths."""
    data = p.data(numbers)
    wanted = np.asarray(p.meaning(*data.values()))
    files = [folder / f"{name}.bin" for name in data]
    for file, array in zip(files, data.values(), strict=True):
        array.tofile(file)
    done = execute(example, *(numbers[c] for c in p.letters), *files, folder / "out.bin")
    assert done.returncode == 0, done.stderr
    return np.fromfile(folder / "out.bin", np.float32).reshape(wanted.shape), wanted


@pytest.mark.parametrize("name", sampled(PROGRAMS, OFTEN.__contains__))
def test_c_is_right_at_all_lengths(name: str, tmp_path: Path) -> None:
    p = PROGRAMS[name]
    p.kernel().export(tmp_path / "made", name="program")
    example = compiled(tmp_path / "example", *sorted((tmp_path / "made").glob("*.c")))
    for numbers in rows_of(name):
        found, wanted = ran(p, example, numbers, tmp_path)
        assert np.allclose(found, wanted, rtol=1e-3, atol=1e-4), numbers


#: runs the exported `program` at the lengths of its arguments, without egglift
ALONE = (
    NOWHERE
    + """sys.path[0] = sys.argv[1]
from program import Program

program = Program()
for row in range(int(sys.argv[2])):
    with np.load(f"{sys.argv[1]}/in{row}.npz") as given:
        np.save(f"{sys.argv[1]}/out{row}.npy", program(**given))
"""
)


@pytest.mark.parametrize("name", sampled(PROGRAMS, OFTEN.__contains__))
def test_python_is_right_at_all_lengths(name: str, tmp_path: Path) -> None:
    p, rows = PROGRAMS[name], rows_of(name)
    p.kernel().export(tmp_path / "made", language="python", name="program")
    for i, numbers in enumerate(rows):
        np.savez(tmp_path / "made" / f"in{i}.npz", **p.data(numbers))
    command = [sys.executable, "-c", ALONE, str(tmp_path / "made"), str(len(rows))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for i, numbers in enumerate(rows):
        wanted = p.meaning(*p.data(numbers).values())
        found = np.load(tmp_path / "made" / f"out{i}.npy")
        assert found.shape == np.shape(wanted) and np.allclose(found, wanted, rtol=1e-3, atol=1e-4), numbers


@cache
def ranged() -> el.Kernel:
    """`A @ v` where rows are 4, 8, ..., 64 and columns 0 to 100."""
    n, m = el.size("n", min=4, max=64, multiple=4, like=32), el.size("m", min=0, max=100, like=50)
    A, v = el.array("A", el.f32, (n, m)), el.array("v", el.f32, m)
    return el.optimize(A @ v, "pocl", measure="none", cache=False)


def test_a_caller_in_c_is_told_what_is_wrong(tmp_path: Path) -> None:
    """The program ends with 0 where all that it expects is so, and else says what is not."""
    ranged().export(tmp_path / "gemv")
    header = (tmp_path / "gemv" / "gemv.h").read_text()
    assert " * n: a length, n = 4, 8, ..., 64\n" in header and " * m: a length, m = 0, 1, ..., 100\n" in header
    caller = tmp_path / "gemv" / "errors_of_lengths.c"
    caller.write_text((HERE / "errors_of_lengths.c").read_text())
    done = execute(compiled(tmp_path / "caller", tmp_path / "gemv" / "gemv.c", caller))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_class_in_cpp_takes_lengths(tmp_path: Path) -> None:
    ranged().export(tmp_path / "gemv", language="cpp")
    caller = tmp_path / "gemv" / "lengths.cpp"
    caller.write_text((HERE / "lengths.cpp").read_text())
    part = compiled(tmp_path / "gemv" / "gemv.o", tmp_path / "gemv" / "gemv.c", strict=(*STRICT, "-c"))
    strict = ("-std=c++11", *STRICT[1:])
    done = execute(compiled(tmp_path / "caller", part, caller, compiler="g++", strict=strict))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize(
    ("shapes", "says"),
    [
        (((6, 3), 3), "axis 0 of A has 6 elements, so that n is 6; it may be n = 4, 8, ..., 64"),
        (((4, 101), 101), "so that m is 101; it may be m = 0, 1, ..., 100"),
        (((4, 3), 5), r"v has shape \(5,\); \(3,\) is wanted, as m is 3, n is 4"),
        ((4, 3), "A is float32 of shape .4,.; float32 of 2 axes is wanted"),
    ],
)
def test_a_caller_in_python_is_told_too(shapes: Any, says: str, tmp_path: Path) -> None:
    ranged().export(tmp_path / "gemv", language="python")
    made: dict[str, Any] = {}
    exec((tmp_path / "gemv" / "gemv.py").read_text(), made)
    program = made["Program"](open_device("pocl").queue)
    assert np.allclose(program(np.ones((8, 3)), np.ones(3)), 3)
    with pytest.raises(ValueError, match=says):
        program(*(np.ones(shape, np.float32) for shape in shapes))


def test_kernels_for_each_liked_length_are_exported(tmp_path: Path) -> None:
    n = el.size("n", min=0, max=1 << 22, like=(100, 1 << 20))
    x = el.array("x", el.f32, n)
    kernel = el.optimize((x * x).reduce(el.add, 0.0), "pocl", measure="none", cache=False)
    kernel.export(tmp_path / "squares", language="python")
    made: dict[str, Any] = {}
    exec((tmp_path / "squares" / "squares.py").read_text(), made)
    assert made["CHOICES"] == [(100,), (1 << 20,)]
    assert {made["_plan"]((k,))[1] for k in (101, (1 << 20) - 3)} == {0, 1}


def test_the_command_line_exports_lengths(tmp_path: Path) -> None:
    x = el.array("x", el.f32, el.size("n", min=0, max=10**6, like=1000))
    (tmp_path / "twice.egglift").write_text(el.dumps(el.as_program(2 * x)))
    command = ["optimize", str(tmp_path / "twice.egglift"), "--device", "pocl", "--measure", "none", "--no-cache"]
    assert main([*command, "--export", str(tmp_path / "twice")]) == 0
    example = compiled(tmp_path / "example", *sorted((tmp_path / "twice").glob("*.c")))
    assert execute(example).stdout == "out: 0 2 4 6 8 10 12 0\n"


def test_what_is_compiled_for_one_length_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("egglift.exported_lengths.MOST_CHOSEN", 0)
    monkeypatch.setattr("egglift.exported_lengths.MOST_STANDING", 0)
    with pytest.raises(el.ArgumentError, match=r"kernel.specialise\(m=50, n=32\).export"):
        ranged().export(tmp_path / "gemv")
    assert not (tmp_path / "gemv").exists()
