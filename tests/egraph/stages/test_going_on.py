"""What only goes on with what others reduce is computed with them: when, and what it means then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import egglift as el
from tests.egraph.staged import texts

#: indices of other dimensions for which what is costly is written
STORED = 2


def f32(name: str, *shape: int) -> Any:
    return el.array(name, el.f32, shape)


X, U, V, W = f32("X", 12, 20), f32("U", 20, 16), f32("V", 20, 16), f32("W", 16, 8)
b = f32("b", 16)


@pytest.mark.parametrize(
    ("program", "sums"),
    [
        (lambda: (el.tanh(X @ U) * (X @ V)) @ W, 2),  # both reduce as many
        (lambda: el.exp(X @ U + b) @ W, 1),  # with what others read
        (lambda: W.T @ el.exp(X @ U + b).T, 1),  # across
    ],
)
def test_products_of_products_are_two_stages(program: Callable[[], Any], sums: int) -> None:
    first, last = texts(program(), again=STORED)
    assert first.count("(add for 2 < 20 of") == sums and last.count("(add for") == 1


@pytest.mark.parametrize(
    ("program", "count"),
    [
        (lambda: (el.tanh(X @ U) * (f32("Y", 12, 24) @ f32("Z", 24, 16))) @ W, 4),  # of other lengths
        (lambda: el.tuple(el.exp(X @ U + b) @ W, X @ U), 3),  # wanted itself
        (lambda: (lambda s: el.exp(s - s.max(axis=1, keepdims=True)) @ W)(X @ U), 4),  # read by others
        (lambda: (lambda s: el.exp(s + s.T) @ f32("R", 12, 8))(X @ f32("T", 20, 12)), 3),  # in two orders
    ],
)
def test_what_others_read_stays_a_stage(program: Callable[[], Any], count: int) -> None:
    assert len(texts(program(), again=STORED)) == count


def test_computed_factors_for_matrix_units_are_written() -> None:
    def factors(t: Any) -> Any:
        x, w = el.array("x", t, (12, 20)), el.array("w", t, (20, 16))
        return (x.astype(el.f32) * f32("s", 20)).astype(t) @ w

    written, product = texts(factors(el.f16), again=STORED)
    assert " = (cast f16 (mul (cast f32 x[0,1]) s[1]))" in written
    assert "(mul (cast f32 stage0[0,2]) (cast f32 (transpose w)[1,2]))" in product
    assert len(texts(factors(el.f32), again=STORED)) == 1  # multiplied where it is read: nothing about it is costly
