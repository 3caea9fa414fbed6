"""A malformed tree of statements is found out, whatever is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from egglift.codegen import passes
from egglift.codegen.compile import _plan, _plans, compile_term
from egglift.codegen.emission.builder import Builder
from egglift.codegen.kernel.distribution import Shape
from egglift.codegen.kernel.imperative import (
    Barrier,
    Buffer,
    Call,
    Const,
    Declare,
    DeviceLimits,
    Guarded,
    If,
    IndexValue,
    Let,
    Load,
    Loop,
    Name,
    Statement,
    Store,
)
from egglift.codegen.kernel.index import ZERO, Data, Var, index
from egglift.codegen.kernel.verify import Malformed, verify
from egglift.codegen.kernel.walk import walk, with_blocks
from egglift.ir.types import F32, I8, I32
from tests.codegen.samples.book import SAMPLES
from tests.verified import PLAIN_PASSES, known, verified

SHAPE = Shape((8, 1, 1), (4, 1, 1))
L, W = Var("l0", 8, "local"), Var("w0", 4, "workgroup")
X, OUT, S = Buffer("x", "global", F32, 32), Buffer("out", "global", F32, 32), Buffer("s", "local", F32, 8)
K, R, V = Buffer("k", "global", I32, 32), Buffer("r0", "private", F32, 4), Buffer("v0", "private", F32, 1, lanes=4)
OUTSIDE = (X, OUT, S, K)
I, LANE = Var("i0", 4, "loop"), Var("q0", 4, "lane")
AT = index(W) * 8 + L
ONE = Const(1.0, F32)


def put(at: object = AT, value: object = ONE, lane: Var | None = None) -> Store:
    return Store(OUT, at, value, lane)  # type: ignore[arg-type]


def loop(*body: Statement, trips: int = 4) -> Loop:
    return Loop(replace(I, count=trips), trips, body)


def wrong(body: Iterable[Statement]) -> str:
    """What is wrong with a kernel's statements."""
    with pytest.raises(Malformed) as caught:
        verify(body, SHAPE, OUTSIDE)
    return str(caught.value)


def test_a_well_formed_kernel_passes() -> None:
    inner = Store(R, index(I), Load(X, AT))
    guarded = Guarded(AT - 1, 32, Load(X, AT - 1), ONE)
    verify(
        [
            Declare(R),
            loop(inner),
            Let("t0", Call("add", (Load(R, ZERO), guarded), F32)),
            If((), (Store(S, index(L), Name("t0", F32)),)),
            Barrier(),
            If(((index(L), 4),), (put(value=Load(S, index(L) + 4)),)),
            Store(OUT, index(W) * 8 + LANE, ONE, LANE),
        ],
        SHAPE,
        OUTSIDE,
    )


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([Store(R, ZERO, ONE)], "r0 is used where it is not declared"),
        ([loop(Declare(R)), Store(R, ZERO, ONE)], "r0 is used where it is not declared"),
        ([Store(R, ZERO, ONE), Declare(R)], "r0 is used where it is not declared"),
        ([Declare(R), loop(Declare(replace(R)))], "r0 is declared where there is a r0 already"),
        ([Declare(R), Store(replace(R), ZERO, ONE)], "r0 is used where it is not declared"),
        ([put(value=Name("t0", F32))], "t0 is used where it is not declared"),
        ([Let("t0", ONE), Let("t0", ONE)], "t0 is declared where there is a t0 already"),
        ([loop(Let("t0", ONE)), put(value=Name("t0", F32))], "t0 is used where it is not declared"),
    ],
)
def test_a_name_is_declared_once_before_its_use_and_around_it(body: list[Statement], why: str) -> None:
    assert why in wrong(body)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([put(index(I))], "i0, a loop below 4, has no value here"),
        ([loop(), put(index(I))], "i0, a loop below 4, has no value here"),
        ([loop(put(index(replace(I, count=5))))], "i0, a loop below 5, has no value here"),
        ([loop(loop())], "i0 is declared where there is a i0 already"),
        ([Loop(I, 5, ())], "for i0 < 5: its variable is a loop below 4"),
        ([put(index(Var("l0", 9, "local")))], "l0, a local below 9, has no value here"),
        ([put(index(Var("w1", 2, "workgroup", 1)))], "w1, a workgroup below 2, has no value here"),
        ([put(index(LANE))], "q0, a lane below 4, has no value here"),
        ([put(value=Load(X, index(Data(Load(K, index(I)), 0, 31))))], "i0, a loop below 4, has no value here"),
    ],
)
def test_a_variable_has_a_value_where_it_is_used(body: list[Statement], why: str) -> None:
    assert why in wrong(body)


@pytest.mark.parametrize(
    "body",
    [
        [put(AT + 1)],
        [put(AT - 1)],
        [put(index(40))],
        [Declare(R), loop(Store(R, index(replace(I, count=5)), ONE), trips=5)],
        [put(value=Load(X, index(L) * 5))],
        [put(value=Guarded(AT - 1, 32, ONE, Load(X, index(-1))))],
        [If(((AT, 8),), (put(AT + 32),))],
    ],
)
def test_memory_is_accessed_within_its_size(body: list[Statement]) -> None:
    assert " elements" in wrong(body)


def test_what_a_condition_keeps_within_the_size_is_no_fault() -> None:
    verify([If(((AT, 31),), (put(AT + 1),))], SHAPE, OUTSIDE)
    steps = Var("i0", 8, "loop")
    verify([Loop(steps, 8, (put(index(steps) * 8),), until=(index(steps) * 8, 32))], SHAPE, OUTSIDE)


