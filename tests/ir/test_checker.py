"""The checker: types of every pattern, and messages that name what disagrees and what to do."""

from __future__ import annotations

import re

import pytest

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import ProgramError, ShapeError, TypeMismatch
from egglift.ir.operators import named
from egglift.ir.patterns import Expr, Level, Operator
from egglift.ir.sizes import SizeOp, Sym
from egglift.ir.types import BOOL, F32, F64, I32, U8, Array, Tuple, Type, array_of

X, Y = p.Input("x", Array(8, F32)), p.Input("y", Array(6, F32))
A = p.Input("A", array_of(F32, (4, 6)))
S, I = p.Input("s", F32), p.Input("i", Array(3, I32))
ONE = p.Literal(1.0, F32)
PAIRS = p.Fill(3, p.Tup((ONE, p.Literal(True, BOOL))))
PAIR = p.Arg(Tuple((F32, F32)))
SUM = p.Apply("add", (p.Get(0, PAIR), p.Get(1, PAIR)))
LESS = p.Apply("lt", SUM.args)
ZERO = p.Literal(0, I32)
ADD = named("add", F32)
K = Sym("k")


@pytest.mark.parametrize(
    ("e", "t"),
    [
        (p.Iota(3, U8), Array(3, U8)),
        (p.Fill(2, X), array_of(F32, (2, 8))),
        (p.Cast(I32, S), I32),
        (p.Constant(Array(1, U8), b"a"), Array(1, U8)),
        (p.Apply("lt", (S, ONE)), BOOL),
        (p.Tup((S, X)), Tuple((F32, Array(8, F32)))),
        (p.Get(1, p.Tup((S, X))), Array(8, F32)),
        (p.Map(p.Cast(F64, p.Arg(F32)), X), Array(8, F64)),
        (p.Map(p.Arg(F32), X, Level("lane")), Array(8, F32)),
        (p.Reduce(ADD, ONE, X), F32),
        (p.Tree(SUM, ONE, X), F32),
        (p.Fold(SUM, ONE, X), F32),
        (p.Iterate(3, p.Arg(Array(8, F32)), X), Array(8, F32)),
        (p.Zip((X, X, X)), Array(8, Tuple((F32, F32, F32)))),
        (p.Distl(A, X), Array(8, Tuple((A.type, F32)))),
        (p.Cross(X, Y), array_of(Tuple((F32, F32)), (8, 6))),
        (p.Split(2, X), array_of(F32, (4, 2))),
        (p.Join(A), Array(24, F32)),
        (p.Transpose(A), array_of(F32, (6, 4))),
        (p.Stride(4, X), Array(8, F32)),
        (p.Roll(8, X), Array(8, F32)),
        (p.Count(5, I32, I), Array(5, I32)),
        (p.Sums(5, F32, p.Zip((I, p.Take(3, X)))), Array(5, F32)),
        (p.Sums(5, Tuple((I32, F32)), p.Zip((I, p.Zip((I, p.Take(3, X)))))), Array(5, Tuple((I32, F32)))),
        (p.Scan(ADD, ONE, X), Array(8, F32)),
        (p.ScanSeq(p.Tup((SUM, p.Literal(True, BOOL))), ONE, X), Array(8, BOOL)),
        (p.ScanDoubling(SUM, ONE, X), Array(8, F32)),
        (p.ScanLinked(SUM, p.Tup((SUM, p.Literal(True, BOOL))), ONE, X), Array(8, BOOL)),
        (p.Slide(3, 2, X), array_of(F32, (3, 3))),
        (p.Pad(1, 2, "wrap", X), Array(11, F32)),
        (p.PadUp(5, X), Array(10, F32)),
        (p.PadUp(4, X, ONE), Array(8, F32)),
        (p.Take(0, X), Array(0, F32)),
        (p.Drop(8, X), Array(0, F32)),
        (p.Concat(X, Y), Array(14, F32)),
        (p.Gather(I, A), array_of(F32, (3, 6))),
        (p.At(3, A), Array(6, F32)),
        (p.To("local", X), Array(8, F32)),
        (p.Split(K, X), Array(SizeOp("/", 8, K), Array(K, F32))),
        (p.Join(p.Split(K, X)), Array(SizeOp("*", SizeOp("/", 8, K), K), F32)),
        (p.Zip((X, p.Join(p.Split(K, X)))), Array(8, Tuple((F32, F32)))),
    ],
    ids=repr,
)
def test_types(e: Expr, t: Type) -> None:
    assert type_of(e) == t


