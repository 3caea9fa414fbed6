"""A failing program is made small: what does not matter for the failure goes."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from tests.fuzz.shrink import shrink, simpler

PROGRAM = loads("""
  (map (fn [f32]3 (reduce add:f32 0.0:f32 (map (fn f32 (mul arg 2.0:f32)) arg)))
    (slide 3 1 (pad 1 1 clamp (map (fn (f32, i32) (get 0 arg)) (input pairs [(f32, i32)]30)))))""")


def test_only_what_fails_is_left() -> None:
    def fails(e: Expr) -> bool:
        return any(isinstance(t, p.Slide) for t in subterms(e))

    smallest = shrink(PROGRAM, fails)
    assert isinstance(smallest, p.Slide) and isinstance(smallest.x, p.Input)
    assert (smallest.size, smallest.step) == (1, 1)


def test_a_part_of_a_body_may_be_left() -> None:
    smallest = shrink(PROGRAM, lambda e: any(isinstance(t, p.Apply) and t.op == "mul" for t in subterms(e)))
    assert isinstance(smallest, p.Apply) and smallest.op == "mul"


def test_every_step_is_a_program() -> None:
    for other in simpler(PROGRAM):
        type_of(other)
