"""Loops are unrolled as asked for unless that makes too much code of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Buffer, Call, Const, If, Let, Load, Loop, ScalarValue, Statement, Store
from egglift.codegen.kernel.index import ZERO, Var, index
from egglift.codegen.kernel.limit_unrolling import MOST, limit_unrolling
from egglift.ir.types import F32, I32
from tests.codegen.low import fmap, op, vector

STORE = Store(Buffer("x", "global", F32, 1), ZERO, Const(0.0, F32))
SOME = ((index(Var("g0", 4, "global")), 2),)


def nest(*trips: int, body: tuple[Statement, ...] = (STORE,)) -> Statement:
    """Loops in each other, unrolled; -n for one over n that is not."""
    for depth, n in reversed(list(enumerate(trips))):
        body = (Loop(Var(f"i{depth}", abs(n), "loop"), abs(n), body, unroll=n > 0),)
    return body[0]


@pytest.mark.parametrize("trips", [(MOST,), (64, MOST // 64), (16, 16, 16), (2, 3, 4), (64, -(1 << 20), 64), (-5000,)])
def test_small_loops_stay_unrolled(trips: tuple[int, ...]) -> None:
    assert limit_unrolling([nest(*trips)]) == (nest(*trips),)


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ((MOST + 1,), (-MOST - 1,)),
        ((65, 64), (-65, 64)),
        ((64, 64, 64), (-64, 64, 64)),
        ((2, 65, 64), (2, -65, 64)),  # twice a loop of 64 statements
        ((5000, 5000, 2), (-5000, -5000, 2)),
        ((64, -(1 << 20), 65), (-64, -(1 << 20), 65)),
    ],
)
def test_of_large_loops_the_outer_ones_stay_loops(asked: tuple[int, ...], given: tuple[int, ...]) -> None:
    assert limit_unrolling([nest(*asked)]) == (nest(*given),)


@pytest.mark.parametrize("otherwise", [False, True])
def test_branches_are_looked_into(otherwise: bool) -> None:
    def branch(s: Statement) -> If:
        return If(SOME, (), 1.0, (s,)) if otherwise else If(SOME, (s,))

    assert limit_unrolling([branch(nest(65, 64)), STORE]) == (branch(nest(-65, 64)), STORE)
    assert limit_unrolling([branch(nest(64, 64)), STORE]) == (branch(nest(64, 64)), STORE)
    assert limit_unrolling([nest(65, body=(branch(nest(64)),))]) == (nest(-65, body=(branch(nest(64)),)),)


def test_both_branches_are_code() -> None:
    both = (If(SOME, (STORE,), 1.0, (STORE,)),)
    assert limit_unrolling([nest(MOST // 2, body=both)]) == (nest(MOST // 2, body=both),)
    assert limit_unrolling([nest(MOST // 2 + 1, body=both)]) == (nest(-MOST // 2 - 1, body=both),)


@pytest.mark.parametrize(
    ("function", "trips", "unrolled"), [("mul", 16, True), ("exp", 16, True), ("tan", 7, True), ("tan", 16, False)]
)
def test_functions_written_out_are_code_in_every_lane(function: str, trips: int, unrolled: bool) -> None:
    value: ScalarValue = Load(STORE.buffer, ZERO)
    value = Call(function, (value, value) if function == "mul" else (value,), F32)
    vector = replace(STORE, value=value, lane=Var("v0", 16, "lane"))
    (loop,) = limit_unrolling([nest(trips, body=(vector,))])
    assert isinstance(loop, Loop) and loop.unroll == unrolled


def test_a_remainder_of_integers_is_one_statement() -> None:
    for scalar, unrolled in ((I32, True), (F32, False)):
        two = Const(2, scalar)
        (loop,) = limit_unrolling([nest(MOST // 8, body=(Let("t0", Call("mod", (two, two), scalar)),))])
        assert isinstance(loop, Loop) and loop.unroll == unrolled


@pytest.mark.parametrize(("n", "unrolled"), [(64, True), (MOST + 1, False)])
def test_kernels_are_limited(n: int, unrolled: bool) -> None:
    rows = fmap(lambda row: fmap(lambda e: op("neg", e), row, "unroll"), vector("x", 4, n), "global")
    assert ("#pragma unroll" in compile_term(rows).source) == unrolled


def test_statements_of_many_operations_are_more_code() -> None:
    value: ScalarValue = Const(1.0, F32)
    for _ in range(4):
        value = Call("add", (value, Const(2.0, F32)), F32)
    long = Store(Buffer("x", "global", F32, 1), ZERO, value)  # worth two
    assert limit_unrolling([nest(MOST // 2, body=(long,))]) == (nest(MOST // 2, body=(long,)),)
    assert limit_unrolling([nest(MOST // 2 + 1, body=(long,))]) == (nest(-MOST // 2 - 1, body=(long,)),)
