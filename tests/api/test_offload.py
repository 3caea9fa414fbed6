"""Functions and nests of C programs, computed by OpenCL behind a call that takes their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import egglift as el
from egglift.cli import main
from tests.codegen.export.c_compiler import STRICT, compiled, execute

pytestmark = pytest.mark.short

GEMM = Path(__file__).parent.parent / "frontend" / "nests" / "gemm.c"
FUNCTIONS = """
#include <stddef.h>
double scale[4];
static inline float twice(float v) { return 2 * v; }
float dot(size_t n, const float *x, const float *y) {
    float s = 0;
    for (size_t i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}
void scaled(int n, float x[n]) { for (int i = 0; i < n; i++) x[i] = twice(x[i]) * scale[i]; }
"""
CALLER = """
#include <stdio.h>
#include "{name}_offload.h"
{before}
int main(void)
{{
{body}
    if (code != {NAME}_OK)
        fprintf(stderr, "%s\\n", {name}_offload_message());
    {name}_offload_end();
    return code;
}}
"""


def run(folder: Path, name: str, body: str, before: str = "") -> str:
    """What a program prints that calls NAME_offload."""
    text = CALLER.format(name=name, NAME=name.upper(), body=body, before=before)
    (folder / "main.c").write_text(text)
    sources = [folder / f for f in (f"{name}.c", f"{name}_offload.c", "main.c")]
    done = execute(compiled(folder / "main", *sources, strict=STRICT))
    assert done.returncode == 0, done.stderr
    return done.stdout


def offloaded(source: Path, folder: Path, function: str | None = None, **sizes: Any) -> Any:
    return el.offload(source, folder, function, sizes, "pocl", measure="none", cache=False)


def test_a_function_is_called_as_before(tmp_path: Path) -> None:
    done = offloaded(GEMM, tmp_path / "out", ni=2, nj=2, nk=2)
    assert done.call == "int code = gemm_offload(ni, nj, nk, alpha, beta, C, A, B);"
    assert done.place.endswith("gemm.c:2:6")
    assert "gemm_offload.c" in str(done)
    body = """
    double A[2][2] = {{1, 2}, {3, 4}}, B[2][2] = {{5, 6}, {7, 8}}, C[2][2] = {{1, 1}, {1, 1}};
    int code = gemm_offload(2, 2, 2, 1.0, 10.0, C, A, B);
    printf("%g %g %g %g", C[0][0], C[0][1], C[1][0], C[1][1]);
    """
    assert run(tmp_path / "out", "gemm", body) == "29 32 53 60"
    other = "double x[4] = {0}; int code = gemm_offload(2, 3, 2, 1.0, 1.0, (void *)x, (void *)x, (void *)x);"
    assert run(tmp_path / "out", "gemm", f"{other} code -= GEMM_WRONG_LENGTH;") == ""


@pytest.fixture
def functions(tmp_path: Path) -> Path:
    (tmp_path / "functions.c").write_text(FUNCTIONS)
    return tmp_path / "functions.c"


def test_what_a_function_returns_is_put_where_one_says(functions: Path, tmp_path: Path) -> None:
    done = offloaded(functions, tmp_path / "out", "dot", n=3)
    assert done.call == "int code = dot_offload(n, x, y, &returned);"
    body = """
    float x[3] = {1, 2, 3}, returned;
    int code = dot_offload(3, x, x, &returned);
    printf("%g", returned);
    """
    assert run(tmp_path / "out", "dot", body) == "14"


def test_variables_of_the_file_stay_where_they_are(functions: Path, tmp_path: Path) -> None:
    offloaded(functions, tmp_path / "out", "scaled", n=4)
    body = """
    float x[4] = {1, 1, 1, 1};
    int code = scaled_offload(4, x);
    printf("%g %g %g %g", x[0], x[1], x[2], x[3]);
    """
    assert run(tmp_path / "out", "scaled", body, "double scale[4] = {1, 2, 3, 4};") == "2 4 6 8"


def test_a_nest_without_a_function_gets_one(tmp_path: Path) -> None:
    source = tmp_path / "rows.c"
    source.write_text(
        "unsigned n; float A[3][2], y[3], sum;\n"
        "for (unsigned i = 0; i < n; i++) { sum = 0; for (int k = 0; k < 2; k++) sum += A[i][k]; y[i] = sum; }"
    )
    done = offloaded(source, tmp_path / "out", n=3)
    assert "rows_offload(n, (float *)A, (float *)y" in done.call
    body = f"""
    float A[3][2] = {{{{1, 2}}, {{3, 4}}, {{5, 6}}}}, y[3], sum;
    unsigned n = 3;
    {done.call}
    (void)sum;
    printf("%g %g %g", y[0], y[1], y[2]);
    """
    assert run(tmp_path / "out", "rows", body) == "3 7 11"


def test_the_command_line_offloads(functions: Path, tmp_path: Path, capsys: Any) -> None:
    command = ["offload", f"{functions}:dot", "--out", str(tmp_path / "out"), "--size", "n=64", "--device", "pocl"]
    assert main([*command, "--measure", "none"]) == 0
    assert "int code = dot_offload(n, x, y, &returned);" in capsys.readouterr().out
    assert (tmp_path / "out" / "dot_offload.h").exists()
    assert "dot_offload.c" in (tmp_path / "out" / "CMakeLists.txt").read_text()
    assert main(["offload", str(functions), "--out", str(tmp_path / "out")]) == 2
