"""Registers that are in use at the same time: those of arrays that are never needed together count once."""

from __future__ import annotations

from egglift.codegen.kernel.imperative import Buffer, Const, Declare, Load, Loop, Statement, Store
from egglift.codegen.kernel.index import Var, index
from egglift.costmodel.model.live_registers import live_bytes
from egglift.ir.types import F32

X = Buffer("x", "global", F32, 64)
A, B = Buffer("a", "private", F32, 8), Buffer("b", "private", F32, 4)
I, T = Var("i", 4, "loop"), Var("t", 9, "loop")


def over(var: Var, *body: Statement) -> Loop:
    return Loop(var, var.count, body, unroll=var is I)


def filled(buffer: Buffer) -> Statement:
    return over(I, Store(buffer, index(I), Const(0.0, F32)))


def moved(of: Buffer, to: Buffer = X) -> Statement:
    return over(I, Store(to, index(I), Load(of, index(I))))


def test_arrays_that_are_needed_together_count_both() -> None:
    assert live_bytes([Declare(A), Declare(B), filled(A), filled(B), moved(A), moved(B)]) == 4 * 12


def test_arrays_that_follow_each_other_count_the_larger() -> None:
    assert live_bytes([Declare(A), filled(A), moved(A), Declare(B), filled(B), moved(B)]) == 4 * 8


def test_what_is_computed_from_an_array_takes_its_place() -> None:
    assert live_bytes([Declare(A), Declare(B), filled(A), moved(A, B), moved(B)]) == 4 * 8


def test_what_outlasts_a_loop_is_there_in_all_of_it() -> None:
    step = [moved(A, X), Declare(B), filled(B), moved(B)]
    assert live_bytes([Declare(A), filled(A), over(T, *step)]) == 4 * 12
    assert live_bytes([Declare(A), filled(A), moved(A), over(T, *step[1:])]) == 4 * 8
