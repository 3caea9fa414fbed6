"""What is done to loops over arrays before they are searched: hoisting, counting, rows, components, chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.counters import counted
from egglift.ir.hoisting import hoisted
from egglift.ir.inner_program import inner
from egglift.ir.lifting import as_program
from egglift.ir.loads_ahead import in_chunks
from egglift.ir.own_components import arrays_alone
from egglift.ir.rows_apart import row_loops
from egglift.ir.scan_components import read_components
from egglift.ir.traverse import subterms
from egglift.ir.types import dims
from tests.ir.loops import alike, the_loop

T, B, D, H = 5, 4, 3, 6


def a(name: str, *shape: int) -> Any:
    return el.array(name, el.f32, shape)


def folded(step: Callable[[Any, Any], Any], *shape: int, start: Any = None) -> Any:
    whole = el.fold(step, a("s", B, H) if start is None else start, a("x", T, *shape))
    return the_loop(inner(as_program(whole)))


# ---------------------------------------------------------------------------------------- hoisting


def test_products_of_elements_alone_come_before_the_loop() -> None:
    loop = folded(lambda h, x: np.tanh(x @ a("w", D, H) + h @ a("u", H, H)), B, D)
    new = hoisted(loop)
    assert alike(new, loop) and isinstance(new.x, p.Map) and dims(type_of(new.x)) == (T, B, H)
    assert sum(isinstance(t, p.Reduce) for t in subterms(new.body)) == 1


def test_elements_that_are_read_elsewhere_are_kept() -> None:
    loop = folded(lambda h, x: x @ a("u", H, H) + h * x, B, H)
    new = hoisted(loop)
    assert alike(new, loop) and isinstance(new.x, p.Zip) and new.x.arrays[0] is loop.x


@pytest.mark.parametrize(
    "step",
    [
        lambda h, x: np.tanh(x) + h,  # no loop
        lambda h, x: (x * h) @ a("u", H, H),  # of the state, too
        lambda h, x: h + x.sum(),  # a number
    ],
)
def test_what_is_cheap_or_reads_the_state_stays(step: Callable[[Any, Any], Any]) -> None:
    loop = folded(step, B, H)
    assert hoisted(loop) is loop


# ---------------------------------------------------------------------------------------- counters


def test_iterations_that_count_go_over_numbers() -> None:
    def step(s: Any) -> Any:
        return el.tuple(s[0] + a("x", T, H).gather(el.fill(1, s[1]))[0], s[1] + 1)

    whole = as_program(el.iterate(T, step, el.tuple(a("s", H), el.literal(0, el.i32))))
    new = counted(whole)
    assert isinstance(the_loop(new), p.Fold) and alike(new, whole)


@pytest.mark.parametrize("begin", [0, 3])
@pytest.mark.parametrize("by", [1, 2])
def test_counters_begin_anywhere_and_take_any_steps(begin: int, by: int) -> None:
    def step(s: Any) -> Any:
        return el.tuple(s[0] * 0.5 + s[1].cast(el.f32), s[1] + by)

    whole = as_program(el.iterate(T, step, el.tuple(a("s", H), el.literal(begin, el.i32))))
    assert counted(whole) is not whole and alike(counted(whole), whole)


def test_what_grows_by_no_whole_number_is_no_counter() -> None:
    for step in (lambda s: el.tuple(s[0] * s[1], s[1] + 0.5), lambda s: el.tuple(s[0], s[1] * 2)):
        whole = as_program(el.iterate(T, step, el.tuple(a("s", H), el.literal(1.0, el.f32))))
        assert counted(whole) is whole


# ---------------------------------------------------------------------------------------- rows


def rowwise(h: Any, x: Any) -> Any:
    return np.concatenate([h[:, :1] + 1, np.minimum(h[:, :-1], x[:, None])], axis=1)


@pytest.mark.parametrize(
    ("step", "shape"),
    [
        (lambda h, x: np.tanh(h @ a("u", H, H) + x), (B, H)),
        (lambda h, x: h / h.sum(axis=1, keepdims=True) + x[:, None], (B,)),
        (lambda h, x: h.cummax(axis=1) * x, ()),
        (rowwise, (B,)),
    ],
)
def test_rows_that_never_meet_have_loops_of_their_own(step: Callable[[Any, Any], Any], shape: tuple[int, ...]) -> None:
    loop = folded(step, *shape)
    rows, alone = row_loops(loop)
    assert alike(rows, loop) and type_of(rows.x).length == B  # type: ignore[union-attr]
    assert alike(p.At(0, alone), loop)


@pytest.mark.parametrize(
    "step", [lambda h, x: a("m", B, B) @ h + x, lambda h, x: h / h.sum() + x, lambda h, x: np.roll(h, 1, axis=0) + x]
)
def test_rows_that_meet_are_one_loop(step: Callable[[Any, Any], Any]) -> None:
    assert len(row_loops(folded(step, B, H))) == 1


# ---------------------------------------------------------------------------------------- components, chunks


def test_scans_keep_the_components_that_are_read() -> None:
    def step(s: Any, x: Any) -> Any:
        return el.tuple(s[0] + s[1], s[1] * x, s[2] + x)

    states = el.accumulate(step, el.tuple(a("s", H), a("v", H), a("z", H)), a("x", T, H))
    for read, kept in (((0,), 1), ((2, 0), 2), ((0, 1, 2), 3)):
        parts = [states.map(lambda s, k=k: s[k]) for k in read]
        whole = as_program(el.tuple(*parts) if len(parts) > 1 else parts[0])
        new = read_components(whole)
        pair = the_loop(new).body
        assert alike(new, whole) and len(pair.items[1].items if isinstance(pair.items[1], p.Tup) else (0,)) == kept


def test_scans_that_are_read_as_a_whole_keep_all() -> None:
    states = el.accumulate(lambda s, x: el.tuple(s[0] + x, s[1] * x), el.tuple(a("s", H), a("v", H)), a("x", T, H))
    whole = as_program(states.map(lambda s: s[0] + s[1]))
    assert read_components(whole) is whole


@pytest.mark.parametrize("length", [1, 7, 8, 9, 31])
def test_elements_in_chunks_are_all_taken_in_order(length: int) -> None:
    x, w = a("x", length), a("w", H)
    whole = as_program(w.map(lambda v: x.fold(lambda s, e: s * v + e, 1.0)))
    new = in_chunks(whole, 4)
    assert alike(new, whole) and (new is whole) == (length < 8)


# ---------------------------------------------------------------------------------------- numbers beside arrays


def test_numbers_of_their_own_are_carried_by_a_loop_before() -> None:
    def step(s: Any, x: Any) -> Any:
        return el.tuple(s[0] * s[1] + x[0], s[1] * 0.9, s[2] + x[1][0] * s[1])

    start = el.tuple(a("s", H), el.literal(1.0, el.f32), el.literal(0.5, el.f32))
    whole = as_program(el.fold(step, start, el.zip(a("x", T, H), a("y", T, H))))
    new = arrays_alone(whole)
    loop = next(t for t in subterms(new) if isinstance(t, p.Fold))
    assert alike(new, whole) and dims(type_of(loop)) == (H,)


def test_numbers_that_depend_on_arrays_stay() -> None:
    def step(s: Any, x: Any) -> Any:
        return el.tuple(s[0] * s[1] + x, s[1] + s[0][0])

    whole = as_program(el.fold(step, el.tuple(a("s", H), el.literal(1.0, el.f32)), a("x", T, H)))
    assert arrays_alone(whole) is whole
