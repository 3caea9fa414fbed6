"""f16 and bf16 in kernels: kept in memory, computed in f32, rounded where they are stored, cast or decide something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Call, Declare, Launch, Let, Store
from egglift.codegen.kernel.walk import subvalues, walk
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import BF16, F16, F32, I32, Array, Scalar
from tests.codegen.low import NdArray, fmap, lit, meaning, op, vector
from tests.harness import run
from tests.oclgrind import LIMITS, examine

of_both = pytest.mark.parametrize("t", [F16, BF16], ids=str)


def numbers(t: Scalar, n: int = 64) -> NdArray:
    return np.random.default_rng(5).normal(size=n).astype(t.dtype)


def computed(e: Expr, **inputs: NdArray) -> list[NdArray]:
    return run(compile_term(e), inputs)


@of_both
def test_what_is_computed_is_rounded_once(t: Scalar) -> None:
    """x * x + x * 3 - 1, whose parts would each lose digits."""
    x, (v, w) = numbers(t), (numbers(t), numbers(t).astype(np.float32))
    body = fmap(
        lambda a: op("sub", op("add", op("mul", a, a), op("mul", a, lit(3, t))), lit(1, t)),
        vector("x", 64, t=t),
        "global",
    )
    want = (w * w + w * 3 - 1).astype(t.dtype)
    assert (computed(body, x=x)[0] == want).all() and (meaning(body, x=x)[0] == want).all()
    assert (v * v + v * t.dtype.type(3) - t.dtype.type(1) != want).any()  # by NumPy, operation by operation


@of_both
def test_sums_add_up_in_f32(t: Scalar) -> None:
    """By themselves f16 would stay at 1024, as 1024 + 0.5 is no number of theirs, and bf16 at 128."""
    x = np.full(8192, 0.5, t.dtype)
    e = el.reduce(el.add, 0.0, el.array("x", t, 8192)).expr
    assert float(computed(e, x=x)[0][0]) == 4096 and float(meaning(e, x=x)[0][0]) == 4096


@of_both
def test_what_is_only_moved_is_not_converted(t: Scalar) -> None:
    x = el.array("x", t, (16, 16))
    local = fmap(
        lambda chunk: fmap(
            lambda row: fmap(lambda v: v, row), p.To("local", fmap(lambda r: r, chunk, "local")), "local"
        ),
        p.Split(4, x.T.expr),
        "workgroup",
    )
    for e in (x.T.expr, el.pad(1, 1, "clamp", x).expr, local):
        plan = compile_term(e)
        assert "cast_" not in plan.source and "float" not in plan.source, plan.source
    assert compile_term(local).kernels[0].local_bytes == 4 * 16 * t.size


@of_both
def test_registers_hold_f32(t: Scalar) -> None:
    e = fmap(
        lambda row: p.Fold(op("add", *_pair(t)), lit(0, t), p.To("private", fmap(lambda v: op("exp", v), row))),
        vector("x", 8, 16, t=t),
        "global",
    )
    (kernel,) = compile_term(e).kernels
    private = [s.buffer for s in walk(kernel.body) if isinstance(s, Declare)]
    assert {b.scalar for b in private} == {F32} and kernel.private_bytes == sum(b.bytes for b in private)
    assert sum(b.bytes for b in private) >= 64


def _pair(t: Scalar) -> tuple[Expr, Expr]:
    arg = p.Arg(el.tuple(el.scalar("a", t), el.scalar("b", t)).type)
    return p.Get(0, arg), p.Get(1, arg)


@of_both
def test_a_decision_is_made_on_rounded_numbers(t: Scalar) -> None:
    """1 + e is 1 for a small e, also where nothing stores it: compared, made whole and cast to a bool or an integer."""
    x = np.full(4, t.epsilon / 4).astype(t.dtype)
    small = el.array("x", t, 4)
    apart = small + 1
    for e, want in (
        ((apart == 1).expr, True),
        (el.where(apart > 1, 5.0, 2.0).expr, 2.0),
        (el.ceil(apart).expr, 1.0),
        ((2 - small).cast(el.i32).expr, 2),
        (el.floor(2 - small).expr, 2.0),
    ):
        assert (computed(e, x=x)[0].astype(np.float64) == want).all() and (meaning(e, x=x)[0] == want).all(), e


@of_both
def test_casts_to_a_type_round_to_it(t: Scalar) -> None:
    x = np.linspace(1, 2, 64, dtype=np.float32)
    e = (el.array("x", F32, 64).cast(t).cast(F32) * 1024).expr
    want = x.astype(t.dtype).astype(np.float32) * 1024
    assert (computed(e, x=x)[0] == want).all() and (meaning(e, x=x)[0] == want).all()


def test_numbers_that_are_as_in_memory_are_not_rounded_again() -> None:
    x, y = vector("x", 8, t=F16), vector("y", 8, t=F16)
    pairs = p.Zip((x, y))
    e = fmap(lambda a: op("where", op("lt", p.Get(0, a), p.Get(1, a)), p.Get(1, a), p.Get(0, a)), pairs, "global")
    values = [s.value for s in walk(compile_term(e).kernels[0].body) if isinstance(s, Store | Let)]
    casts = [v for v in subvalues(values) if isinstance(v, Call) and v.op == "cast"]
    assert casts and all(v.type == F32 for v in casts)


@of_both
def test_integers_that_fit_are_cast_exactly_and_bools_too(t: Scalar) -> None:
    small, flags = np.arange(-128, 128, dtype=np.int8), np.array([True, False] * 128)
    e = el.tuple(el.array("i", el.i8, 256).cast(t), el.array("b", el.bool_, 256).cast(t)).expr
    first, second = computed(e, i=small, b=flags)
    assert (first == small.astype(t.dtype)).all() and (second == flags.astype(t.dtype)).all()
    assert first.dtype == t.dtype


def test_a_gather_takes_indices_that_were_f16() -> None:
    places = p.Input("i", Array(8, F16))
    e = p.Gather(fmap(lambda v: p.Cast(I32, op("mul", v, lit(2, F16))), places), vector("x", 20, t=F16))
    i, x = np.arange(8).astype(np.float16), numbers(F16, 20)
    assert (computed(e, i=i, x=x)[0] == x[2 * np.arange(8)]).all()


@of_both
@pytest.mark.parametrize("warp", [1, 32], ids=["cpu", "gpu"])
def test_kernels_of_narrow_numbers_run_clean(t: Scalar, warp: int) -> None:
    """Staged in local memory by vectors, computed in f32, added up by halves: on Oclgrind."""
    x = numbers(t, 257)
    whole = vector("x", 257, t=t)

    def total(row: Expr) -> Expr:
        squares = p.To("local", fmap(lambda v: op("mul", v, v), row, "local"))
        return p.Tree(op("add", *_pair(t)), lit(0, t), squares)

    staged = fmap(total, p.Split(32, p.Take(256, whole)), "workgroup")
    rows = p.Split(8, p.Drop(1, whole))
    shifted = p.Join(fmap(lambda row: fmap(lambda v: op("neg", v), row, "vec"), rows, "global"))
    plans = [compile_term(e, Launch(32), replace(LIMITS, warp=warp)) for e in (staged, shifted)]
    first, second = examine([(plan, {"x": [x]}) for plan in plans])
    assert first.clean and second.clean, f"{first}\n{second}"
    want = np.square(x[:256].astype(np.float32)).reshape(8, 32).sum(1)
    assert np.allclose(first.outputs[0].astype(np.float32), want, rtol=4 * t.epsilon)
    assert (second.outputs[0] == -x[1:]).all()