@pytest.mark.parametrize(
    "body",
    [
        [If((), (Barrier(),))],
        [If(((index(L), 4),), (Barrier(),))],
        [If(((index(L), 4),), (loop(Barrier()),))],
        [If(((index(L), 4),), (), 1.0, (Barrier(),))],
        [Loop(I, 4, (Barrier(),), until=(index(L) + index(I) * 8, 20))],
        [If(((index(Data(Load(K, index(L)), 0, 9)), 4),), (Barrier(),))],
        [Let("t0", Load(K, index(L))), If(((index(Data(Name("t0", I32), 0, 9)), 4),), (Barrier(),))],
    ],
)
def test_a_barrier_stands_where_all_work_items_of_a_group_come(body: list[Statement]) -> None:
    assert "a barrier stands where not all work-items" in wrong(body)


def test_a_group_may_take_a_branch_with_a_barrier_together() -> None:
    loaded = index(Data(Load(K, index(W)), 0, 9))
    verify([loop(If(((index(W), 2), (loaded, 3)), (Barrier(),)))], SHAPE, OUTSIDE)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([put(value=Const(1, I32))], "a i32 is stored where elements are f32"),
        ([put(value=Call("add", (ONE, Const(1, I32)), F32))], "add takes arguments of one type"),
        ([put(value=Call("lt", (ONE, ONE), F32))], "lt gives bool, not f32"),
        ([put(value=IndexValue(AT, F32))], "an index is taken for a f32"),
        ([put(value=Guarded(AT, 3, ONE, Const(1, I32)))], "a choice between f32 and i32"),
        ([Let("t0", Const(1, I32)), put(value=Name("t0", F32))], "t0 is used as f32, and declared as i32"),
        ([Store(replace(X, space="constant"), ZERO, ONE)], "x is used where it is not declared"),
    ],
)
def test_types_agree(body: list[Statement], why: str) -> None:
    assert why in wrong(body)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([Declare(V), put(value=Load(V, ZERO))], "v0 is kept for 4 lanes, which this statement has not"),
        ([Declare(V), put(value=Load(V, ZERO), lane=Var("q1", 2, "lane"))], "v0 is kept for 4 lanes"),
        ([Let("t0", Load(X, index(LANE)), LANE), put(value=Name("t0", F32))], "t0 has a value for each lane"),
        ([If(((index(LANE), 2),), (put(),))], "lanes are chosen by an `if` around more than stores"),
    ],
)
def test_lanes_agree(body: list[Statement], why: str) -> None:
    assert why in wrong(body)


Change = Callable[[Statement], list[Statement]]
FAULTS: dict[str, Change] = {
    "a declaration is lost": lambda s: [] if isinstance(s, Declare) else [s],
    "a declaration is repeated": lambda s: [s, s] if isinstance(s, Declare | Let) else [s],
    "a store goes beyond": lambda s: [replace(s, at=s.at + s.buffer.size)] if isinstance(s, Store) else [s],
    "a value is of another type": lambda s: [replace(s, value=Const(1, I8))] if isinstance(s, Store) else [s],
    "a loop has another variable": lambda s: [replace(s, var=replace(s.var, name="z"))] if isinstance(s, Loop) else [s],
    "a barrier is one work-item's": lambda s: [If(((index(L), 1),), (s,))] if isinstance(s, Barrier) else [s],
}


def with_fault(body: Iterable[Statement], place: Statement, fault: Change) -> tuple[Statement, ...]:
    """`body` with one statement changed, wherever it stands."""
    result: list[Statement] = []
    for s in body:
        result += fault(s) if s is place else [with_blocks(s, lambda b: with_fault(b, place, fault))]
    return tuple(result)


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Builder, Sequence[Statement]]]:
    """What is left by each pass for the kernels of some samples, with what made it."""
    seen: list[tuple[Builder, Sequence[Statement]]] = []

    def keep(builder: Builder, body: Sequence[Statement]) -> Sequence[Statement]:
        seen.append((builder, body))
        return body

    monkeypatch.setattr(passes, "STATEMENT_PASSES", [x for each in passes.STATEMENT_PASSES for x in (each, ("", keep))])
    _plan.cache_clear()
    _plans.cache_clear()
    for name in ("matrix product", "tiled product, prefetched", "softmax by groups", "register blocks at edges"):
        compile_term(SAMPLES[name].term, SAMPLES[name].launch)
    return seen


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_planted_anywhere_in_a_real_kernel_is_found(
    generated: list[tuple[Builder, Sequence[Statement]]], what: str
) -> None:
    planted = 0
    for builder, body in generated:
        for place in walk(body):
            broken = with_fault(body, place, FAULTS[what])
            if broken != tuple(body):
                planted += 1
                with pytest.raises(Malformed):
                    verify(broken, builder.shape, known(builder))
    assert planted


def test_a_pass_that_leaves_a_malformed_tree_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def undeclared(body: Iterable[Statement]) -> list[Statement]:
        return [with_blocks(s, undeclared) for s in body if not isinstance(s, Declare)]

    broken = verified("forget registers", lambda b, body: undeclared(body))
    monkeypatch.setattr(passes, "STATEMENT_PASSES", (broken, *passes.STATEMENT_PASSES))
    _plan.cache_clear()
    _plans.cache_clear()
    with pytest.raises(Malformed, match=r'after "forget registers": .* is used where it is not declared'):
        compile_term(SAMPLES["matrix product"].term, SAMPLES["matrix product"].launch)


def test_what_tests_compile_is_verified_after_every_pass() -> None:
    assert [name for name, _ in passes.STATEMENT_PASSES] == ["emission", *(name for name, _ in PLAIN_PASSES)]
    body = [If(((index(L), 1),), (Barrier(),))]
    builder = Builder(SHAPE, DeviceLimits())
    for _, run in passes.STATEMENT_PASSES:
        with pytest.raises(Malformed):
            run(builder, body)
