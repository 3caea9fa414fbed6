"""Lengths that a call says: their arithmetic is that of numbers, and what is asked of them is recorded."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, TypeAlias

import numpy as np
import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from egglift.ir.errors import ShapeError
from egglift.ir.length_forms import RunTimeLength
from egglift.ir.lengths import DECLARED, Length, Tracing, divides, gcd, surely_less, upper
from tests.smt import Proofs, conditions_of, integer, of_form

N, M = RunTimeLength("n", min=0), RunTimeLength("m", min=0, multiple=4)
#: from numbers for lengths, plain or traced, to a number
Computing: TypeAlias = "Callable[[Mapping[RunTimeLength, int]], int]"

NUMBERS = st.sampled_from([0, 1, 2, 3, 5, 15, 16, 17, 62, 63, 64, 65, 100, 128, 1000, 5000])
VALUES = st.builds(lambda n, q: {N: n, M: 4 * q}, NUMBERS, NUMBERS)


def _divided(a: int, b: int) -> int:
    return a // b if b > 0 else a


def _left(a: int, b: int) -> int:
    return a % b if b > 0 else a


def _less(a: int, b: int) -> int:
    return min(a, b)


def _more(a: int, b: int) -> int:
    return a if a > b or a == 3 else b


OPERATIONS = (operator.add, operator.sub, operator.mul, _divided, _left, _less, _more, gcd)
LEAVES = st.one_of(
    st.sampled_from([N, M]).map(lambda length: lambda at: at[length]),
    st.sampled_from([0, 1, 2, 3, 7, 64]).map(lambda number: lambda at: number),
)


def _combined(parts: st.SearchStrategy[Computing]) -> st.SearchStrategy[Computing]:
    def both(op: Callable[[int, int], int], a: Computing, b: Computing) -> Computing:
        return lambda at: op(a(at), b(at))

    return st.builds(both, st.sampled_from(OPERATIONS), parts, parts)


COMPUTINGS = st.recursive(LEAVES, _combined, max_leaves=8)


def traced(values: Mapping[RunTimeLength, int]) -> tuple[Tracing, dict[RunTimeLength, int]]:
    """A tracing at these numbers, and its lengths."""
    tracing = Tracing(dict(values))
    return tracing, {n: tracing.length(n) for n in values}


def number(x: int, values: Mapping[RunTimeLength, int]) -> int:
    """What a traced number is for other lengths."""
    return x.form.number(values) if isinstance(x, Length) else x


@given(COMPUTINGS, VALUES, st.lists(VALUES, max_size=6))
def test_what_is_traced_holds_where_conditions_do(
    f: Computing, values: dict[RunTimeLength, int], others: list[dict[RunTimeLength, int]]
) -> None:
    tracing, lengths = traced(values)
    found = f(lengths)
    for v in (values, *(v for v in others if tracing.hold(v))):
        assert number(found, v) == f(v)


@pytest.mark.parametrize(
    "f, text",
    [
        (lambda n, m: (n + 1) - 1, "n"),
        (lambda n, m: (4 * n + 3) // 4, "n"),
        (lambda n, m: n * m // m, "n"),
        (lambda n, m: m // 2 * 2, "m"),
        (lambda n, m: -(-n // 64), "((n + 63) // 64)"),
        (lambda n, m: (n + m) * (n + m) - n * n, "m*m + 2*m*n"),
        (lambda n, m: n % 64 % 128, "(n % 64)"),
    ],
)
def test_equal_expressions_have_one_form(f: Callable[[int, int], Length], text: str) -> None:
    _, at = traced({N: 1009, M: 4 * 997})
    assert f(at[N], at[M]).form.inner == text


@pytest.mark.parametrize("f", [lambda n, m: n - n, lambda n, m: m % 4, lambda n, m: 8 * n % 4, lambda n, m: 0 * n])
def test_what_no_length_is_in_is_a_plain_number(f: Callable[[int, int], int]) -> None:
    _, at = traced({N: 1009, M: 4 * 997})
    found = f(at[N], at[M])
    assert type(found) is int and found == 0


def test_what_all_lengths_have_in_common_is_no_condition() -> None:
    tracing, at = traced({N: 1009, M: 4 * 997})
    n, m = at[N], at[M]
    assert n >= 0 and n + 1 > 0 and m % 4 == 0 and 64 * ((n + 63) // 64) >= n and n // 64 <= n and not n - n
    assert tracing.conditions == []


def test_what_is_asked_is_recorded_as_the_range_that_answers_so() -> None:
    tracing, at = traced({N: 1009, M: 400})
    n = at[N]
    assert n > 64 and n > 100 and not n < 7 and n != 1 and n != 500 and 3 * n < 30000
    assert [str(c) for c in tracing.conditions] == ["n >= 101", "n <= 9999", "n != 500"]


def test_a_length_is_no_key_for_the_number_that_it_has() -> None:
    tracing, at = traced({N: 1009, M: 400})
    _, other = traced({N: 1009, M: 400})
    n = at[N]
    known = {1009: "number", n: "length", n + 1: "more"}
    assert known[1009] == "number" and known[1 + n] == "more" and len({n, other[N], 1009}) == 3
    assert tracing.conditions == []


def test_lengths_that_happen_to_be_equal_are_told_apart() -> None:
    tracing, at = traced({N: 400, M: 400})
    assert at[N] == at[M] and at[N] == 400
    assert tracing.hold({N: 400, M: 400}) and not tracing.hold({N: 400, M: 404}) and not tracing.hold({N: 404, M: 404})


def test_every_expression_is_written_as_a_name_of_its_own() -> None:
    _, at = traced({N: 3, M: 400})
    n, m = at[N], at[M]
    written = [n, n - 1, 5 % n, 7 // n, -n, n * m, m // 2, (n + 63) // 64, 3 * n - m, (n * n + m) % (n + 9) // (m + 1)]
    names = [str(x) for x in written]
    assert all(name.isidentifier() and name.isascii() for name in names) and len({*names}) == len(names)
    assert names[:2] == ["n", "n_minus_1"] and [str(x) for x in written] == names


def test_how_many_bits_a_length_has_is_a_range() -> None:
    tracing, at = traced({N: 1009, M: 400})
    assert at[N].bit_length() == 10
    assert [n for n in (511, 512, 1023, 1024) if tracing.hold({N: n, M: 400})] == [512, 1023]


def test_what_is_only_known_is_not_recorded() -> None:
    tracing, at = traced({N: 1009, M: 400})
    n = at[N]
    assert not surely_less(n, 2000) and surely_less(n, n + 1) and upper(n, 5) is n and upper(n, n - 1) == n - 1
    assert not divides(8, n, ask=False) and divides(4, at[M], ask=False)
    assert tracing.conditions == []


@pytest.mark.parametrize(
    "f",
    [
        lambda n: 2.0 * n,
        lambda n: [0] * n,
        lambda n: "text"[n],
        lambda n: np.zeros(n),
        lambda n: memoryview(b"text")[n],
    ],
)
def test_what_would_lose_a_length_fails(f: Callable[[int], Any]) -> None:
    for n in (DECLARED.length(N), Tracing({N: 3}).length(N)):
        with pytest.raises((OverflowError, IndexError, ValueError, ShapeError)):
            f(n)


def test_a_number_taken_of_a_length_is_a_condition() -> None:
    tracing, at = traced({N: 1009, M: 400})
    assert len(range(int(at[N]))) == 1009
    assert [str(c) for c in tracing.conditions] == ["n == 1009"]


# ---------------------------------------------------------------------------------------- for all lengths


PROVED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "rounded up": (lambda n: -(-n // 64) * 64, lambda n: (n + 63) / 64 * 64),
    "rounded down": (lambda n: n // 64 * 64, lambda n: n - n % 64),
    "rest": (lambda n: n - n // 24 * 24, lambda n: n % 24),
    "quotient of a sum": (lambda n: (8 * n + 13) // 4, lambda n: (8 * n + 13) / 4),
    "remainder of a sum": (lambda n: (8 * n + 13) % 4, lambda n: (8 * n + 13) % 4),
    "difference": (lambda n: (5 - n) // 4, lambda n: (5 - n) / 4),
    "blocks of blocks": (lambda n: ((n + 31) // 32 + 15) // 16, lambda n: ((n + 31) / 32 + 15) / 16),
    "a number by it": (lambda n: 100 // n, lambda n: 100 / n),
    "below it": (lambda n: 5 % n, lambda n: 5 % n),
}


@pytest.mark.parametrize("name", PROVED)
def test_forms_are_proved_for_all_lengths(name: str) -> None:
    ours, theirs = PROVED[name]
    tracing = Tracing({N: 1009})
    found = ours(tracing.length(N))
    Proofs().prove([integer(found) == theirs(z3.Int("n"))], *conditions_of(tracing))


@pytest.mark.parametrize("name", PROVED)
def test_bounds_of_forms_are_proved_for_all_lengths(name: str) -> None:
    tracing = Tracing({N: 1009})
    n = tracing.length(N)
    form = (n * 3 - PROVED[name][0](n) // 5 + 1).form
    low, high = form.bounds
    limits = [of_form(form) >= int(low)] if low > -inf else []
    limits += [of_form(form) <= int(high)] if high < inf else []
    Proofs().prove([*limits, z3.BoolVal(True)], *conditions_of(tracing))
