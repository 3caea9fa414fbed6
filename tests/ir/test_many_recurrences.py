"""Loops over arrays whose elements never meet become many loops, each over a few numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.inner_program import inner
from egglift.ir.lifting import as_program
from egglift.ir.many_recurrences import NEAR, beside_each_other
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged
from tests.ir.loops import alike, the_loop

N, T = 2 * NEAR + 1, 5
TURN = np.array([[0.8, 0.6], [-0.6, 0.8]], np.float32)


def s(*shape: int) -> Any:
    return el.array("s", el.f32, shape)


def x(*shape: int) -> Any:
    return el.array("x", el.f32, (T, *shape))


def orbit(state: Any, _: Any) -> Any:
    place, speed = state[0], state[1]
    far = (place * place).sum(axis=1, keepdims=True) + 1
    return el.tuple(place + speed, speed - place / far)


def twice(state: Any) -> Any:
    return el.tuple(state[0] * 0.5 + state[1], state[1] * state[0])


#: programs with loops whose elements never meet
APART: dict[str, Callable[[], Any]] = {
    "vectors": lambda: el.fold(lambda a, r: 0.9 * a + 0.1 * r, s(N), x(N)),
    "matrices": lambda: el.fold(lambda a, r: np.maximum(a, r) * 0.5, s(N, N + 1), x(N, N + 1)),
    "short rows": lambda: el.fold(lambda a, r: a @ TURN + r[:, None], s(N, 2), x(N)),
    "short columns": lambda: el.fold(lambda a, r: TURN @ a + r[None, :], s(2, N), x(N)),
    "a number for all": lambda: el.fold(lambda a, r: a * r[0] + r[1], s(N), x(2)),
    "columns of inputs": lambda: el.fold(lambda a, r: a + r[:, 1], s(N), x(N, 3)),
    "parts of inputs": lambda: el.fold(lambda a, r: a + r[:N], s(N), x(N + 3)),
    "other arrays": lambda: el.fold(lambda a, r: a * el.array("w", el.f32, N) + r, s(N), x(N)),
    "several arrays": lambda: el.fold(orbit, el.tuple(s(N, 2), el.array("v", el.f32, (N, 2))), el.iota(T, el.i32)),
    "all of their states": lambda: el.accumulate(lambda a, r: 0.9 * a + r, s(N), x(N)),
    "all states of matrices": lambda: el.accumulate(lambda a, r: a @ TURN + r, s(N, 2), x(N, 2)),
    "iterations": lambda: el.iterate(T, twice, el.tuple(s(N), el.array("v", el.f32, N))),
}

#: programs with loops whose elements meet, or that are none of arrays
TOGETHER: dict[str, Callable[[], Any]] = {
    "neighbours": lambda: el.fold(lambda a, r: a + np.roll(a, 1) * r, s(N), x(N)),
    "sums": lambda: el.fold(lambda a, r: a / a.sum() + r, s(N), x(N)),
    "products": lambda: el.fold(lambda a, r: el.array("w", el.f32, (N, N)) @ a + r, s(N), x(N)),
    "transposed": lambda: el.fold(lambda a, r: a.T + r, s(N, N), x(N, N)),
    "long rows": lambda: el.fold(lambda a, r: a + a.sum(axis=1, keepdims=True) + r, s(N, N), x(N, N)),
    "few numbers": lambda: el.fold(lambda a, r: a + r, s(NEAR), x(NEAR)),
    "different lengths": lambda: el.fold(
        lambda a, r: el.tuple(a[0] + r, a[1] * 2), el.tuple(s(N), el.array("v", el.f32, N + 1)), x(N)
    ),
    "numbers": lambda: el.fold(lambda a, r: a + r, 0.0, el.array("x", el.f32, T)),
}


def program(of: Callable[[], Any]) -> Expr:
    return inner(as_program(of()))


@pytest.mark.parametrize("name", APART)
def test_elements_that_never_meet_have_loops_of_their_own(name: str) -> None:
    whole = program(APART[name])
    new = beside_each_other(the_loop(whole))
    assert new and alike(exchanged(whole, new), whole)


@pytest.mark.parametrize("name", APART)
def test_their_loops_carry_numbers(name: str) -> None:
    whole = program(APART[name])
    (loop,) = {the_loop(e) for e in (exchanged(whole, beside_each_other(the_loop(whole))),)}
    start = loop.init.items if isinstance(loop.init, p.Tup) else (loop.init,)
    assert isinstance(loop, p.Fold | p.ScanSeq) and all(not isinstance(e, p.Map | p.Zip) for e in start)


@pytest.mark.parametrize("name", TOGETHER)
def test_elements_that_meet_stay_together(name: str) -> None:
    assert beside_each_other(the_loop(program(TOGETHER[name]))) == {}
