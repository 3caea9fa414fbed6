"""Exported programs in C99 compile without a warning and compute what the interpreter says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.export.c_source import quoted, strings
from egglift.codegen.export.folder import texts, write_folder
from egglift.codegen.export.host_program import HostProgram, host_program
from egglift.ir.check import type_of
from egglift.ir.signature import inputs_of
from tests.codegen.export.c_compiler import STRICT, compiled, execute, headers, loader, results
from tests.codegen.low import flat, meaning
from tests.codegen.samples.book import SAMPLES, Sample
from tests.codegen.test_samples import agree
from tests.deep import sampled
from tests.machine_tools import require_tool

HERE = Path(__file__).parent
GOLDEN = HERE.parent.parent / "golden"
#: several kernels, an iteration, arrays of tuples, bools, a constant, a number, nothing
OFTEN = {
    "two kernels",
    "iterate, then map",
    "arrays of tuples",
    "masks",
    "a constant matrix",
    "a scalar",
    "an empty map",
    "a literal",
    "dealt sum",
    "two results from one kernel",
}


def exported(s: Sample, name: str) -> HostProgram:
    plan = compile_term(s.term, s.launch)
    return host_program(name, plan, inputs_of(s.term), type_of(s.term))


@pytest.mark.parametrize("name", sampled(dict.fromkeys([*sorted(OFTEN), *list(SAMPLES)[::2]]), OFTEN.__contains__))
def test_the_example_computes_the_programs_meaning(name: str, tmp_path: Path) -> None:
    s = SAMPLES[name]
    p = exported(s, "sample")
    write_folder(tmp_path / "made", texts(p, "c99"))
    given = s.inputs()
    leaves = [leaf for n in inputs_of(s.term) for leaf in flat(given[n])]
    wanted = meaning(s.term, **given)
    agree(wanted, results(tmp_path / "made", "sample", leaves, [(w.size, w.dtype) for w in wanted]))


@pytest.mark.parametrize("ending", ["h", "c"])
def test_the_text_is_as_reviewed(ending: str, request: pytest.FixtureRequest) -> None:
    made = texts(exported(SAMPLES["two kernels"], "two_kernels"), "c99")[f"two_kernels.{ending}"]
    path = GOLDEN / f"exported_two_kernels.{ending}"
    if request.config.getoption("--update-golden"):
        path.write_text(made)
    assert made == path.read_text(), "pytest --update-golden writes what it looks like now"


@pytest.mark.parametrize("source", ["errors.c", "threads.c"])
def test_a_caller_is_told_what_is_wrong(source: str, tmp_path: Path) -> None:
    """Each of the two programs ends with 0 where all that it expects is so, and else says what is not."""
    write_folder(tmp_path / "axpy", texts(exported(SAMPLES["axpy"], "axpy"), "c99"))
    caller = tmp_path / "axpy" / source
    caller.write_text((HERE / source).read_text())
    done = execute(compiled(tmp_path / "caller", tmp_path / "axpy" / "axpy.c", caller))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_no_platform_is_no_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path / "axpy", texts(exported(SAMPLES["axpy"], "axpy"), "c99"))
    example = compiled(tmp_path / "example", tmp_path / "axpy" / "axpy.c", tmp_path / "axpy" / "axpy_example.c")
    assert execute(example).returncode == 0
    monkeypatch.setattr("tests.codegen.export.c_compiler.LIBRARIES", tmp_path / "none" / ".libs")
    done = execute(example)
    assert done.returncode == 1
    assert "there is no OpenCL device" in done.stderr


def test_kernels_that_do_not_compile_give_the_log(tmp_path: Path) -> None:
    files = texts(exported(SAMPLES["axpy"], "axpy"), "c99")
    files["axpy.c"] = files["axpy.c"].replace("void k0(", "void k0(unheard_of q, ")
    write_folder(tmp_path / "axpy", files)
    example = compiled(tmp_path / "example", tmp_path / "axpy" / "axpy.c", tmp_path / "axpy" / "axpy_example.c")
    done = execute(example)
    assert done.returncode == 1
    assert "the kernels were not built" in done.stderr
    assert "unheard_of" in done.stderr


def test_cmake_builds_the_example(tmp_path: Path) -> None:
    require_tool("cmake")
    write_folder(tmp_path / "axpy", texts(exported(SAMPLES["axpy"], "axpy"), "c99"))
    where = [f"-DOpenCL_INCLUDE_DIR={headers()}", f"-DOpenCL_LIBRARY={loader()}"]
    build = tmp_path / "build"
    subprocess.run(["cmake", "-S", tmp_path / "axpy", "-B", build, *where], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", build], check=True, capture_output=True)
    assert execute(build / "axpy_example").stdout.startswith("out: ")


def test_a_class_wraps_it_in_cpp(tmp_path: Path) -> None:
    write_folder(tmp_path / "axpy", texts(exported(SAMPLES["axpy"], "axpy"), "cpp"))
    caller = tmp_path / "axpy" / "caller.cpp"
    caller.write_text((HERE / "caller.cpp").read_text())
    part = compiled(tmp_path / "axpy" / "axpy.o", tmp_path / "axpy" / "axpy.c", strict=(*STRICT, "-c"))
    strict = ("-std=c++11", *STRICT[1:])
    done = execute(compiled(tmp_path / "caller", part, caller, compiler="g++", strict=strict))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("name", ["made", "run", "build", "open", "self", "x"])
def test_names_of_the_c_file_do_for_programs(name: str, tmp_path: Path) -> None:
    s = SAMPLES["axpy"]
    write_folder(tmp_path / name, texts(exported(s, name), "cpp"))
    compiled(tmp_path / "example", tmp_path / name / f"{name}.c", tmp_path / name / f"{name}_example.c")


def test_literals_have_no_trigraphs_and_are_short() -> None:
    assert quoted('a ??= "b"\\\n') == r'"a ?\?= \"b\"\\\n"'
    pieces = [*strings("x" * 9000 + "\nshort\n")]
    assert max(map(len, pieces)) < 4095
    assert "".join(p[1:-1] for p in pieces) == "x" * 9000 + r"\nshort\n"
