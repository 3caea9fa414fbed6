"""What people write beside plain nests computes what gcc makes of it, and a macro means what its text says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import egglift as el
from egglift.frontend.source import read_source
from tests.frontend.against_gcc import differ

WRITTEN = Path(__file__).with_name("as_written.c")
SIZES: dict[str, dict[str, Any]] = {"the_nearest_of_each": {"n": 5, "m": 4}, "largest_else_smallest": {"n": 4, "m": 5}}
SIZES |= {n: {"n": 9, "T": 3} for n in ("steps_that_are_recorded", "steps_that_shrink", "steps_in_turn")}
SIZES["several_things_of_the_best"] = {"n": 5, "m": 4}
FUNCTIONS = [n for n, f in read_source(WRITTEN).functions.items() if "static" not in f.decl.storage]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_computes_what_gcc_makes_of_it(name: str) -> None:
    for seed in range(3):
        differ(WRITTEN.read_text(), name, SIZES.get(name, {"n": 9}), seed=seed)


REFUSED = {
    "a sum as a factor": (
        "#define N 2+3\nvoid f(float *A) { A[0] = 2 * N; }",
        r"<text>:2:31: N: what stands around it takes `2\+3` apart: write \(2\+3\) at <text>:1:1",
    ),
    "an argument that is taken apart": (
        "#define SQUARE(x) (x * x)\nvoid f(float *A) { A[0] = SQUARE(A[0] + 1); }",
        r"<text>:2:34: SQUARE: `\(x \* x\)` takes its argument x apart: write \(x\) at <text>:1:1",
    ),
    "a macro of statements": (
        "#define SWAP(a, b) { float t = a; a = b; b = t; }\nvoid f(float *A) { SWAP(A[0], A[1]); }",
        r"<text>:2:20: `.*` \(<text>:1:1\) is no expression; write a function",
    ),
    "too few arguments": ("#define F(x, y) ((x)+(y))\nvoid f(float *A) { A[0] = F(1); }", "F takes 2 arguments, got 1"),
    "a macro of itself": ("#define F F + 1\nvoid f(float *A) { A[0] = F; }", "F .* stands for itself"),
    "two meanings": ("#define N 2\n#define N 3\nvoid f(float *A) { A[0] = N; }", "<text>:2:1: N is defined twice"),
    "a size that is defined": (
        "#define n 4\nvoid f(float *A) { for (int i = 0; i < n; i++) A[i] = 1; }",
        "<text>:1:1: n is defined here: leave it out of sizes",
    ),
    "a name that is another thing": ("#define s 4\nvoid f(float *A) { float s = 1; A[0] = s; }", "s is a macro"),
    "an open condition": ("#ifdef N\nvoid f(float *A) { A[0] = 1; }", "an #if has no #endif"),
    "a question to the compiler": ("#if N > 2\n#endif\nvoid f(float *A) { A[0] = 1; }", "preprocess the file first"),
    "what calls leave behind": (
        "void f(float *A) { static int calls = 0; A[0] = calls; }",
        "calls keeps its value from call to call",
    ),
    "bytes as numbers": (
        "static float g(const float *x) { return x[0]; } void f(const int *A, float *B) { B[0] = g(A); }",
        "A holds i32, and not f32",
    ),
    "a pointer that goes nowhere": ("void f(float *A) { float *p; p = A; p[0] = 1; }", "p points nowhere yet"),
    "a pointer that moves": ("void f(float *A, float *B) { A = B; A[0] = 1; }", "A points elsewhere from here on"),
    "a place that is read": (
        "void f(const int *k, float *A) { float *p = A + k[0]; p[0] = 1; }",
        "must be a sum of iterators and numbers",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_taken_is_refused(what: str) -> None:
    text, why = REFUSED[what]
    with pytest.raises(el.ProgramError, match=why) as found:
        el.from_c(text, "f", {"n": 4})
    assert type(found.value) is el.ProgramError
    assert str(found.value).startswith("<text>:")


def test_a_size_stands_for_a_name_that_is_not_declared() -> None:
    text = "float *x, *y; for (int i = 0; i < n; i++) y[i] = 2 * x[i];"
    assert el.from_c(text, sizes={"n": 7}).type == el.array("y", el.f32, 7).type


def test_a_size_takes_the_place_of_a_guarded_constant() -> None:
    text = "#ifndef N\n#define N 4\n#endif\nvoid f(float A[N]) { for (int i = 0; i < N; i++) A[i] = 1; }"
    assert el.from_c(text).type == el.array("A", el.f32, 4).type
    assert el.from_c(text, sizes={"N": 7}).type == el.array("A", el.f32, 7).type
