"""What users write, and the expressions that it becomes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.errors import OperatorError, ProgramError, ShapeError, TypeMismatch
from egglift.ir.operators import binary, named
from egglift.ir.types import F32, F64, I32, I64, Array, Tuple, array_of

X, Y = el.array("x", el.f32, 8), el.array("y", el.f32, 8)
A, B = el.array("A", el.f32, (4, 6)), el.array("B", el.f32, (6, 8))
PAIR = p.Arg(Tuple((F32, F32)))
FIRST, SECOND = p.Get(0, PAIR), p.Get(1, PAIR)
MUL = p.Apply("mul", (FIRST, SECOND))
ADD = named("add", F32)
ZERO = p.Literal(0.0, F32)


def test_dot_becomes_a_reduction_of_a_map_of_a_zip() -> None:
    dot = el.reduce(el.add, 0.0, el.map(lambda p: p[0] * p[1], el.zip(X, Y)))
    assert dot.expr is p.Reduce(ADD, ZERO, p.Map(MUL, p.Zip((X.expr, Y.expr))))


def test_a_lambda_of_two_zips_arrays_or_takes_a_pair_apart() -> None:
    want = p.Map(MUL, p.Zip((X.expr, Y.expr)))
    assert el.map(lambda a, b: a * b, X, Y).expr is want
    assert el.zip(X, Y).map(lambda a, b: a * b).expr is want
    assert el.map(el.mul, X, Y).expr is want
    assert (X * Y).expr is want


def test_elementwise_arithmetic_is_the_map_that_it_looks_like() -> None:
    doubled = p.Map(p.Apply("mul", (p.Literal(2.0, F32), p.Arg(F32))), X.expr)
    assert (2 * X + Y).expr is p.Map(p.Apply("add", (FIRST, SECOND)), p.Zip((doubled, Y.expr)))
    assert (X * X).expr is p.Map(p.Apply("mul", (p.Arg(F32), p.Arg(F32))), X.expr)


def test_elementwise_arithmetic_reaches_every_dimension() -> None:
    row = p.Arg(array_of(F32, (6,)))
    assert (-A).expr is p.Map(p.Map(p.Apply("neg", (p.Arg(F32),)), row), A.expr)
    rows = p.Arg(Tuple((row.type, row.type)))
    inner = p.Map(p.Apply("sub", (FIRST, SECOND)), p.Zip((p.Get(0, rows), p.Get(1, rows))))
    C = el.array("C", el.f32, (4, 6))
    assert (A - C).expr is p.Map(inner, p.Zip((A.expr, C.expr)))


def test_numpy_arrays_and_functions_meet_values() -> None:
    data = np.arange(8, dtype=np.float32)
    assert (data + X).expr is (el.literal(data) + X).expr
    assert np.exp(X).expr is el.exp(X).expr
    with pytest.raises(TypeMismatch, match=r"numpy\.nextafter"):
        np.nextafter(X, Y)


@pytest.mark.parametrize(
    ("write", "body"),
    [
        (lambda a, b: a + b, p.Apply("add", (FIRST, SECOND))),
        (lambda a, b: b / a, p.Apply("div", (SECOND, FIRST))),
        (lambda a, b: a // b, p.Apply("floordiv", (FIRST, SECOND))),
        (lambda a, b: a % b, p.Apply("mod", (FIRST, SECOND))),
        (lambda a, b: a**b, p.Apply("pow", (FIRST, SECOND))),
        (lambda a, b: a < b, p.Apply("lt", (FIRST, SECOND))),
        (lambda a, b: a <= b, p.Apply("le", (FIRST, SECOND))),
        (lambda a, b: a > b, p.Apply("gt", (FIRST, SECOND))),
        (lambda a, b: a >= b, p.Apply("ge", (FIRST, SECOND))),
        (lambda a, b: a == b, p.Apply("eq", (FIRST, SECOND))),
        (lambda a, b: a != b, p.Apply("ne", (FIRST, SECOND))),
        (lambda a, b: abs(a), p.Apply("abs", (FIRST,))),
        (lambda a, b: el.maximum(a, b), p.Apply("maximum", (FIRST, SECOND))),
        (lambda a, b: el.fma(a, b, a), p.Apply("fma", (FIRST, SECOND, FIRST))),
        (lambda a, b: el.where(a > b, a, b), p.Apply("where", (p.Apply("gt", (FIRST, SECOND)), FIRST, SECOND))),
        (lambda a, b: el.arctan2(a, b), p.Apply("atan2", (FIRST, SECOND))),
        (lambda a, b: el.cast(a, el.f64), p.Cast(F64, FIRST)),
        (
            lambda a, b: (a > b) & (b > 0),
            p.Apply("logical_and", (p.Apply("gt", (FIRST, SECOND)), p.Apply("gt", (SECOND, ZERO)))),
        ),
        (lambda a, b: ~(a > b), p.Apply("logical_not", (p.Apply("gt", (FIRST, SECOND)),))),
    ],
)
def test_scalar_notation(write: Callable[..., Any], body: p.Expr) -> None:
    assert el.map(write, X, Y).expr is p.Map(body, p.Zip((X.expr, Y.expr)))


@pytest.mark.parametrize(
    "name",
    ["exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "erf", "floor", "ceil"],
)
def test_functions_have_numpys_names(name: str) -> None:
    assert X.map(getattr(el, name)).expr is p.Map(p.Apply(name, (p.Arg(F32),)), X.expr)


def test_small_whole_powers_become_multiplications() -> None:
    x = el.scalar("s", el.f32)
    square = p.Apply("mul", (x.expr, x.expr))
    assert (x**2).expr is square and (x**2.0).expr is square
    assert (x**3).expr is p.Apply("mul", (square, x.expr))
    assert (x**4).expr is p.Apply("mul", (square, square))
    assert (x**0).expr is p.Literal(1.0, F32)
    assert (x**-1).expr is p.Apply("div", (p.Literal(1.0, F32), x.expr))
    assert (x**0.5).expr is p.Apply("sqrt", (x.expr,))
    assert (x**17).expr is p.Apply("pow", (x.expr, p.Literal(17.0, F32)))


# ---------------------------------------------------------------------------------------- parts


def test_indexing_counts_from_the_end_and_slices() -> None:
    assert X[0].expr is p.At(0, X.expr) and X[-1].expr is p.At(7, X.expr)
    assert A[1][-2].expr is p.At(4, p.At(1, A.expr)) and A[1, -2].expr is A[1][-2].expr
    assert X[2:5].expr is p.Drop(2, p.Take(5, X.expr))
    assert X[:3].expr is p.Take(3, X.expr) and X[-3:].expr is p.Drop(5, X.expr) and X[:].expr is X.expr
    assert A[:, 0].expr is p.Map(p.At(0, p.Arg(Array(6, F32))), A.expr)


@pytest.mark.parametrize("part", [slice(1, None, 2), slice(None, None, 3), slice(5, 2), slice(0, 7, 8)])
def test_slices_mean_what_they_do_in_numpy(part: slice) -> None:
    x = np.arange(8, dtype=np.float32)
    assert el.interpret(X[part], x=x).tolist() == x[part].tolist() if len(x[part]) else X[part].shape == (0,)


@pytest.mark.parametrize("at", [8, -9])
def test_an_index_outside_is_an_error_that_names_the_length(at: int) -> None:
    with pytest.raises(ShapeError, match=rf"x\[{at}\].*array of 8"):
        X[at]


def test_a_computed_index_gathers() -> None:
    i = el.scalar("i", el.i32)
    assert X[i].expr is p.At(0, p.Gather(p.Fill(1, i.expr), X.expr))
    x = np.arange(8, dtype=np.float32)
    assert el.interpret(X[i], x=x, i=np.int32(3)) == 3
    assert el.interpret(X[np.array([7, 0])], x=x).tolist() == [7, 0]


def test_tuples_have_parts_a_length_and_unpack() -> None:
    pairs = el.zip(X, Y)
    assert pairs.map(lambda q: q[-1]).expr is p.Map(SECOND, pairs.expr)
    a, b = el.tuple(X, Y)
    assert (a.expr, b.expr) == (X.expr, Y.expr)
    assert len(el.tuple(X, Y)) == 2 and len(X) == 8
    with pytest.raises(ShapeError, match="tuple of 2"):
        el.tuple(X, Y)[2]

    def body(q: el.Value) -> el.Value:
        c, d = q
        return c * d

    assert pairs.map(body).expr is p.Map(MUL, pairs.expr)


def test_windows_unpack_and_sum_in_python() -> None:
    assert X.slide(3).map(lambda w: sum(w)).type == Array(6, F32)
    with pytest.raises(ProgramError, match="use map, reduce or fold"):
        list(el.array("big", el.f32, 5000))


# ---------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("write", "error", "message"),
    [
        (lambda: X.map(lambda e: 1 if e > 0 else 2), TypeMismatch, r"\(gt e 0.0\).*use where"),
        (lambda: X.map(lambda e: 0 < e < 1), TypeMismatch, "a < x"),
        (lambda: X.map(lambda e: (e > 0) and (e < 1)), TypeMismatch, r"& \| ~"),
        (lambda: X.map(lambda e: math.exp(e)), TypeMismatch, "egglift's functions"),
        (lambda: X.map(lambda e: None), TypeMismatch, "None"),
        (lambda: 1.0 in X, TypeMismatch, "`in`"),
        (lambda: X + A, ShapeError, r"\[f32\]8 \(x\) and \[\[f32\]6\]4 \(A\).*shapes must agree"),
        (lambda: X + el.array("z", el.f32, 7), ShapeError, "shapes must agree"),
        (lambda: X.map(lambda a, b: a), TypeMismatch, "takes 2 arguments.*f32"),
        (lambda: el.zip(X), ProgramError, "two arrays"),
        (lambda: el.zip(X, A), ShapeError, "8 and 4"),
        (lambda: X.split(3), ShapeError, "3 does not divide 8"),
        (lambda: X.split(2.0), TypeMismatch, "whole number"),
        (lambda: X.take(-1), ShapeError, "0 or more"),
        (lambda: X.pad_up(0), ShapeError, "1 or more"),
        (lambda: X.pad(1, 1, "ends"), ProgramError, "clamp, mirror, reflect, wrap, constant"),
        (lambda: X.pad(1, 1, "constant"), ProgramError, "a value goes with mode"),
        (lambda: X.pad(1, 1, 0.5), TypeMismatch, r'for a value, write \("constant", 0.5\)'),
        (lambda: X.gather(Y), TypeMismatch, "integers"),
        (lambda: X.reorder([0] * 8), ShapeError, "permutation of 0..7"),
        (lambda: X.unzip(), TypeMismatch, "array of tuples"),
        (lambda: el.transpose(X), TypeMismatch, "array of arrays"),
        (lambda: X["a"], TypeMismatch, "not an index"),
        (lambda: X.roll("a"), TypeMismatch, "how far to roll must be a whole number, not 'a'"),
        (lambda: el.scalar("s", el.f32).roll(1), ShapeError, "it has no axis 0"),
        (lambda: el.scalar("s", el.f32)[0], TypeMismatch, "scalar has no component"),
        (lambda: el.array("a b", el.f32, 3), ProgramError, "cannot name an input"),
        (lambda: el.array("a", "f31", 3), TypeMismatch, "no type"),
        (lambda: el.array("a", el.f32, -3), ShapeError, "length of a"),
        (lambda: el.literal(np.array(["a"])), TypeMismatch, "no place in a program"),
        (lambda: el.literal(300, el.u8), TypeMismatch, "300 does not fit into u8"),
        (lambda: el.reduce(el.add, 0.5, el.iota(4)), TypeMismatch, "0.5 is not a value of i64"),
        (lambda: el.reduce(lambda a, b: a - b, 0.0, X), OperatorError, r"\(sub .*operator\(f.*fold"),
        (lambda: el.reduce(np.subtract, 0.0, X), OperatorError, "sub is no reduction operator"),
        (lambda: el.reduce(3, 0.0, X), TypeMismatch, "not an operator"),
        (lambda: el.reduce(el.logical_or, 0, el.iota(4)), TypeMismatch, "xs != 0"),
        (lambda: el.fold(lambda a, b: (a, b), 0.0, X), TypeMismatch, "initial value"),
        (lambda: el.stencil(sum, (3, 3), (1, 1, 1), 0, 0, "clamp", A), ShapeError, "2 dimensions"),
    ],
)
def test_mistakes_are_named_with_a_remedy(write: Callable[[], Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        write()


def test_the_parameter_of_a_lambda_cannot_leave_it() -> None:
    leaked: list[el.Value] = []
    X.map(lambda element: leaked.append(element) or element)  # type: ignore[func-returns-value]
    with pytest.raises(ProgramError, match="depends on element, the parameter of a lambda"):
        el.interpret(leaked[0] + 1)


def test_roll_takes_the_way_round_that_goes_forwards() -> None:
    assert X.roll(-1).expr is X.roll(7).expr is X.roll(15).expr is p.Roll(7, X.expr)


# ---------------------------------------------------------------------------------------- reductions


def test_a_lambda_that_spells_out_an_operator_is_that_operator() -> None:
    want = el.reduce(el.add, 0.0, X).expr
    assert X.reduce(lambda a, b: a + b, 0.0).expr is want
    assert X.reduce(lambda a, b: b + a, 0.0).expr is want
    assert X.reduce(lambda q: q[0] + q[1], 0.0).expr is want
    assert X.reduce(np.add, 0.0).expr is want
    assert X.reduce(el.add).expr is want
    assert isinstance(want, p.Reduce) and want.op.body is binary("add", F32)


@pytest.mark.parametrize("bad", [lambda a, b: a + a, lambda a, b: a + b + 0, lambda a, b: el.maximum(a, -b)])
def test_a_lambda_that_resembles_an_operator_is_refused(bad: Callable[..., Any]) -> None:
    with pytest.raises(OperatorError):
        X.reduce(bad, 0.0)


def test_an_initial_value_need_be_neither_closed_nor_neutral() -> None:
    sums = A.map(lambda row: el.reduce(el.add, row[0], row))
    row = p.Arg(Array(6, F32))
    assert sums.expr is p.Map(p.Reduce(ADD, p.At(0, row), row), A.expr)


def test_numbers_in_an_accumulator_take_the_folds_type() -> None:
    e = el.fold(lambda acc, q: acc + q[0] * q[1], 0.0, el.zip(X, Y)).expr
    assert isinstance(e, p.Fold) and e.init is ZERO
    columns = el.fold(lambda acc, row: acc + row, 0.0, A).expr
    assert isinstance(columns, p.Fold) and columns.init is p.Fill(6, ZERO)
    mean = el.fold(lambda acc, v: (acc[0] + v, acc[1] + 1), (0.0, 0), X)
    assert mean.type == Tuple((F32, F32))
    counted = el.fold(lambda acc, v: (acc[0] + v, acc[1] + 1), (0.0, el.literal(0, el.i32)), X)
    assert counted.type == Tuple((F32, I32))


def test_iterate_unfolds_where_the_type_changes() -> None:
    kept = el.iterate(3, lambda v: v * 2, X).expr
    doubled = p.Map(p.Apply("mul", (p.Arg(F32), p.Literal(2.0, F32))), p.Arg(Array(8, F32)))
    assert kept is p.Iterate(3, doubled, X.expr)
    halved = el.iterate(3, lambda v: v.split(2).map(lambda q: q.reduce(el.add)), X)
    assert halved.type == Array(1, F32) and not isinstance(halved.expr, p.Iterate)
    assert el.interpret(halved, x=np.arange(8, dtype=np.float32)).tolist() == [28]


# ---------------------------------------------------------------------------------------- defined functions


def test_allpairs_is_a_map_over_the_cross_product() -> None:
    e = el.allpairs(lambda a, b: a * b, X, Y)
    inner = p.Map(MUL, p.Arg(Array(8, Tuple((F32, F32)))))
    assert e.expr is p.Map(inner, p.Cross(X.expr, Y.expr))


def test_stencil_is_a_map_over_windows_of_the_padded_array() -> None:
    e = el.stencil(lambda w: w[0] + w[2], 3, 1, 1, 1, "clamp", X)
    assert e.expr is X.pad(1, 1, "clamp").slide(3, 1).map(lambda w: w[0] + w[2]).expr


@pytest.mark.parametrize("mode", ["clamp", "mirror", "wrap", ("constant", 2)])
def test_stencils_in_three_dimensions_see_their_neighbours(mode: Any) -> None:
    V = el.array("V", el.i32, (3, 4, 5))
    e = el.stencil(lambda w: w[0][1][2] - w[1][2][0], (2, 3, 3), (1, 1, 2), (1, 1, 1), (0, 1, 1), mode, V)
    v = np.random.default_rng(1).integers(-9, 9, (3, 4, 5)).astype(np.int32)
    name = {"clamp": "edge", "mirror": "symmetric", "wrap": "wrap"}.get(mode, "constant")
    options = {"constant_values": 2} if name == "constant" else {}
    q = np.pad(v, ((1, 0), (1, 1), (1, 1)), name, **options)
    want = (q[:-1, 1:-1, 2:] - q[1:, 2:, :-2])[:, :, ::2]
    assert (el.interpret(e, V=v) == want).all()


def test_unzip_of_a_zip_gives_the_arrays_back() -> None:
    a, b = el.zip(X, Y).unzip()
    assert (a.expr, b.expr) == (X.expr, Y.expr)
    pairs = el.array("q", (el.f32, el.i32), 4)
    c, d = el.unzip(pairs)
    assert (c.type, d.type) == (Array(4, F32), Array(4, I32))


def test_padding_with_a_number_fills_rows_and_tuples() -> None:
    assert A.pad(1, 0, ("constant", 0)).shape == (5, 6)
    pairs = el.zip(X, el.iota(8)).pad(0, 2, ("constant", (1.5, -1)))
    values = el.interpret(pairs, x=np.zeros(8, np.float32))
    assert values[0][-1] == 1.5 and values[1][-1] == -1 and pairs.shape == (10,)


def test_literals_keep_their_type_and_values() -> None:
    assert el.literal(2).expr is p.Literal(2, I64) and el.literal(2, el.f32).expr is p.Literal(2.0, F32)
    assert el.literal(np.float32(0.1)).expr is p.Literal(0.1, F32)
    table = el.literal([[1, 2], [3, 4]], el.u8)
    assert table.shape == (2, 2) and el.interpret(table).tolist() == [[1, 2], [3, 4]]
    swapped = np.arange(3, dtype=">i4")
    assert el.interpret(el.literal(swapped)).tolist() == [0, 1, 2]


def test_functions_and_methods_are_the_same() -> None:
    same = [
        (el.split(2, X), X.split(2)),
        (el.join(A), A.join()),
        (el.transpose(A), A.T),
        (el.slide(3, 2, X), X.slide(3, 2)),
        (el.take(2, X), X.take(2)),
        (el.pad(1, 2, "wrap", X), X.pad(1, 2, "wrap")),
        (el.pad_up(3, X, 0), X.pad_up(3, 0)),
        (el.drop(2, X), X.drop(2)),
        (el.concat(X, Y), X.concat(Y)),
        (el.stride(2, X), X.stride(2)),
        (el.roll(2, X), X.roll(2)),
        (el.gather([1, 2], X), X.gather([1, 2])),
        (el.cross(X, Y), X.cross(Y)),
        (el.reorder(lambda i: 7 - i, X), X.reorder(lambda i: 7 - i)),
        (el.cast(X, el.i32), X.astype(el.i32)),
    ]
    for function, method in same:
        assert function.expr is method.expr


def test_several_outputs_are_a_tuple() -> None:
    assert el.as_program((X, Y)) is p.Tup((X.expr, Y.expr))
    total, largest = el.interpret((X.reduce(el.add), X.reduce(el.maximum)), x=np.arange(8, dtype=np.float32))
    assert (total, largest) == (28, 7)


def test_values_show_themselves_and_their_type() -> None:
    assert repr(X + 1) == "<(map (add arg 1.0) x) : [f32]8>"
    assert "(map" in str(X + 1)


@pytest.mark.parametrize(("left", "right"), [(2, 3), (0, 7), (20, 9)])
def test_edges_are_reflected_as_by_numpy(left: int, right: int) -> None:
    x = np.arange(8, dtype=np.float32)
    expected = np.pad(x, (left, right), mode="reflect").tolist()
    assert el.interpret(X.pad(left, right, "reflect"), x=x).tolist() == expected
    assert el.interpret(np.pad(X, (left, right), mode="reflect"), x=x).tolist() == expected
    one = el.array("x", el.f32, 1)
    assert el.interpret(one.pad(2, 3, "reflect"), x=x[:1]).tolist() == [0] * 6
