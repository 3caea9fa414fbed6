"""Counting what a kernel does: the loop that most time is spent in, and who runs it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Buffer, Call, Const, DeviceLimits, Launch, Load
from egglift.codegen.kernel.index import index
from egglift.costmodel.model.counted_accesses import CountedAccess
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.model.operation_counts import Tally, call_cost, tally
from egglift.costmodel.profiles.profile import presets
from egglift.ir import patterns as p
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr, Level
from egglift.ir.types import F32, I32, Array, Tuple
from tests.towers import pyramid

CPU = presets()["pocl_cpu"]
PAIR = p.Arg(Tuple((F32, F32)))
ADD = p.Apply("add", (p.Get(0, PAIR), p.Get(1, PAIR)))
LOCKSTEP = DeviceLimits(private_bytes=16 << 10, warp=32)
SUMS, EACH = 4, 1 << 16


def sums(count: int, each: int) -> Expr:
    """Sums of `count` rows, a work-item for each."""
    total = p.Fold(ADD, p.Literal(0.0, F32), p.Arg(Array(each, F32)))
    return p.Map(total, p.Input("x", Array(count, Array(each, F32))), Level("global"))


def beside(rest: int) -> Expr:
    """A few long sums, and beside them short ones that need more work-items."""
    short = p.Map(p.Apply("neg", (p.Arg(F32),)), p.Input("y", Array(rest, F32)), Level("global"))
    return p.Concat(sums(SUMS, EACH), short)


def counted(term: Expr) -> Tally:
    (kernel,) = compile_term(term, Launch(1)).kernels
    return tally(kernel, CPU)


def test_the_share_is_of_those_that_run_the_hottest_loop() -> None:
    assert counted(sums(SUMS, EACH)).share == 1
    assert counted(beside(64)).share == pytest.approx(SUMS / 64)


def test_cores_whose_groups_have_nothing_to_do_do_not_help() -> None:
    two, one = replace(CPU, compute_units=2), replace(CPU, compute_units=1)
    idle = [estimate(compile_term(beside(64), Launch(1)), p).kernels[0].terms["chain"] for p in (one, two)]
    busy = [estimate(compile_term(sums(64, EACH), Launch(1)), p).kernels[0].terms["chain"] for p in (one, two)]
    assert idle[0] == pytest.approx(idle[1], rel=0.01) and busy[0] > 1.9 * busy[1]


def sums_of_kept(n: int) -> Expr:
    """The sums of 8 rows of n elements, each of which is kept in private memory first."""
    row = p.To("private", p.Map(p.Apply("neg", (p.Arg(F32),)), p.Arg(Array(n, F32)), Level("seq")))
    total = p.Fold(ADD, p.Literal(0.0, F32), row)
    return p.Map(total, p.Input("x", Array(8, Array(n, F32))), Level("global"))


def test_only_the_registers_of_the_hottest_loop_are_held() -> None:
    assert counted(sums_of_kept(16)).held >= 4 * 16
    assert counted(sums(8, 64)).held == 4


def test_an_array_that_a_loop_goes_over_is_no_register() -> None:
    """64 elements are gone over by loops, which load and store them; loops over 16 are unrolled."""
    long, short = counted(sums_of_kept(64)), counted(sums_of_kept(16))
    assert long.held <= 8
    assert long.issue > 4 * short.issue * 1.1


def test_what_is_loaded_and_never_read_counts_nothing() -> None:
    """Of registers filled twice and overwritten unread, the one that no vector fills."""
    total = """(reduceSeq (fn (f32, f32) (add (get 0 arg) (get 1 arg))) 0.0:f32 (take 4
      (reduceSeq (fn ([f32]9, f32) (mapSeq -1.5:f32 (get 0 arg))) (input x [f32]9) (input {} [f32]3))))"""
    (kernel,) = compile_term(loads(f"(tuple {total.format('y')} {total.format('z')})"), Launch(1), LOCKSTEP).kernels
    found = tally(kernel, presets()["nvidia_h200"]).accesses
    assert [a.count for a in found if a.at == index(8)] == [0]


@pytest.mark.parametrize("name", ["pocl_cpu", "nvidia_h200"])
def test_accesses_are_grouped_without_comparing_each_with_each(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (kernel,) = compile_term(pyramid(3)).kernels

    def compared(a: CountedAccess, b: object) -> bool:
        raise AssertionError("two accesses are compared")

    monkeypatch.setattr(CountedAccess, "__eq__", compared)
    assert tally(kernel, presets()[name]).accesses


def test_a_chain_ends_where_an_accumulator_begins_anew() -> None:
    """64 sums of 64 elements one after the other overlap on a CPU, one sum of as many elements does not."""
    row = p.Arg(Array(64, Array(64, F32)))
    each = p.Map(p.Fold(ADD, p.Literal(0.0, F32), p.Arg(Array(64, F32))), row, Level("seq"))
    apart = counted(p.Map(each, p.Input("x", Array(8, row.type)), Level("global")))
    assert apart.chain < counted(sums(8, 4096)).chain / 16


def test_every_other_number_costs_vectors_and_others_each() -> None:
    def issue(step: int) -> float:
        columns = p.Split(16, p.At(0, p.Transpose(p.Split(step, p.Input("x", Array(512 * step, F32))))))
        negative = p.Map(p.Apply("neg", (p.Arg(F32),)), p.Arg(Array(16, F32)), Level("vec"))
        return counted(p.Join(p.Map(negative, columns, Level("global")))).issue

    assert issue(1) < issue(2) < issue(3) / 2


@pytest.mark.parametrize(
    ("op", "by", "cheaper"),
    [("div", 2.0, True), ("div", -0.25, True), ("div", 3.0, False), ("mod", 8, True), ("floordiv", 10, True)],
)
def test_divisions_by_constants_cost_what_is_made_of_them(op: str, by: float, cheaper: bool) -> None:
    scalar = F32 if op == "div" else I32
    x, gpu = Load(Buffer("x", "global", scalar, 4), index(0)), presets()["nvidia_h200"]
    usual = call_cost(Call(op, (x, x), scalar), gpu)
    found = call_cost(Call(op, (x, Const(by, scalar)), scalar), gpu)
    assert (found < usual / 2) is cheaper and (found == usual) is not cheaper
