"""Integers where C and NumPy differ: division of negative numbers, the smallest number, indices past 2^31."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.ir.notation import as_expr
from tests.harness import compute, run

# ---------------------------------------------------------------------------------------- division and remainder

SMALL = (-9, -8, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8, 9)


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """All combinations of signs and remainders, and the ends of the type, by divisors with both signs and zero."""
    ends = np.iinfo(dtype)
    numbers = (*SMALL, ends.min, ends.min + 1, ends.max, ends.max - 1)
    a, b = zip(*product(numbers, numbers), strict=True)
    return np.array(a, dtype), np.array(b, dtype)


@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_division_and_remainder_of_negative_numbers_are_numpys(dtype: str) -> None:
    """The floor, where C truncates; the smallest number by -1 wraps around; by 0 both are 0."""
    a, b = pairs(dtype)
    t = el.i32 if dtype == "i4" else el.i64
    x, y = el.array("x", t, len(a)), el.array("y", t, len(a))
    with np.errstate(all="ignore"):
        quotient, remainder = a // b, a % b
    negative = (a < 0) != (b < 0)
    assert (negative & (b != 0) & (remainder != 0)).sum() > 60  # there, truncation would give other numbers
    for program, wanted in ((x // y, quotient), (x % y, remainder)):
        assert np.array_equal(compute(as_expr(program), x=a, y=b), wanted)
        assert np.array_equal(el.interpret(program, x=a, y=b), wanted)


@pytest.mark.parametrize("divisor", [-7, -4, -1, 1, 4, 7])
@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_division_by_a_number_of_the_program_is_numpys(dtype: str, divisor: int) -> None:
    a = np.unique(pairs(dtype)[0])
    x = el.array("x", el.i32 if dtype == "i4" else el.i64, len(a))
    quotient, remainder = run(compile_term(as_expr(el.tuple(x // divisor, x % divisor))), {"x": a})
    with np.errstate(all="ignore"):
        assert np.array_equal(quotient, a // a.dtype.type(divisor))
        assert np.array_equal(remainder, a % a.dtype.type(divisor))


@pytest.mark.parametrize("divisor", [1, 3, 4, 7])
def test_indices_that_become_negative_are_divided_as_numpy_does(divisor: int) -> None:
    """Numbers computed from positions alone are simplified as indices are: there too division is the floor."""
    n, i, wanted, programs = np.arange(20), el.iota(20), list[np.ndarray](), list[el.Value]()
    for offset in (-13, -1, 5):
        wanted += [(n + offset) // divisor, (n + offset) % divisor, (offset - n) // divisor, (offset - n) % divisor]
        programs += [(i + offset) // divisor, (i + offset) % divisor, (offset - i) // divisor, (offset - i) % divisor]
    for found, right in zip(run(compile_term(as_expr(el.tuple(*programs))), {}), wanted, strict=True):
        assert np.array_equal(found, right)


# ---------------------------------------------------------------------------------------- past 2^31

COLUMNS = 1 << 15


def accesses(program: el.Value) -> dict[str, str]:
    """The text of the index into each array of the program's kernel."""
    source = compile_term(as_expr(program)).source
    return dict(re.findall(r"\b(x|b|out)\[([^\[\]]*)\]", source))


def table(rows: int) -> el.Value:
    """A row added to all rows of a matrix."""
    b = el.array("b", el.f32, COLUMNS)
    return el.array("x", el.f32, (rows, COLUMNS)).map(lambda row: row.map(lambda p, q: p + q, b))


def is_long(index: str) -> bool:
    return "long" in index or "L" in index


def test_an_array_of_2_to_the_31_elements_has_indices_of_32_bits() -> None:
    found = accesses(table(1 << 16))
    assert set(found) == {"x", "b", "out"}
    assert not any(map(is_long, found.values()))


def test_one_row_more_widens_the_indices_of_these_arrays_only() -> None:
    found = accesses(table((1 << 16) + 1))
    assert is_long(found["x"]) and is_long(found["out"])
    assert not is_long(found["b"]), "the row itself is short"


def test_what_fits_into_32_bits_stays_there_in_large_programs() -> None:
    """The sum of a long row has its place by a short index."""
    x = el.array("x", el.f32, ((1 << 16) + 1, COLUMNS))
    found = accesses(x.map(lambda row: row.reduce(el.add)))
    assert is_long(found["x"]) and not is_long(found["out"])


def test_only_the_expression_that_leaves_32_bits_is_wide() -> None:
    """Of an index's three branches, one may exceed 2^31 where it is not taken: it alone has 64 bits."""
    wrapped = el.array("x", el.f32, (1 << 31) - 2).pad(1, 1, "wrap")
    assert wrapped.shape == (1 << 31,)
    source = compile_term(as_expr(wrapped), limits=DeviceLimits(warp=32)).source  # ids of a CPU are wide in any case
    assert "long" not in source and source.count("L*") == 1
    assert "== 0 ? 67108864L*i0 + g0 + 2147483645 : 67108864*i0 + g0 - 2147483647" in source


def test_a_strided_counter_is_wide_where_its_last_step_is() -> None:
    def header(n: int) -> str:
        source = compile_term(as_expr(el.array("x", el.i8, n).map(lambda v: v + 1))).source
        return next(line for line in source.splitlines() if "for (" in line)

    assert "for (long i0 = g0; i0 < 2147483647; i0 += 67108864)" in header((1 << 31) - 1)
    assert "for (int i0 = 0; i0 < 32; ++i0)" in header(1 << 31)
    assert "for (long i0 = g0; i0 < 2147483649; i0 += 67108864)" in header((1 << 31) + 1)
    assert "for (int i0 = g0;" in header((1 << 31) - (1 << 27) - 1)
