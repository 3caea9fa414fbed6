"""Statements at the end of two blocks that are the same but for names, and what they may not depend on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from egglift.codegen.kernel import common_suffix
from egglift.codegen.kernel.common_suffix import common_end
from egglift.codegen.kernel.imperative import (
    Barrier,
    Buffer,
    Call,
    Comment,
    Const,
    Declare,
    Guarded,
    If,
    IndexValue,
    Let,
    Load,
    Loop,
    Name,
    ScalarValue,
    Statement,
    Store,
)
from egglift.codegen.kernel.index import ZERO, Index, Var, index
from egglift.ir.types import F32, I32

X, OUT = Buffer("x", "global", F32, 64), Buffer("out", "global", F32, 64)
STAGED = Buffer("s0", "local", F32, 64)
G, LANE = Var("g0", 16, "global"), Var("v0", 4, "lane")
ONE, TWO = Const(1.0, F32), Const(2.0, F32)
Block = list[Statement]


def register(n: int, size: int = 4) -> Buffer:
    return Buffer(f"r{n}", "private", F32, size)


def loop(n: int, *body: Statement, trips: int = 4) -> Loop:
    return Loop(Var(f"i{n}", trips, "loop"), trips, body)


def at(n: int, trips: int = 4) -> Index:
    return index(Var(f"i{n}", trips, "loop"))


def call(op: str, *args: ScalarValue) -> ScalarValue:
    return Call(op, args, F32)


def tile(n: int) -> Block:
    """A register array that is filled, summed and stored, and a vector; all names numbered by `n`."""
    r, lane, total = register(n), Var(f"v{n}", 4, "lane"), Name(f"t{n}", F32)
    place = Guarded(at(n), 3, Load(X, at(n) + 1), IndexValue(at(n), F32))
    return [
        Comment("toPrivate"),
        Declare(r),
        loop(n, Store(r, at(n), place)),
        Barrier(),
        Let(total.name, call("add", Load(r, index(0)), Load(r, index(3)))),
        If(((index(G), 8),), (Store(OUT, index(G), total),), 1.0, (Store(OUT, index(G), call("neg", total)),)),
        Store(OUT, index(lane) + 4, Load(X, index(lane)), lane),
    ]


def test_blocks_that_differ_in_names_alone_are_the_same() -> None:
    assert common_end(tile(0), tile(1)) == 7


def test_what_stands_before_what_is_the_same_does_not_count() -> None:
    inside, edges = [Store(OUT, ZERO, ONE), *tile(0)], [Store(OUT, ZERO, TWO), Barrier(), *tile(1)]
    assert common_end(inside, edges) == common_end(edges, inside) == 7


@pytest.mark.parametrize(("start", "count"), [(1, 6), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 0)])
def test_without_its_declaration_nothing_is_the_same(start: int, count: int) -> None:
    assert common_end(tile(0)[start:], tile(1)[start:]) == count


def test_blocks_of_which_one_is_empty_have_nothing_in_common() -> None:
    assert common_end([], [Barrier()]) == common_end([Barrier()], []) == 0


def test_what_follows_a_tile_in_local_memory_is_the_same() -> None:
    def staged(n: int, place: Index) -> Block:
        sums = loop(n, Store(OUT, at(n), Load(STAGED, at(n))))
        return [loop(n + 10, Store(STAGED, at(n + 10), Load(X, place))), Barrier(), sums]

    assert common_end(staged(0, index(G)), staged(1, index(G).clamp(8))) == 2


# ---------------------------------------------------------------------------------------- what they depend on

R0, R1 = register(0), register(1)


def used(r: Buffer) -> Store:
    return Store(OUT, ZERO, Load(r, index(2)))


def filled(r: Buffer, value: ScalarValue) -> Block:
    """A register is given a value, which is stored."""
    return [Declare(r), Store(r, index(2), value), used(r), Barrier()]


def test_a_register_of_what_comes_before_is_not_known() -> None:
    assert common_end(filled(R0, ONE), filled(R1, TWO)) == 1


def test_a_register_that_both_blocks_see_is_known() -> None:
    assert common_end(filled(R0, ONE)[1:], filled(R0, TWO)[1:]) == 2


def test_a_register_takes_along_all_that_fills_it() -> None:
    inside, edges = filled(R0, ONE), filled(R1, ONE)
    assert common_end([Comment("a"), *inside], [Comment("b"), *edges]) == 4


def test_a_register_is_not_taken_for_another() -> None:
    R2, R3 = register(2), register(3)
    assert common_end([Declare(R0), Declare(R2), used(R0)], [Declare(R1), Declare(R3), used(R1)]) == 3
    assert common_end([Declare(R0), Declare(R2), used(R0)], [Declare(R1), Declare(R3), used(R3)]) == 0


def test_a_number_of_what_comes_before_is_not_known() -> None:
    def block(n: int, value: ScalarValue) -> Block:
        return [Let(f"t{n}", value), Store(OUT, ZERO, Name(f"t{n}", F32)), Barrier()]

    assert common_end(block(0, ONE), block(1, TWO)) == 1
    assert common_end(block(0, ONE), block(1, ONE)) == 3
    assert common_end(block(0, ONE)[1:], block(0, TWO)[1:]) == 2  # it comes before both


# ---------------------------------------------------------------------------------------- what they do

I, J = at(0), at(1)
DIFFERENT: dict[str, tuple[Statement, Statement]] = {
    "constants": (Store(OUT, ZERO, ONE), Store(OUT, ZERO, TWO)),
    "places written": (Store(OUT, ZERO, ONE), Store(OUT, index(1), ONE)),
    "places read": (Store(OUT, ZERO, Load(X, ZERO)), Store(OUT, ZERO, Load(X, index(1)))),
    "buffers": (Store(OUT, ZERO, Load(X, ZERO)), Store(OUT, ZERO, Load(Buffer("y", "global", F32, 64), ZERO))),
    "targets": (Store(OUT, ZERO, ONE), Store(X, ZERO, ONE)),
    "functions": (Let("t", call("add", ONE, TWO)), Let("t", call("mul", ONE, TWO))),
    "arguments": (Let("t", call("sub", ONE, TWO)), Let("t", call("sub", TWO, ONE))),
    "numbers of arguments": (Let("t", call("neg", ONE)), Let("t", call("neg", ONE, ONE))),
    "types": (Let("t", IndexValue(ZERO, F32)), Let("t", IndexValue(ZERO, I32))),
    "numbers": (Let("t", IndexValue(ZERO, I32)), Let("t", IndexValue(index(G), I32))),
    "bounds": (Let("t", Guarded(index(G), 4, ONE, TWO)), Let("t", Guarded(index(G), 5, ONE, TWO))),
    "values beyond a bound": (Let("t", Guarded(index(G), 4, ONE, TWO)), Let("t", Guarded(index(G), 4, ONE, ONE))),
    "kinds of values": (Let("t", ONE), Let("t", Load(X, ZERO))),
    "lanes": (Store(OUT, index(LANE), ONE, LANE), Store(OUT, ZERO, ONE)),
    "numbers of lanes": (Store(OUT, ZERO, ONE, LANE), Store(OUT, ZERO, ONE, replace(LANE, count=8))),
    "trips": (loop(0, Barrier()), loop(1, Barrier(), trips=5)),
    "unrolling": (loop(0, Barrier()), replace(loop(1, Barrier()), unroll=True)),
    "ends of loops": (loop(0, Barrier()), replace(loop(1, Barrier()), until=(J, 2))),
    "bounds of loops": (replace(loop(0), until=(I, 3)), replace(loop(1), until=(J, 2))),
    "strides of loops": (loop(0, Store(OUT, I, ONE)), loop(1, Store(OUT, J * 2, ONE))),
    "lengths of bodies": (loop(0, Barrier(), Barrier()), loop(1, Barrier())),
    "conditions": (If(((index(G), 4),), (Barrier(),)), If(((index(G), 5),), (Barrier(),))),
    "numbers of conditions": (If(((index(G), 4),), (Barrier(),)), If((), (Barrier(),))),
    "other branches": (If(((index(G), 4),), (), 1.0, (Barrier(),)), If(((index(G), 4),), ())),
    "barriers": (Barrier("local"), Barrier("global")),
    "comments": (Comment("a"), Comment("b")),
    "sizes": (Declare(register(0)), Declare(register(1, 5))),
    "kinds of statements": (Barrier(), Comment("a")),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_statements_that_do_something_else_are_not_the_same(name: str) -> None:
    a, b = DIFFERENT[name]
    assert common_end([a, Barrier()], [b, Barrier()]) == common_end([b, Barrier()], [a, Barrier()]) == 1
    assert common_end([a, Barrier()], [a, Barrier()]) == common_end([b, Barrier()], [b, Barrier()]) == 2


def test_long_blocks_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    count, one = [0], common_suffix._one

    def counted(*given: object) -> bool:
        count[0] += 1
        return one(*given)  # type: ignore[arg-type]

    def lets(n: int, start: ScalarValue) -> Block:
        names = [f"{'ab'[n]}{i}" for i in range(200)]
        values = [start, *(Name(name, F32) for name in names)]
        return [Let(name, call("add", v, ONE)) for name, v in zip(names, values)]

    monkeypatch.setattr(common_suffix, "_one", counted)
    assert common_end(lets(0, ONE), lets(1, ONE)) == 200
    assert common_end(lets(0, ONE), lets(1, TWO)) == 0
    assert count[0] <= 2 * 2 * 200


def test_numbers_are_the_same_where_their_bits_are() -> None:
    def stored(number: float) -> Block:
        return [Store(OUT, index(G), Const(number, F32))]

    assert common_end(stored(0.0), stored(-0.0)) == 0
    assert common_end(stored(-0.0), stored(-0.0)) == common_end(stored(float("nan")), stored(float("nan"))) == 1
