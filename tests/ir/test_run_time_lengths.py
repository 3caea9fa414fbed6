"""Programs over lengths that a call says: what they may be, their types, their meaning, their text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.called_lengths import CalledLengths
from egglift.ir.run_time_lengths import at_lengths, lengths_of
from tests.run_time_programs import PROGRAMS

n, m = el.size("n"), el.size("m", min=0, max=64, multiple=4)
x, A = el.array("x", el.f32, n), el.array("A", el.f32, (n, m))


@pytest.mark.parametrize(
    "value, type",
    [
        (x[1:] + x[:-1], "[f32](n - 1)"),
        (x[2 : n - 1], "[f32](n - 3)"),
        (x.pad(1, n + 1), "[f32](2*n + 2)"),
        (x.concat(x), "[f32]2*n"),
        (A.join(), "[f32]m*n"),
        (A.map(lambda row: row.split(4)), "[[[f32]4](m//4)]n"),
        (A.T, "[[f32]n]m"),
        (x.pad_up(16), "[f32]16*((n + 15) // 16)"),
        (el.iota(n + 3), "[i64](n + 3)"),
        (x.slide(3, 1), "[[f32]3](n - 2)"),
    ],
)
def test_types_hold_expressions_over_lengths(value: el.Value, type: str) -> None:
    assert str(value.type) == type


def test_lengths_that_differ_for_some_numbers_are_refused() -> None:
    like = el.array("y", el.f32, 1 << 20)  # as long as n is liked
    for other in (like, el.array("z", el.f32, n + 1), el.array("u", el.f32, m)):
        with pytest.raises(el.ShapeError, match="n"):
            el.zip(x, other)


def test_what_divides_no_length_is_refused() -> None:
    with pytest.raises(el.ShapeError, match="4 does not divide n"):
        x.split(4)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"name": "2n"}, "cannot name a length"),
        ({"name": "n", "min": -1}, "min is -1"),
        ({"name": "n", "multiple": 0}, "multiple is 0"),
        ({"name": "n", "max": 3, "multiple": 4}, "no multiple of 4 in 1..3"),
        ({"name": "n", "like": 2.0}, "like must be a whole number"),
        ({"name": "n", "max": True}, "max must be a whole number"),
    ],
)
def test_impossible_lengths_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(el.ProgramError, match=message):
        el.size(**given)


def test_what_needs_a_number_says_that_there_is_none() -> None:
    for f in (float, int, lambda k: k / 2, lambda k: k * 2.0):
        with pytest.raises(el.ShapeError, match="n is known when the kernel is called"):
            f(n)  # type: ignore[operator]
    with pytest.raises(el.ShapeError, match=r"use .shape\[0\]"):
        len(x)


def test_two_lengths_of_one_name_are_refused() -> None:
    both = el.as_program((x.reduce(el.add, 0.0), el.array("y", el.f32, el.size("n", max=7)).reduce(el.add, 0.0)))
    with pytest.raises(el.ProgramError, match="two lengths are named n, n = 1, 2, ...* and n = 1, 2, ..., 7"):
        lengths_of(both)


# ---------------------------------------------------------------------------------------- meaning


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("sizes", [(3, 1, 2), (5, 8, 1)])
def test_the_interpreter_takes_the_lengths_of_the_inputs(name: str, sizes: tuple[int, int, int]) -> None:
    p, numbers = PROGRAMS[name], dict(zip("nmk", sizes, strict=True))
    data = p.data(numbers)
    np.testing.assert_allclose(el.interpret(p.expr, **data), p.meaning(*data.values()), rtol=1e-5)


def test_a_length_is_a_number_of_the_program_too() -> None:
    value = x.mean() * n + el.iota(n, el.i64).map(lambda i: n - 1 - i)
    found = el.interpret(value, x=np.arange(4, dtype=np.float32))
    assert found.tolist() == [9, 8, 7, 6]


CALLS = el.as_program(A.map(lambda row: row.reduce(el.add, 0.0)) + x + el.array("z", el.f32, 2 * n + 1)[: 2 * n : 2])


@pytest.mark.parametrize(
    "shapes, message",
    [
        (
            {"A": (5, 8), "x": (4,), "z": (11,)},
            "n is 5 where axis 0 of input A has 5 elements, and 4 where axis 0 of input x has 4 elements",
        ),
        (
            {"A": (5, 8), "x": (5,), "z": (13,)},
            "n is 5 where axis 0 of input A has 5 elements, and 6 where axis 0 of input z has 13 elements",
        ),
        ({"A": (5, 8), "x": (5,), "z": (12,)}, r"axis 0 of input z has 12 elements, which is 2\*n \+ 1 for no n"),
        (
            {"A": (5, 9), "x": (5,), "z": (11,)},
            "axis 1 of input A has 9 elements, so that m is 9; it may be m = 0, 4, ",
        ),
        ({"A": (5, 68), "x": (5,), "z": (11,)}, r"m is 68; it may be m = 0, 4, \.\.\., 64"),
        ({"A": (0, 8), "x": (0,), "z": (1,)}, "n is 0; it may be n = 1, 2, "),
        ({"A": (5,), "x": (5,), "z": (11,)}, r"input A has shape \(5,\), but the program takes \[\[f32\]m\]n"),
        ({"A": (5, 8), "x": (5,)}, "missing: z"),
    ],
)
def test_shapes_that_say_no_lengths_are_refused(shapes: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(el.ArgumentError, match=message):
        el.interpret(CALLS, **{name: np.ones(shape, np.float32) for name, shape in shapes.items()})


def test_tuples_say_lengths_by_their_arrays() -> None:
    pairs = el.array("p", (el.f32, el.i32), n)
    total = pairs.map(lambda a, b: a + b).reduce(el.add, 0.0)
    assert el.interpret(total, p=(np.ones(3, np.float32), np.arange(3, dtype=np.int32))) == 6


def test_a_length_that_no_input_has_is_refused() -> None:
    with pytest.raises(el.ProgramError, match="the length m is not that of any input"):
        CalledLengths(el.as_program(x.map(lambda v: el.iota(m).reduce(el.add, 0) + v)))


# ---------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_over_lengths_are_read_as_they_are_written(name: str) -> None:
    e = PROGRAMS[name].expr
    assert el.loads(el.dumps(e)) is e and el.loads(el.pretty(e)) is e


def test_ranges_and_expressions_are_in_the_text() -> None:
    e = el.as_program(
        (A.map(lambda row: row.split(m // 2).map(lambda r: r.mean() + r[0] * n)), x.pad_up(16), x[n // 3])
    )
    assert el.dumps(e).startswith("(lengths ((m 0 64 4 1048576) (n 1 none 1 1048576)) ")
    assert el.loads(el.dumps(e)) is e


@pytest.mark.parametrize(
    "text, message",
    [
        ("(lengths ((n 1 none 0 8)) (input x [f32]n))", "column 12: n: multiple is 0"),
        ("(lengths ((n 1 none 1)) (input x [f32]n))", "expected what kernels are chosen for"),
        ("(lengths ((n 1 none 1 8)) (input x [f32]n)", "to end \\(lengths"),
        ("(lengths () (length q i64))", "q is none of the lengths"),
    ],
)
def test_malformed_lengths_are_named_where_they_stand(text: str, message: str) -> None:
    with pytest.raises(el.ProgramError, match=message):
        el.loads(text)


def test_numbers_for_lengths_make_the_program_without_them() -> None:
    k = 10
    plain = el.array("x", el.f32, k)
    length = dict.fromkeys(lengths_of(el.as_program(x)), k)
    for f in (lambda v, k: v[1:] * v[: k - 1], lambda v, k: v.pad_up(4), lambda v, k: el.iota(k, el.i64) + v):
        assert at_lengths(el.as_program(f(x, n)), length) is el.as_program(f(plain, k))  # type: ignore[no-untyped-call]
