"""The text form: reads back exactly, stays linear, and refuses anything else with a position."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.errors import ProgramError, ShapeError, TypeMismatch
from egglift.ir.operators import OPERATORS, named
from egglift.ir.parser import loads
from egglift.ir.patterns import LEVELS, Expr, Level, Operator
from egglift.ir.scalars import FUNCTIONS
from egglift.ir.sizes import SizeOp, Sym
from egglift.ir.syntax import FORMS
from egglift.ir.text import brief, dumps, pretty
from egglift.ir.types import BOOL, F16, F32, F64, I8, I32, SCALARS, U64, Array, Tuple
from tests.programs import programs

X = p.Input("x", Array(8, F32))
PAIR = p.Arg(Tuple((F32, F32)))
SUM = p.Apply("add", (p.Get(0, PAIR), p.Get(1, PAIR)))


def again(e: Expr) -> Expr:
    return loads(dumps(e), check=False)


@pytest.mark.parametrize(
    "e",
    [
        *(p.Map(p.Arg(F32), X, Level(kind, dim)) for kind in LEVELS for dim in range(3)),
        p.Map(p.Arg(F32), X),
        *(
            p.Reduce(named(name, t), p.Literal(0, I32), p.Input("x", Array(8, t)))
            for name, law in OPERATORS.items()
            for t in SCALARS.values()
            if law.takes(t)
        ),
        p.Reduce(Operator("add", SUM, True, False, None), p.Literal(0.0, F32), X),
        p.Reduce(Operator('odd "name"\n', SUM, False, True, p.Literal(-0.0, F32)), p.Literal(0.0, F32), X),
        p.Fold(SUM, p.Literal(0.0, F32), X),
        p.Fold(SUM, p.Literal(0.0, F32), X, True),
        *(p.Fold(SUM, p.Literal(0.0, F32), X, unroll, ahead) for unroll in (False, True) for ahead in (1, 2, Sym("f"))),
        *(p.To("local", p.Split(2, X), pad) for pad in (0, 4, Sym("q"), SizeOp("*", Sym("q"), 4))),
        p.Tree(SUM, p.Literal(0.0, F32), X),
        p.Count(7, I32, p.Iota(4, I32)),
        p.Sums(7, I32, p.Zip((p.Iota(4, I32), p.Iota(4, I32)))),
        p.Sums(7, Tuple((I32, I32)), p.Zip((p.Iota(4, I32), p.Zip((p.Iota(4, I32), p.Iota(4, I32)))))),
        p.Scan(named("add", F32), p.Literal(0.0, F32), X),
        p.Scan(Operator("add", SUM, True, False, None), p.Literal(0.0, F32), X),
        p.ScanSeq(p.Tup((SUM, p.Arg(Tuple((F32, F32))))), p.Literal(0.0, F32), X),
        p.ScanDoubling(SUM, p.Literal(0.0, F32), X),
        p.ScanLinked(SUM, p.Tup((p.Get(1, p.Arg(Tuple((F32, F32)))), SUM)), p.Literal(0.0, F32), X),
        p.ScanLinked(SUM, p.Tup((p.Get(1, p.Arg(Tuple((F32, F32)))), SUM)), p.Literal(0.0, F32), X, 2),
        p.Iterate(Sym("n"), p.Arg(Array(8, F32)), X),
        *(p.To(space, X) for space in ("global", "local", "private")),
        *(p.Apply(f.name, (p.Input("x", F32),) * f.arity) for f in FUNCTIONS.values()),
        p.Pad(1, 2, "clamp", X),
        p.Pad(1, 2, "constant", X, p.Literal(1.0, F32)),
        p.PadUp(3, X),
        p.PadUp(3, X, p.Literal(1.0, F32)),
        p.Split(Sym("p0"), X),
        p.Slide(SizeOp("+", Sym("p0"), 2), Sym("p0"), X),
        p.Take(SizeOp("*", SizeOp("/", Sym("n"), Sym("k")), Sym("k")), X),
        p.Drop(SizeOp("-", 8, 3), X),
        p.Input("odd name", Tuple((F32, Array(SizeOp("*", Sym("a b"), 2), Array(0, BOOL))))),
        p.Input("let", F32),
        p.Input("arg", F32),
        p.Input("t1", F32),
        p.Iota(5, I8),
        p.Fill(3, X),
        p.Cast(F16, p.Literal(1, I32)),
        p.At(2, X),
        p.Gather(p.Iota(4, I32), X),
        p.Tup((X, p.Literal(True, BOOL))),
        p.Get(1, p.Tup((X, X))),
        p.Zip((X, X, X)),
        p.Distl(X, X),
        p.Cross(X, X),
        p.Join(p.Split(2, X)),
        p.Transpose(p.Split(2, X)),
        p.Stride(2, X),
        p.Roll(2, X),
        p.Concat(X, X),
        p.Arg(F32),
        p.Apply("add", (p.Arg(F32), p.Arg(F64))),  # open, and of two types
        p.Map(p.Literal(1.0, F32), X),
    ],
    ids=lambda e: dumps(e)[:60],
)
def test_every_pattern_reads_back_as_itself(e: Expr) -> None:
    assert again(e) is e
    assert loads(pretty(e, 20), check=False) is e


def test_the_grammar_has_a_form_for_every_pattern() -> None:
    from egglift.ir.forms import SLOTS

    assert {form.cls for form in FORMS.values()} | {p.Literal, p.Constant} == SLOTS.keys()


@pytest.mark.parametrize(
    ("value", "t"),
    [
        (0.1, F32),
        (-0.0, F64),
        (0.0, F64),
        (float("inf"), F32),
        (float("-inf"), F64),
        (float("nan"), F32),
        (5e-324, F64),
        (1.7976931348623157e308, F64),
        (1, F32),
        (-128, I8),
        (2**64 - 1, U64),
        (True, BOOL),
        (False, BOOL),
        (True, I32),
        (1e22, F64),
    ],
)
def test_literals_read_back_to_the_last_bit(value: float, t: el.Scalar) -> None:
    assert again(p.Literal(value, t)) is p.Literal(value, t)


@given(st.sampled_from(list(SCALARS.values())), st.integers(0, 300), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_constants_read_back_to_the_last_bit(t: el.Scalar, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = rng.bytes(n * t.size) if t != BOOL else rng.integers(0, 2, n).astype(bool).tobytes()
    e = p.Constant(Array(n, t), data)
    assert again(e) is e


def test_small_constants_are_shown_and_large_ones_shortened() -> None:
    assert dumps(el.literal(np.float32([0.1, 2])).expr) == "(constant [f32]2 0.1 2.0)"
    assert dumps(el.literal(np.array([True, False])).expr) == "(constant [bool]2 true false)"
    big = el.literal(np.zeros(1000)).expr
    assert loads(dumps(big)) is big and len(pretty(big)) < 100
    with pytest.raises(ProgramError, match="shortened for reading"):
        loads(pretty(big))


def test_a_program_reads_as_one_would_write_it() -> None:
    x, y = el.array("x", el.f32, 8), el.array("y", el.f32, 8)
    dot = el.reduce(el.add, 0.0, el.map(lambda a, b: a * b, x, y))
    assert dumps(dot.expr) == (
        "(reduce add:f32 0.0:f32 (map (fn (f32, f32) (mul (get 0 arg) (get 1 arg)))"
        " (zip (input x [f32]8) (input y [f32]8))))"
    )
    assert pretty(dot.expr, 60).splitlines() == [
        "(reduce add:f32 0.0:f32",
        "  (map",
        "    (fn (f32, f32) (mul (get 0 arg) (get 1 arg)))",
        "    (zip (input x [f32]8) (input y [f32]8))))",
    ]


def test_what_is_shared_is_named_once_where_it_belongs() -> None:
    x = el.array("x", el.f32, 8)
    e = x.map(lambda v: (v + 1) * (v + 1)) + el.reduce(el.add, 0.0, x)
    assert dumps(e.expr) == (
        "(let ((x (input x [f32]8))) (map (fn f32 (add arg (reduce add:f32 0.0:f32 x)))"
        " (map (fn f32 (let ((t1 (add arg 1.0:f32))) (mul t1 t1))) x)))"
    )


def test_a_name_is_not_taken_from_an_input() -> None:
    t1 = p.Input("t1", F32)
    shared = p.Apply("neg", (t1,))
    e = p.Apply("add", (shared, p.Apply("mul", (shared, t1))))
    assert again(e) is e
    two = p.Apply("add", (p.Input("x", F32), p.Cast(F32, p.Input("x", I32))))
    both = p.Apply("mul", (two, two))
    assert again(p.Tup((both, p.Input("x", F32), p.Input("x", I32)))) is p.Tup(
        (both, p.Input("x", F32), p.Input("x", I32))
    )


def test_a_part_shared_between_two_bodies_is_written_once() -> None:
    square = p.Apply("mul", (p.Arg(F32), p.Arg(F32)))
    e = p.Zip((p.Map(p.Apply("neg", (square,)), X), p.Map(p.Apply("exp", (square,)), X)))
    assert again(e) is e and dumps(e).count("mul") == 1


@pytest.mark.parametrize("leaf", [p.Arg(F32), p.Input("x", F32)])
def test_shared_graphs_print_in_linear_size(leaf: Expr) -> None:
    e = leaf
    for _ in range(3000):
        e = p.Apply("mul", (e, e))
    text = dumps(e)
    assert len(text) < 3000 * 40
    assert loads(text) is e and loads(pretty(e)) is e
    assert len(brief(e)) <= 100


def test_functions_nested_in_a_shared_way_print_in_linear_size() -> None:
    body: Expr = p.Apply("neg", (p.Arg(F32),))
    for _ in range(12):
        inner = p.Map(body, p.Fill(2, p.Arg(F32)))
        body = p.Apply("add", (p.At(0, inner), p.At(1, p.Map(body, p.Fill(2, p.At(0, inner))))))
    e = p.Map(body, X)
    assert len(dumps(e)) < 12 * 400
    assert loads(dumps(e)) is e


def test_deep_programs_print_and_read_without_recursion() -> None:
    e: Expr = p.Input("x", F32)
    for _ in range(20000):
        e = p.Apply("neg", (e,))
    assert loads(dumps(e)) is e and loads(pretty(e)) is e
    assert brief(e).startswith("(neg (neg")


# ----------------------------------------------------------------------------------- hostile and wrong texts


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", ProgramError, "line 1, column 1: expected an expression, found the end"),
        ("(foo 1:f32)", ProgramError, "line 1, column 2: no pattern or function 'foo'"),
        ("(addd 1:f32)", ProgramError, "did you mean add"),
        ("(neg\n  1.5)", ProgramError, "line 2, column 3: write the number's type: 1.5:f32"),
        ("(neg\n  1.5:f31)", ProgramError, "line 2, column 7: expected a type"),
        ("x", ProgramError, r"no `let` names 'x'; an input is written \(input x T\)"),
        ("arg", ProgramError, "`arg` outside of a body"),
        ("(add 1:f32)", ProgramError, "add takes 2 arguments, got 1"),
        ("(zip (iota 3 i32))", ProgramError, "two or more"),
        ("(neg 1:f32) 2", ProgramError, "column 13: expected the end of the program"),
        ("(neg 1:f32", ProgramError, r"expected '\)' to end \(neg, found the end"),
        ("(let ((x 1:f32)) y)", ProgramError, "no `let` names 'y'"),
        ("(let ((arg 1:f32)) 1:f32)", ProgramError, "'arg' cannot be bound"),
        ("(let ((x 1:f32)) (add x (let ((x 2:f32)) z)))", ProgramError, "'z'"),
        ("(split (a% 2) 1:f32)", ProgramError, r"expected one of \+ - \* /"),
        ("(reduce sub:f32 0:f32 1:f32)", ProgramError, "expected an operator"),
        ("(reduce logical_or:f32 0:f32 1:f32)", TypeMismatch, "does not take f32"),
        ("(constant [f32]3 1 2)", ProgramError, "has 3 elements, got 2"),
        ("(constant [i32]2 1 2.5)", ProgramError, "expected a number of type i32, found '2.5'"),
        ("(constant [u8]1 256)", ProgramError, "u8|256"),
        ("(constant (f32, f32) 1 2)", ProgramError, "a constant holds scalars"),
        ('(constant [f32]1 base64 "!!")', ProgramError, "not base64"),
        ("(input x (f32))", ProgramError, "two items"),
        ("9" * 5000 + ":i32", ProgramError, "1000 digits"),
        ("(fill " + "(" * 5000, ProgramError, "nested more than"),
        ("(input x " + "[" * 5000, ProgramError, "nested more than"),
        ("(neg " * 20000, ProgramError, "neg takes 1 argument"),
        ("(map (fn f32 arg) (input x f32))", TypeMismatch, "line 1, column 1: .*takes an array, got f32"),
        ("(join\n (split 3 (iota 8 i32)))", ShapeError, "line 2, column 2: .*3 does not divide 8"),
        ("(iota 3 f32)", TypeMismatch, "integers"),
        ("__import__('os')", ProgramError, "no `let` names"),
        ('(input "\\x" f32)', ProgramError, "not a string"),
    ],
)
def test_a_text_that_is_no_program_is_refused_with_its_position(text: str, error: type, message: str) -> None:
    with pytest.raises(error) as caught:
        loads(text)
    assert type(caught.value) is error
    assert re.match(r"line \d+, column \d+: ", str(caught.value))
    assert re.search(message, str(caught.value))


@given(st.text(alphabet='()[] :,.-+*/"azargfn012\n;', max_size=60))
@settings(max_examples=300, deadline=None)
@example("(" * 3000)
def test_any_text_gives_a_program_or_a_program_error(text: str) -> None:
    try:
        e = loads(text)
    except ProgramError:
        return
    assert loads(dumps(e)) is e


@given(programs(levels=True), st.integers(0, 10**6), st.sampled_from(["(", ")", " ", "x", "1", ":", '"', ""]))
@settings(max_examples=200, deadline=None)
def test_a_damaged_program_never_breaks_the_parser(e: Expr, at: int, new: str) -> None:
    text = dumps(e)
    at %= len(text)
    with contextlib.suppress(ProgramError):
        loads(text[:at] + new + text[at + 1 :])


def test_comments_and_blanks_are_skipped() -> None:
    total = p.Apply("add", (p.Literal(1, F32), p.Literal(2, F32)))
    assert loads(" ; a sum\n( add 1:f32 ; one\n 2:f32 )  ") is total
    first = p.Fold(p.Get(0, PAIR), p.Literal(0.0, F32), X)
    assert loads("(fold (fn (f32, f32) (get 0 arg)) 0.0:f32 (input x [f32]8))") is first


# ---------------------------------------------------------------------------------------- brief


@pytest.mark.parametrize(
    "thing",
    [None, 3, "x", p.Map, p.Map(3, "y"), p.Apply("nonsense", ()), p.Get(None, p.Arg(None))],  # type: ignore[arg-type]
)
def test_brief_never_raises(thing: object) -> None:
    assert isinstance(brief(thing), str)


def test_brief_keeps_to_its_limit_and_shows_what_fits() -> None:
    e = el.zip(*(el.array(f"a_long_name_{i}", el.f32, 3) for i in range(30))).expr
    assert len(brief(e)) <= 100 and len(brief(e, 30)) <= 30
    assert brief(p.Map(p.Apply("neg", (p.Arg(F32),)), X)) == "(map (neg arg) x)"
    assert repr(e) == f"<{brief(e)}>"
