"""What of C is taken computes what gcc makes of it; what is not is refused, with its place and what to do."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import egglift as el
from egglift.frontend.source import read_source
from tests.frontend.against_gcc import differ
from tests.frontend.random_arithmetic import INTEGERS, LENGTH, TYPES, random_arithmetic

SUBSET = Path(__file__).with_name("subset.c")
#: of functions that are not run for n = 9
SIZES: dict[str, dict[str, Any]] = {
    "every_second_place": {"n": 8},
    "a_gather": {"n": 9, "A": (20,)},
    "tiled_by_hand": {"n": 16},
    "a_sum_over_two_loops": {"n": 4, "m": 5},
    "a_window_in_two_dimensions": {"n": 6, "m": 7},
    "steps_over_a_local_array": {"n": 8, "T": 3},
}
FUNCTIONS = [n for n, f in read_source(SUBSET).functions.items() if "static" not in f.decl.storage]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_computes_what_gcc_makes_of_it(name: str) -> None:
    places = {"idx": np.array([3, 1, 19, 0, 7, 7, 2, 11, 5], np.int32)} if name == "a_gather" else {}
    for seed in range(3):
        differ(SUBSET.read_text(), name, SIZES.get(name, {"n": 9}), seed=seed, **places)


WIDTHS = {"signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2", "int": "i4"}
WIDTHS |= {"unsigned": "u4", "long": "i8", "size_t": "u8"}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30))
def test_arithmetic_is_that_of_c(seed: int) -> None:
    text, rng = random_arithmetic(Random(seed)), np.random.default_rng(seed)
    bits = {n: np.dtype(WIDTHS[TYPES[n]]) for n in INTEGERS}
    arrays = {n: np.frombuffer(rng.bytes(LENGTH * t.itemsize), t).copy() for n, t in bits.items()}
    exact = "float out" not in text and "double out" not in text
    with np.errstate(all="ignore"):
        differ(text, "f", {}, seed=seed % 1000, tolerance=0 if exact else 1e-6, **arrays)


# ---------------------------------------------------------------------------------------- what is refused

N9 = {"n": 9}
REFUSED = {
    "a running sum": ("void f(int n, float *A) { for (int i = 1; i < n; i++) A[i] += A[i-1]; }", "same time"),
    "numbers that go on": (
        "void f(int n, float *B) { float c = 0; for (int i = 0; i < n; i++) { c = c + 2; B[i] = c; } }",
        r"c \(<text>:1:\d+\) wrote at an earlier iteration of i",
    ),
    "a histogram": (
        "void f(int n, const int *k, float A[9]) { for (int i = 0; i < n; i++) A[k[i]] += 1; }",
        r"<text>:1:71: A\[k\[i\]\] is scattered: .* compute each element of the result from what it reads \(gather\)",
    ),
    "a scatter": (
        "void f(int n, const int *k, float A[9]) { for (int i = 0; i < n; i++) A[k[i]] = 1; }",
        "is scattered: two iterations of i write one element",
    ),
    "collisions": (
        "void f(int n, float A[20]) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i+j] = i; }",
        "is scattered",
    ),
    "another name": (
        "void f(int n, float *A, float *B) { float *p = A; p = B; for (int i = 0; i < n; i++) p[i] = 1; }",
        "p points elsewhere from here on: pointers that move are not followed",
    ),
    "a moving pointer": (
        "void f(int n, float *A) { for (int i = 0; i < n; i++) *A++ = 1; }",
        "only arrays and pointers",
    ),
    "a break": (
        "void f(int n, float *A) { for (int i = 0; i < n; i++) { if (A[i] > 3) break; } }",
        "break ends a loop",
    ),
    "a return": ("void f(int n, float *A) { for (int i = 0; i < n; i++) return; }", "return ends the nest early"),
    "a while": ("void f(int n, float *A) { int i = 0; while (i < n) A[i++] = 1; }", "write a for with a known bound"),
    "beyond the end": (
        "void f(int n, float A[n]) { for (int i = 0; i < n; i++) A[i] = A[i+1]; }",
        "reaches from 1 to 9",
    ),
    "beyond the end for some": (
        "void f(int n, float A[n], float B[n]) { for (int i = 0; i < n; i++) B[i] = i > 0 ? A[i - 1] : A[i - 1]; }",
        r"<text>:1:95: A\[i - 1\] reaches from -1 to -1, but A has 9 elements there",
    ),
    "no value yet": (
        "void f(float A[4]) { float t[2]; t[0] = 1; A[0] = t[0] + t[1]; }",
        r"t\[1\] is read before it is",
    ),
    "a bound that is read": ("void f(float *A, int *n) { for (int i = 0; i < *n; i++) A[i] = 1; }", "must be known"),
    "a changed iterator": (
        "void f(float *A) { for (int i = 0; i < 9; i++) { A[i] = 1; i++; } }",
        "i is changed within",
    ),
    "no end": ("void f(float *A) { for (int i = 0; i < 9; i--) A[i] = 1; }", "does not end the loop"),
    "old values of the next row, again and again": (
        """void f(double B[6][6]) {
            for (int i = 1; i < 5; i++)
                for (int j = 0; j < 6; j++) {
                    for (int l = 0; l < 6; l++) B[i][l] += 2;
                    double s = B[i + 1][i] - 2;
                    for (int l = 2; l < 6; l++) B[i][l] = s;
                }
        }""",
        "same time|overwrite each other",
    ),
    "an unsigned end": (
        "void f(float *A) { for (unsigned i = 8; i >= 0; i--) A[i] = 1; }",
        "i is u32 and moves by -1: this condition does not end",
    ),
    "an end that is passed": ("void f(float *A) { for (int i = 4; i != 2; i++) A[i] = 1; }", "does not end the loop"),
    "pointers to pointers": ("void f(float **A) { A[0][0] = 1; }", "pass one array with its rows"),
    "a structure": ("struct s { float x; }; void f(struct s *A) { A[0].x = 1; }", "no array of numbers"),
    "a recursion": ("float g(float x) { return g(x); } void f(float *A) { A[0] = g(A[0]); }", "g calls itself"),
    "an unknown function": (
        "void f(float *A) { A[0] = g(A[0]); }",
        "neither a function of this file nor one of math.h",
    ),
    "an unknown name": ("void f(float *A) { A[0] = b; }", "b is not declared"),
    "a row as a number": ("void f(float A[4][4]) { A[0] = 1; }", "A has 2 subscripts, not 1"),
    "an assignment inside": ("void f(float *A) { A[0] = 1 + (A[1] = 2); }", "a statement of its own"),
    "no effect": ("void f(int n) { }", "nothing is written"),
    "a condition for cpp": ("#if X > 1\n#endif\nvoid f(float *A) { A[0] = 1; }", "preprocess the file first"),
    "no C": ("void f(float *A) { A[0] = ; }", "<text>:.*this is no C that is taken here"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_taken_is_refused(what: str) -> None:
    text, why = REFUSED[what]
    with pytest.raises(el.ProgramError, match=why) as found:
        el.from_c(text, "f", N9)
    assert type(found.value) is el.ProgramError
    assert what == "no effect" or str(found.value).startswith("<text>:")


def test_sizes_that_are_missing_are_named() -> None:
    with pytest.raises(el.ProgramError, match=r"a bound of i is n: give sizes=\{'n': ...\}"):
        el.from_c("void f(int n, float *A) { for (int i = 0; i < n; i++) A[i] = 1; }")
    with pytest.raises(el.ProgramError, match=r"how long A is, is not known: give sizes=\{'A': ...\}"):
        el.from_c("void f(float *A, int *k, float *B) { for (int i = 0; i < 9; i++) B[i] = A[k[i]]; }")


# ---------------------------------------------------------------------------------------- files, texts and nests

NEST = """
unsigned n, m;
float *A, *x, *y;
float sum;
for (unsigned i = 0; i < n; i++) {
    sum = 0;
    for (unsigned k = 0; k < m; k++) /* a row of A */
        sum += A[i * m + k] * x[k];
    y[i] = sum;
}
"""


def test_a_nest_needs_no_function() -> None:
    A, x = el.array("A", el.f32, (4, 5)), el.array("x", el.f32, 5)
    assert el.as_program(el.from_c(NEST, sizes={"n": 4, "m": 5})) is el.as_program(A @ x)


def test_a_longer_array_keeps_its_rest() -> None:
    text = "void f(float *A) { for (int i = 0; i < 3; i++) A[i + 1] = 0; }"
    found = el.interpret(el.from_c(text, sizes={"A": 6}), A=np.arange(6, dtype=np.float32))
    assert found.tolist() == [0, 0, 0, 0, 4, 5]


def test_one_of_several_functions_is_named() -> None:
    text = "void f(float *A) { A[0] = 1; } void g(float *A) { A[0] = 2; }"
    assert el.interpret(el.from_c(text, "g")).tolist() == [2]
    with pytest.raises(el.ProgramError, match=r"has the functions f, g: name one, function='f'"):
        el.from_c(text)
    with pytest.raises(el.ProgramError, match="has no function h; it has f, g"):
        el.from_c(text, "h")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(el.ProgramError, match="cannot read .*none.c: No such file"):
        el.from_c(tmp_path / "none.c")


def test_statements_that_share_a_number_stay_together() -> None:
    text = """void f(const float A[9], float y[9]) {
        for (int i = 0; i < 9; i++)
            for (int t = 0; t < 3; t++) {
                float s = A[i];
                for (int l = 0; l < 9; l++) { y[i] += s; s += A[l]; }
                for (int l = 0; l < 9; l++) s = s * 2 + A[l];
                y[i] += s;
            }
    }"""
    differ(text, "f", {})