@pytest.mark.parametrize(
    ("e", "error", "message"),
    [
        (p.Map(p.Arg(F32), S), TypeMismatch, r"(map arg s): takes an array, got f32 from s"),
        (p.Map(p.Arg(F64), X), TypeMismatch, "its body's argument is f64, but what it is applied to is f32"),
        (p.Map(p.Arg(F32), X, Level("thread")), ProgramError, "no level thread; there are global, workgroup"),
        (p.Map(p.Arg(F32), X, Level("local", 3)), ProgramError, "no level local3"),
        (p.Reduce(ADD, ZERO, X), TypeMismatch, "the initial value is i32, but the elements is f32"),
        (p.Reduce(Operator("lt", LESS, True, True), ONE, X), TypeMismatch, "operator lt is bool"),
        (p.Reduce(Operator("add", SUM, True, True, ZERO), ONE, X), TypeMismatch, "neutral element"),
        (p.Tree(LESS, ONE, X), TypeMismatch, "the body's result is bool"),
        (p.Fold(p.Get(0, PAIR), p.Literal(0.0, F64), X), TypeMismatch, "its body's argument is (f32, f32)"),
        (p.Fold(LESS, ONE, X), TypeMismatch, "but the initial value is f32"),
        (p.Fold(SUM, ONE, X, False, 3), ProgramError, "no prefetch 3; choose 0, 1"),
        (p.Fold(SUM, ONE, X, buffers=1), ProgramError, "1 buffers of asynchronous copies"),
        (p.Fold(SUM, ONE, X, prefetch=1, buffers=3), ProgramError, "3 buffers of asynchronous copies and prefetch 1"),
        (p.To("local", X, 0, 1), ProgramError, "rows of scalars are rotated, in local memory"),
        (p.To("local", A, 4, 1), ProgramError, "padded by 4; leave the swizzle out"),
        (p.To("local", A, 0, -1), ProgramError, "rows rotated by -1"),
        (p.Iterate(2, p.Cast(F64, p.Arg(F32)), S), TypeMismatch, "the body's result is f64"),
        (p.Iterate(-1, p.Arg(F32), S), ShapeError, "-1 iterations"),
        (p.Zip((X, Y)), ShapeError, "(zip x y): lengths 8 and 6 differ; zip takes arrays of one length"),
        (p.Zip((X,)), ProgramError, "takes two or more, got 1"),
        (p.Tup(()), ProgramError, "takes two or more, got 0"),
        (p.Split(3, X), ShapeError, "(split 3 x): 3 does not divide 8; use pad_up(3, ...)"),
        (p.Split(0, X), ShapeError, "0 is not a chunk length"),
        (p.Stride(3, X), ShapeError, "3 does not divide 8"),
        (p.Join(X), TypeMismatch, "takes an array of arrays, got [f32]8; split it first"),
        (p.Transpose(X), TypeMismatch, "array of arrays"),
        (p.Slide(9, 1, X), ShapeError, "windows of 9 over an array of 8; pad it first"),
        (p.Slide(0, 1, X), ShapeError, "must be 1 or more"),
        (p.Slide(1, 0, X), ShapeError, "must be 1 or more"),
        (p.Pad(1, 1, "edge", X), ProgramError, "no boundary mode 'edge'; clamp is that"),
        (p.Pad(1, 1, "ends", X), ProgramError, "no boundary mode 'ends'; choose one of clamp, mirror"),
        (p.Pad(1, 1, "constant", X), ProgramError, 'a value goes with mode "constant"'),
        (p.Pad(1, 1, "clamp", X, ONE), ProgramError, 'a value goes with mode "constant"'),
        (p.Pad(1, 1, "constant", A, ONE), TypeMismatch, "the padding is f32, but the elements is [f32]6"),
        (p.Pad(1, 1, "wrap", p.Take(0, X)), ShapeError, "no edge to pad with"),
        (p.Pad(-1, 1, "wrap", X), ShapeError, "-1 elements of padding"),
        (p.PadUp(0, X), ShapeError, "0 as the multiple; it must be 1 or more"),
        (p.PadUp(3, X, p.Literal(1, I32)), TypeMismatch, "the padding is i32"),
        (p.Take(9, X), ShapeError, "9 elements are taken of 8"),
        (p.Drop(-1, X), ShapeError, "-1 elements are dropped of 8"),
        (p.Roll(9, X), ShapeError, "(roll 9 x): 9 elements are rolled to the front of 8"),
        (p.Roll(-1, X), ShapeError, "-1 elements are rolled to the front of 8"),
        (p.Roll(1, S), TypeMismatch, "(roll 1 s): takes an array, got f32 from s"),
        (p.Count(5, I32, X), TypeMismatch, "integers are counted, not f32"),
        (p.Count(-1, I32, I), ShapeError, "-1 counts; it must be 0 or more"),
        (p.Count(5, F32, I), TypeMismatch, "counts are i32 or u32, not f32; cast them afterwards"),
        (p.Sums(5, F32, p.Zip((X, X))), TypeMismatch, "integers are counted, not f32"),
        (p.Sums(5, I32, p.Zip((I, p.Take(3, X)))), TypeMismatch, "is f32, but the type that it is in is i32"),
        (p.Sums(5, BOOL, p.Zip((I, p.Fill(3, p.Literal(True, BOOL))))), TypeMismatch, "bool is not added by numbers"),
        (p.Sums(5, Tuple((F32, BOOL)), p.Zip((I, PAIRS))), TypeMismatch, "is not added by numbers"),
        (p.Sums(-1, F32, p.Zip((I, p.Take(3, X)))), ShapeError, "-1 counts; it must be 0 or more"),
        (p.Scan(ADD, ZERO, X), TypeMismatch, "the initial value is i32, but the elements is f32"),
        (p.Scan(ADD, ONE, S), TypeMismatch, "takes an array, got f32 from s"),
        (p.ScanSeq(SUM, ONE, X), TypeMismatch, "the body's result is f32, not a tuple of 2"),
        (
            p.ScanSeq(p.Tup((LESS, SUM)), ONE, X),
            TypeMismatch,
            "the body's result is bool, but the initial value is f32",
        ),
        (
            p.ScanDoubling(p.Get(0, p.Arg(Tuple((Y.type, Y.type)))), Y, A),
            TypeMismatch,
            "an element is [f32]6; a scan carries scalars, or tuples of scalars, from element to element: map it over",
        ),
        (p.Concat(X, A), TypeMismatch, "elements is [f32]6, but the first array's elements is f32"),
        (p.Gather(X, X), TypeMismatch, "indices are f32; gather takes integers"),
        (p.Gather(I, p.Take(0, X)), ShapeError, "gathers from an empty array"),
        (p.At(8, X), ShapeError, "index 8 is outside 0..7"),
        (p.At(-1, X), ShapeError, "outside 0..7"),
        (p.Get(0, X), TypeMismatch, "component 0 of [f32]8, which is not a tuple"),
        (p.Get(2, p.Tup((S, X))), ShapeError, "component 2 of a tuple of 2: (f32, [f32]8)"),
        (p.Apply("add", (S, X)), TypeMismatch, "add works on scalars, got f32, [f32]8; map it"),
        (p.Apply("add", (S, p.Literal(1, I32))), TypeMismatch, "arguments of one type, got f32, i32; cast"),
        (p.Apply("add", (S,)), TypeMismatch, "add takes 2 arguments, got 1"),
        (p.Apply("ad", (S,)), TypeMismatch, "unknown scalar function 'ad'"),
        (p.Apply("exp", (p.Literal(1, I32),)), TypeMismatch, "exp does not take i32"),
        (p.Apply("logical_and", (S, S)), TypeMismatch, "logical_and does not take f32"),
        (p.Apply("bitwise_and", (S, S)), TypeMismatch, "bitwise_and does not take f32"),
        (p.Apply("where", (S, S, S)), TypeMismatch, "where takes"),
        (p.Cast(I32, X), TypeMismatch, "the value to cast is [f32]8, not a scalar"),
        (p.Literal(300, U8), TypeMismatch, "300 is not a value of u8"),
        (p.Literal(1.5, I32), TypeMismatch, "1.5 is not a value of i32"),
        (p.Literal(1, BOOL), TypeMismatch, "1 is not a value of bool"),
        (p.Literal(True, F32), TypeMismatch, "True is not a value of f32"),
        (p.Iota(3, F32), TypeMismatch, "iota counts in integers"),
        (p.Iota(-3, I32), ShapeError, "-3 elements"),
        (p.Fill(-1, S), ShapeError, "-1 elements"),
        (p.To("register", X), ProgramError, "no memory space 'register'"),
        (p.To("local", X, 4), ProgramError, "of arrays of arrays, but this is [f32]8 in local memory"),
        (p.To("private", A, 4), ProgramError, "but this is [[f32]6]4 in private memory; leave the padding out"),
        (p.To("local", A, -1), ShapeError, "-1 elements of padding"),
    ],
    ids=repr,
)
def test_an_ill_typed_program_is_named_with_both_sides(e: Expr, error: type, message: str) -> None:
    with pytest.raises(error, match=re.escape(message)) as caught:
        type_of(p.Tup((p.Literal(1, I32), e)))
    assert type(caught.value) is error


def test_an_error_inside_a_body_names_the_inner_expression() -> None:
    inner = p.Split(4, p.Arg(Array(6, F32)))
    with pytest.raises(ShapeError, match=re.escape("(split 4 arg): 4 does not divide 6")):
        type_of(p.Map(inner, A))


def test_deep_programs_are_checked_without_recursion() -> None:
    e: Expr = S
    for _ in range(20000):
        e = p.Apply("neg", (e,))
    assert type_of(e) == F32
