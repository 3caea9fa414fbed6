"""Sums that are added to each other are one sum, and factors of all terms stand outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.partition import stages_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, only_stage, result, same, texts, whole
from tests.egraph.stages.programs import arr

pytestmark = pytest.mark.short

A, B, C, D = arr("A", 6, 9), arr("B", 9, 5), arr("C", 6, 9), arr("D", 9, 5)
W, x, s = arr("W", 3, 6, 9), arr("x", 11, 5), arr("s", 6)


def taps() -> Any:
    return sum(W[i] @ x[i : i + 9] for i in range(3))


ONE: dict[str, Callable[[], Any]] = {
    "two products": lambda: A @ B + C @ D,
    "a difference of products": lambda: A @ B - C @ D,
    "with something else between": lambda: A @ B + s[:, None] - (C @ D - 1.0),
    "a convolution's taps": taps,
    "what is subtracted from it": lambda: s[:, None] - (C @ D - A @ B),
}
SEVERAL: dict[str, Callable[[], Any]] = {
    "for other indices": lambda: A.sum(axis=1)[:, None] + B.sum(axis=0)[None, :],
    "over another length": lambda: A @ B + arr("E", 6, 4) @ arr("F", 4, 5),
    "largest elements": lambda: A.max(axis=1) + C.max(axis=1),
    "multiplied, not added": lambda: (A @ B) * (C @ D),
}


def additions(program: Any) -> int:
    return sum(t.count("(add for") for t in texts(program))


@pytest.mark.parametrize("name", ONE)
def test_sums_of_sums_are_one_sum(name: str) -> None:
    program = as_program(ONE[name]())
    assert additions(program) == 1
    assert same(program, whole(stages_of(program)), exact_inputs(program), 1e-5)


@pytest.mark.parametrize("name", SEVERAL)
def test_other_reductions_stay_apart(name: str) -> None:
    program = as_program(SEVERAL[name]())
    assert sum(t.count(" for ") for t in texts(program)) == 2
    assert same(program, whole(stages_of(program)), exact_inputs(program), 1e-5)


def test_a_sum_that_is_used_again_stays_apart() -> None:
    first = A @ B
    assert len(only_stage(as_program((first + C @ D) * first)).reductions) == 2


def test_sums_keep_their_order_where_that_is_asked_for() -> None:
    assert sum(t.count("(add for") for t in texts(as_program(A @ B + C @ D), reassociate=False)) == 2


def test_products_on_matrix_units_stay_apart() -> None:
    M, N = (el.array(n, el.f16, (16, 16)) for n in "MN")
    assert additions(as_program(M @ N + N @ M)) == 2


def test_a_factor_of_all_terms_stands_outside() -> None:
    row = lambda r, t: (r / t * B[:, 0]).sum()  # noqa: E731
    (text,) = texts(as_program(A.map(row, s)))
    assert text.endswith("(div (add for 1 < 9 of (mul A[0,1] (map (at 0 arg) B)[1])) s[0])")


def test_weights_of_attention_are_divided_once_for_each_result() -> None:
    e = el.exp(A - A.max(axis=1, keepdims=True))
    program = as_program((e / e.sum(axis=1, keepdims=True)) @ B)
    *_, last = texts(program)
    assert last.index("(div") < last.index("(add for")
    values = exact_inputs(program)
    expected, found = (result(t, values) for t in (program, whole(stages_of(program))))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_what_is_divided_twice_is_scaled_before_it_is_squared() -> None:
    program = as_program(A.map(lambda r, t: ((r / t) * (r / t)).sum(), s))
    (text,) = texts(program)
    assert text.index("(add for") < text.index("(div")
    large = {"A": np.full((6, 9), 1e30, np.float32), "s": np.full(6, 1e30, np.float32)}
    assert np.isfinite(result(whole(stages_of(program)), large)).all()
