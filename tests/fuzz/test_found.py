"""What random programs have found, made small: each failed once, the reason above it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.measurement.expected_results import flatten
from egglift.ir.parser import loads
from tests.fuzz.case import Case
from tests.fuzz.check import check
from tests.fuzz.guarded import run_all

PROGRAMS = {
    "the rows of an array without elements were read behind a constant edge": """
        (pad 2 3 "constant" 0.0:f64 (join (input B [[f64]0]5)))""",
    "of three transpositions, the law for two subsumed the only node left": """
        (map (fn [f32]4 (reduce add:f32 0.0:f32 arg)) (transpose (transpose (transpose (input A [[f32]6]4)))))""",
    "a join undone and done: one law subsumed what another made the only node": """
        (join (split 6 (join (input A [[f32]6]4))))""",
    "an iteration's kernel read the start both as what it goes on from and by its name: two parameters of one name": """
        (let ((x (input x [f32]4)))
          (iterate 3 (fn [f32]4 (map (fn (f32, f32) (sub (get 0 arg) (get 1 arg))) (zip arg (stride 2 x)))) x))""",
    "the same, of an iteration inside": """
        (let ((x (input x [f32]3)) (f (fn ([f32]3, f32) (get 0 arg))))
          (iterate 1 (fn [f32]3 (map -3.0:f32 (map (fn ([f32]3, [f32]2) (get 0 arg))
            (distl (iterate 1 (arg [f32]3) x) (slide 2 1 (pad 1 0 "constant" 1.0:f32 (reduceSeq f arg arg))))))) x))""",
    "a constant held bodies of two scopes, and a substitution gave both the same argument": """
        (let ((A (input A [[f32]1]1))) (map (fn [f32]1 (map (fn ([f32]1, [f32]1)
          (reduce minimum:f32 inf:f32 (map (cast f32 true) (zip (get 0 arg) (get 1 arg))))) (distl arg A))) A))""",
    "a constant held bodies of two scopes, and a law took one into the other": """
        (let ((y (input y [f32]1))) (tuple
          (map (fn [f32]3 (map (fn ([f32]3, f32) (abs 1.0:f32)) (distl arg y))) (input A [[f32]3]5))
          (map (fn f32 (map (fn (f32, f32) (abs 1.0:f32)) (distl arg y))) (input z [f32]5))))""",
    "a law cut an array without elements into chunks of none": """
        (map (fn [i8]1 (map (fn i8 (neg arg)) (iota 0 i8))) (split 1 (take 1 (input x [i8]5))))""",
}
LOW_LEVEL = {
    "a choice between two bools as a lane's mask lost its parentheses": """
        (mapSeq (fn [bool]3 (mapVec (fn bool (where arg 3:u16 4:u16)) (take 2 arg)))
          (slide 3 1 (pad 1 1 "constant" true (input x [bool]3))))""",
    "a row of folds, one of them behind an edge, was looked at as a vector, which it cannot be": """
        (map (fn [f64]2 (join (map (fn ([f64]2, [f64]1) (get 0 arg)) (distl arg (split 1 arg)))))
          (slide 2 1 (pad 1 1 "constant" 0.0:f64 (map (fn [f64]2 (reduce maximum:f64 -inf:f64 arg))
            (input B [[f64]2]1)))))""",
    "of a work-group's accumulator only its own elements were copied, not the padding behind them": """
        (mapWorkgroup0 (fn [i32]5 (pad 0 2 "constant" (fill 13 7:u16)
          (reduceSeq (fn ([[u16]13]3, [u16]13) (mapLocal0 (fn u64 (fill 13 (cast u16 arg))) (constant [u64]3 3 3 2)))
            (input A [[u16]13]3) (input A [[u16]13]3)))) (slide 5 3 (iota 8 i32)))""",
    "a fold had its accumulator where its value goes, which has no place for the elements dropped": """
        (map (fn f32 (reduceSeq (fn (f32, f32) (add (get 0 arg) (get 1 arg))) 0.0:f32 (toPrivate (drop 2
          (reduceSeq (fn ([f32]3, f32) (map (fn (f32, f32) (get 0 arg))
              (distl (reduceSeq (fn (f32, f32) (add (get 0 arg) (get 1 arg))) 0.0:f32 (get 0 arg)) (get 0 arg))))
            (fill 3 arg) (constant [f32]2 1.0 2.0)))))) (input x [f32]5))""",
    "a guard bounded a choice within the very index that it bounds, without end": """
        (map (fn [[[f32]2]1]2 (fill 1 (map -1.0:f32 arg))) (slide 2 1 (pad 1 1 wrap
          (map (fn [f32]2 (iterate 1 (arg [[f32]2]1) (slide 2 2 arg)))
            (slide 2 1 (pad 1 1 "constant" 0.5:f32 (join (input B [[f32]2]2))))))))""",
    "the same, of quotients and remainders": """
        (let ((y (input y [f32]2)) (least (fn (f32, f32) (minimum (get 0 arg) (get 1 arg)))))
          (map (fn [f32]38 (tree least inf:f32 (concat
              (mapVec (fn [f32]9 (reduceSeq least inf:f32 arg)) (transpose (split 4 (take 36 arg)))) y)))
            (map (fn [[f32]2]19 (join arg)) (transpose (split 2 (split 2 (concat
              (map (fn [f32]25 (tree least inf:f32 arg)) (map (fn [[f32]5]5 (join arg)) (transpose (split 16 (split 5
                (join (pad 4 0 "constant" y (input B [[f32]2]196)))))))) (input z [f32]60))))))))""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_that_failed_once_holds(text: str) -> None:
    for style in ("exact", "extreme"):
        assert check(Case(loads(text), style, 0), open_device(None)) is None


@pytest.mark.parametrize("text", LOW_LEVEL.values(), ids=LOW_LEVEL.keys())
def test_kernels_that_failed_once_compute_their_program(text: str) -> None:
    device = open_device(None)
    lockstep = replace(device.limits, private_bytes=16 << 10, warp=32)  # as for a GPU
    for seed in range(3):
        case = Case(loads(text), "exact", seed)
        plans = [compile_term(case.program, Launch(16), limits) for limits in (device.limits, lockstep)]
        for actual in run_all(device, plans, {name: flatten(v) for name, v in case.inputs.items()}):
            assert isinstance(actual, list), actual
            assert case.disagreement(actual) is None
