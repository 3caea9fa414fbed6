"""The interpreter's meaning of each pattern, beside NumPy's own way to say it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.errors import ArgumentError, ProgramError, ShapeError
from egglift.ir.interpret import evaluate
from egglift.ir.operators import OPERATORS, named
from egglift.ir.patterns import LEVELS, Expr, Level
from egglift.ir.scalars import FUNCTIONS
from egglift.ir.sizes import Sym
from egglift.ir.types import BOOL, F32, F64, I8, I32, SCALARS, Array, Tuple

PAIR = p.Arg(Tuple((I32, I32)))
SUB = p.Apply("sub", (p.Get(0, PAIR), p.Get(1, PAIR)))


def ints(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(np.int32)


def vector(n: int) -> el.Value:
    return el.array("x", el.i32, n)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 64])
@pytest.mark.parametrize(
    ("write", "meaning"),
    [
        (lambda x: x.map(lambda v: v * v), lambda x: x * x),
        (lambda x: x.reduce(el.add, 5), lambda x: x.sum(dtype=np.int32) + np.int32(5)),
        (lambda x: x.reduce(el.maximum), lambda x: x.max(initial=np.iinfo(np.int32).min)),
        (lambda x: x.fold(lambda a, v: a - v, 3), lambda x: np.int32(3) - x.sum(dtype=np.int32)),
        (lambda x: x.fold(lambda a, v: v - a, 3), lambda x: _alternating(x)),
        (lambda x: x.split(1), lambda x: x[:, None]),
        (lambda x: x.split(1).join(), lambda x: x),
        (lambda x: x.concat(x, x), lambda x: np.concatenate([x, x, x])),
        (lambda x: x.take(0), lambda x: x[:0]),
        (lambda x: x.drop(0), lambda x: x),
        (lambda x: x.stride(1), lambda x: x),
        (lambda x: x.pad(2, 1, ("constant", 4)), lambda x: np.pad(x, (2, 1), constant_values=4)),
        (lambda x: x.pad_up(3, 9), lambda x: np.pad(x, (0, -len(x) % 3), constant_values=9)),
        (lambda x: x.reorder(lambda i: len(x) - 1 - i), lambda x: x[::-1]),
        (lambda x: x.cross(x).map(lambda r: r.map(lambda a, b: a - b)), lambda x: x[:, None] - x[None, :]),
        (lambda x: el.fill(3, x), lambda x: np.stack([x, x, x])),
        (lambda x: el.iterate(4, lambda v: v + x, x), lambda x: 5 * x),
        (lambda x: x.map(lambda v: el.tuple(v, v + 1)).map(lambda a, b: a * b), lambda x: x * (x + 1)),
        (lambda x: x.map(lambda v: el.reduce(el.add, v, x)), lambda x: x + x.sum(dtype=np.int32)),
        (lambda x: x.map(lambda v: el.fold(lambda a, w: a * v + w, 0, x)), lambda x: _horner(x)),
    ],
)
def test_patterns_on_vectors_of_any_length(n: int, write: Callable[..., Any], meaning: Callable[..., Any]) -> None:
    x = ints(n)
    got, want = el.interpret(write(vector(n)), x=x), meaning(x)
    assert got.dtype == np.int32 and got.shape == np.shape(want)
    assert np.array_equal(got, want)


def _alternating(x: np.ndarray[Any, Any]) -> np.int32:
    a = np.int32(3)
    for v in x:
        a = v - a
    return a


def _horner(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    a = np.zeros_like(x)
    for w in x:
        a = a * x + w
    return a


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 1), (4, 6)])
@pytest.mark.parametrize(
    ("write", "meaning"),
    [
        (lambda a: a.T, lambda a: a.T),
        (lambda a: a.join(), lambda a: a.reshape(-1)),
        (lambda a: a.T.join(), lambda a: a.T.reshape(-1)),
        (lambda a: a.map(lambda r: r.reduce(el.add)), lambda a: a.sum(1, dtype=np.int32)),
        (lambda a: a.T.map(lambda c: c.reduce(el.minimum)), lambda a: a.min(0)),
        (lambda a: el.fold(lambda s, r: s + r, 0, a), lambda a: a.sum(0, dtype=np.int32)),
        (lambda a: a.map(lambda r: a.map(lambda q: el.reduce(el.add, 0, r * q))), lambda a: a @ a.T),
        (lambda a: a.map(lambda r: r[-1]), lambda a: a[:, -1]),
        (lambda a: a[0], lambda a: a[0]),
        (
            lambda a: a.map(lambda r: r.concat(r).take(3 if len(r) > 1 else 2)),
            lambda a: np.hstack([a, a])[:, : 3 if a.shape[1] > 1 else 2],
        ),
        (lambda a: a.pad(1, 1, "clamp"), lambda a: np.pad(a, ((1, 1), (0, 0)), "edge")),
        (lambda a: a.map(lambda r: r.slide(1)), lambda a: a[:, :, None]),
        (lambda a: a.map(lambda r: r.reorder(lambda i: len(r) - 1 - i)), lambda a: a[:, ::-1]),
        (lambda a: a.roll(1).map(lambda r: r.roll(-1)), lambda a: np.roll(a, (1, -1), (0, 1))),
        (lambda a: el.zip(a, a).map(lambda p, q: el.zip(p, q).map(lambda u, v: u - 2 * v)), lambda a: -a),
    ],
)
def test_patterns_on_matrices(shape: tuple[int, int], write: Callable[..., Any], meaning: Callable[..., Any]) -> None:
    a = ints(*shape)
    got, want = el.interpret(write(el.array("A", el.i32, shape)), A=a), meaning(a)
    assert got.dtype == np.int32 and np.array_equal(got, want)


@pytest.mark.parametrize(("n", "size", "step"), [(5, 3, 1), (5, 3, 2), (6, 2, 3), (5, 5, 1), (7, 1, 4)])
def test_slide_gives_the_windows_that_fit(n: int, size: int, step: int) -> None:
    x = ints(n)
    want = [x[i : i + size].tolist() for i in range(0, n - size + 1, step)]
    assert el.interpret(vector(n).slide(size, step), x=x).tolist() == want


@pytest.mark.parametrize(("mode", "name"), [("clamp", "edge"), ("mirror", "symmetric"), ("wrap", "wrap")])
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("widths", [(0, 0), (1, 0), (0, 3), (7, 12)])
def test_padding_continues_beyond_the_array_as_numpy_does(
    mode: str, name: str, n: int, widths: tuple[int, int]
) -> None:
    x = ints(n)
    padded: Any = np.pad
    assert el.interpret(vector(n).pad(*widths, mode), x=x).tolist() == padded(x, widths, name).tolist()


@pytest.mark.parametrize(("n", "s"), [(12, 3), (12, 4), (12, 12), (12, 1), (2, 2)])
def test_stride_follows_its_equation(n: int, s: int) -> None:
    x, m = ints(n), n // s
    assert el.interpret(vector(n).stride(s), x=x).tolist() == [x[i // m + s * (i % m)] for i in range(n)]


@given(st.integers(0, 40), st.integers(-100, 100))
@example(0, 3)
@example(5, 5)
@settings(max_examples=60, deadline=None)
def test_roll_moves_elements_round_as_numpy_does(n: int, k: int) -> None:
    x = ints(n)
    assert el.interpret(vector(n).roll(k), x=x).tolist() == np.roll(x, k).tolist()


@pytest.mark.parametrize("t", [el.i8, el.u8, el.i32, el.u64])
def test_gather_clamps_indices_of_every_integer_type(t: el.Scalar) -> None:
    i = np.array([0, 3, 100, 5], t.dtype)
    if t.is_signed:
        i[0] = -7
    if t == el.u64:
        i[2] = 2**64 - 1
    x = ints(6)
    got = el.interpret(vector(6).gather(el.array("i", t, 4)), x=x, i=i)
    assert got.tolist() == [x[min(max(int(k), 0), 5)] for k in i]


@pytest.mark.parametrize("case", ["indices vary", "table varies", "both vary"])
def test_gather_in_a_map(case: str) -> None:
    table, at = ints(3, 6), np.abs(ints(3, 4, seed=1)) % 6
    T, I = el.array("T", el.i32, (3, 6)), el.array("I", el.i32, (3, 4))
    if case == "indices vary":
        got, want = el.interpret(I.map(lambda i: T[1].gather(i)), T=table, I=at), table[1][at]
    elif case == "table varies":
        got, want = el.interpret(T.map(lambda t: t.gather(I[2])), T=table, I=at), table[:, at[2]]
    else:
        got = el.interpret(el.map(lambda t, i: t.gather(i), T, I), T=table, I=at)
        want = np.take_along_axis(table, at, 1)
    assert np.array_equal(got, want)


# ---------------------------------------------------------------------------------------- reductions


@pytest.mark.parametrize(
    ("name", "t"), [(name, t) for name, law in OPERATORS.items() for t in SCALARS.values() if law.takes(t)]
)
def test_named_reductions_stay_in_the_elements_type(name: str, t: el.Scalar) -> None:
    x = np.random.default_rng(3).integers(0, 2 if t == BOOL else 100, 37).astype(t.dtype)
    op = named(name, t)
    assert op.neutral is not None
    f: Any = FUNCTIONS[name].numpy
    with np.errstate(all="ignore"):
        want = f.reduce(x.astype(t.computed.dtype), dtype=t.computed.dtype).astype(t.dtype)
    got = evaluate(p.Reduce(op, op.neutral, p.Input("x", Array(37, t))), {"x": x})
    assert got.dtype == t.dtype and np.isclose(float(got), float(want), equal_nan=True)


def test_integer_sums_wrap_around_without_warnings() -> None:
    x = np.full(1000, 100, np.int8)
    total = p.Reduce(named("add", I8), p.Literal(0, I8), p.Input("x", Array(1000, I8)))
    assert evaluate(total, {"x": x}) == np.int8((100 * 1000 + 128) % 256 - 128)
    assert el.interpret(el.array("x", el.i8, 1000) * 2, x=x)[0] == -56


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 8, 13])
def test_a_general_operator_keeps_the_order_of_the_elements(n: int) -> None:
    first = el.operator(lambda a, b: el.where(a == 0, b, a), commutative=False, neutral=0)
    x = np.array([0, 0, *range(1, n)][:n], np.int32)
    want = next((v for v in x if v), 0)
    assert el.interpret(el.reduce(first, 0, vector(n)), x=x) == want


def test_argmax_reduces_over_tuples() -> None:
    larger = el.operator(
        lambda a, b: el.where((a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1])), a, b),
        neutral=(-np.inf, 2**63 - 1),
        name="argmax",
    )
    for n in (1, 2, 1001):
        x = np.random.default_rng(n).integers(0, 50, n).astype(np.float32)
        e = el.reduce(larger, None, el.zip(el.array("x", el.f32, n), el.iota(n)))
        assert el.interpret(e, x=x) == (x.max(), x.argmax())


def test_a_tree_combines_the_halves_and_then_the_initial_value() -> None:
    body = p.Apply("add", (p.Get(0, PAIR), p.Get(1, PAIR)))
    for n in (0, 1, 2, 5, 8, 9):
        x = ints(n)
        e = p.Tree(body, p.Literal(7, I32), p.Input("x", Array(n, I32)))
        assert evaluate(e, {"x": x}) == x.sum(dtype=np.int32) + 7


def test_a_fold_of_tuples_and_arrays() -> None:
    e = el.fold(lambda a, v: (a[0] + v, a[1] * 2 + v), (0, 1), vector(9))
    x, a, b = ints(9), 0, 1
    for v in x.tolist():
        a, b = a + v, b * 2 + v
    assert el.interpret(e, x=x) == (a, b)
    A = el.array("A", el.i32, (5, 3))
    start = el.fill(3, el.literal(0, el.i32))
    shifted = el.fold(lambda acc, row: el.map(lambda u, v: 2 * u + v, acc, row), start, A)
    want = np.zeros(3, np.int32)
    for row in ints(5, 3):
        want = 2 * want + row
    assert np.array_equal(el.interpret(shifted, A=ints(5, 3)), want)


def test_levels_memories_and_unrolling_keep_the_meaning() -> None:
    x, X = ints(6), p.Input("x", Array(6, I32))
    square = p.Apply("mul", (p.Arg(I32), p.Arg(I32)))
    for kind in LEVELS:
        assert np.array_equal(evaluate(p.Map(square, X, Level(kind, 1)), {"x": x}), x * x)
    for space in ("global", "local", "private"):
        assert np.array_equal(evaluate(p.To(space, p.Map(square, X)), {"x": x}), x * x)
    rows = p.Split(3, X)
    assert np.array_equal(evaluate(p.To("local", rows, 4), {"x": x}), x.reshape(2, 3))
    folds = [p.Fold(SUB, p.Literal(0, I32), X, unroll, ahead) for unroll in (False, True) for ahead in (0, 1, 2)]
    assert [evaluate(f, {"x": x}) for f in folds] == [-x.sum()] * 6


# ---------------------------------------------------------------------------------------- sizes and speed


def test_large_batches_are_cut_into_chunks_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = ints(17, 12), ints(12, 9, seed=1)
    A, B = el.array("A", el.i32, (17, 12)), el.array("B", el.i32, (12, 9))
    programs: list[Any] = [
        A.map(lambda r: B.T.map(lambda c: el.reduce(el.add, 0, r * c))),
        A.map(lambda r: B.T.map(lambda c: el.reduce(el.maximum, -99, el.map(lambda u, v: u - v, r, c)))),
        A.map(lambda r: B.T.map(lambda c: r[0] * c)),
        A.map(lambda r: el.fold(lambda s, v: s + v * r[1], 0, r)),
    ]
    whole = [el.interpret(e, **_used(e, A=a, B=b)) for e in programs]
    assert np.array_equal(whole[0], a @ b)
    monkeypatch.setattr("egglift.ir.interpret.CHUNK", 20)
    for e, want in zip(programs, whole, strict=True):
        assert np.array_equal(el.interpret(e, **_used(e, A=a, B=b)), want)


def _used(e: el.Value, **values: Any) -> dict[str, Any]:
    from egglift.ir.signature import inputs_of

    return {name: values[name] for name in inputs_of(el.as_expr(e))}


def test_products_of_matrices_are_summed_without_storing() -> None:
    import tracemalloc

    n = 300
    A, B = el.array("A", el.f32, (n, n)), el.array("B", el.f32, (n, n))
    e = A.map(lambda r: B.T.map(lambda c: el.reduce(el.add, 0.0, r * c)))
    a = np.random.default_rng(0).normal(size=(n, n)).astype(np.float32)
    tracemalloc.start()
    got = el.interpret(e, A=a, B=a)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.allclose(got, a @ a, rtol=1e-3, atol=1e-4)
    assert peak < n * n * n  # the products alone would be 4 n^3 bytes


def test_pairs_of_many_points_stay_within_memory() -> None:
    import tracemalloc

    n = 3000
    X, Y = el.array("x", el.f64, n), el.array("y", el.f64, n)
    e = X.map(lambda a: el.reduce(el.add, 0.0, Y.map(lambda b: 1 / (1 + abs(a - b)))))
    x = np.random.default_rng(0).normal(size=n)
    tracemalloc.start()
    got = el.interpret(e, x=x, y=x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.allclose(got[:5], (1 / (1 + np.abs(x[:5, None] - x))).sum(1))
    assert peak < 8 * n * n


def test_repeated_values_are_computed_once() -> None:
    e = el.fill(10**6, el.exp(el.fill(10**6, el.scalar("s", el.f64))))  # 8 TB if it were stored
    assert el.interpret(e[3][5], s=1.0) == math.e


# ------------------------------------------------------------------------------ wide, arguments, results


def test_wide_computes_in_float64_from_the_programs_values() -> None:
    x = np.full(10**5, 0.1, np.float32)
    X = el.array("x", el.f32, 10**5)
    narrow, wide = (el.interpret(X.reduce(el.add), wide=w, x=x) for w in (False, True))
    assert narrow.dtype == np.float32 and wide.dtype == np.float64
    assert abs(float(wide) - 10**5 * float(np.float32(0.1))) < 1e-6
    assert el.interpret(el.literal(0.1, el.f32), wide=True) == np.float64(np.float32(0.1))
    assert el.interpret((X.astype(el.i32), X > 0), wide=True, x=x)[0].dtype == np.int32


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "missing: s, x; the program takes s, x"),
        ({"x": np.zeros(3, np.float32), "s": 1.0, "z": 1}, "unknown: z"),
        ({"x": np.zeros(3), "s": 1.0}, r"x has dtype float64.*float32.*astype\('float32'\)"),
        ({"x": np.zeros(4, np.float32), "s": 1.0}, r"x has shape \(4,\).*\(3,\)"),
        ({"x": np.zeros((3, 1), np.float32), "s": 1.0}, "shape"),
        ({"x": [1, 2], "s": 1.0}, "shape"),
        ({"x": ["a", "b", "c"], "s": 1.0}, "x takes float32"),
        ({"x": np.zeros(3, np.float32), "s": "one"}, "s takes float32"),
        ({"x": np.zeros(3, np.float32), "s": 1j}, "s takes float32"),
    ],
)
def test_arguments_that_do_not_fit_are_named(given: dict[str, Any], message: str) -> None:
    e = el.array("x", el.f32, 3) * el.scalar("s", el.f32)
    with pytest.raises(ArgumentError, match=message):
        el.interpret(e, **given)


def test_python_numbers_and_lists_take_the_inputs_type() -> None:
    e = el.array("x", el.f32, 3) * el.scalar("s", el.f32)
    assert el.interpret(e, x=[1, 2, 3], s=2).tolist() == [2, 4, 6]
    with pytest.raises(ArgumentError, match="i takes int8"):
        el.interpret(el.scalar("i", el.i8) + 1, i=300)
    with pytest.raises(ArgumentError, match="i takes int8"):
        el.interpret(el.scalar("i", el.i8) + 1, i=1.5)


def test_arrays_of_tuples_go_in_and_out_as_tuples_of_arrays() -> None:
    q = el.array("q", (el.f32, el.i32), 3)
    f, i = np.float32([1, 2, 3]), np.int32([4, 5, 6])
    swapped = el.interpret(q.map(lambda a, b: (b, a)), q=(f, i))
    assert isinstance(swapped, tuple) and np.array_equal(swapped[0], i) and np.array_equal(swapped[1], f)
    with pytest.raises(ArgumentError, match="tuple of 2"):
        el.interpret(q, q=f)
    with pytest.raises(ArgumentError, match=r"q\[1\] has dtype"):
        el.interpret(q, q=(f, f))


def test_results_are_fresh_contiguous_arrays() -> None:
    x = ints(6)
    for e in (vector(6), vector(6).split(2).T, el.fill(3, vector(6)), vector(6).slide(2)):
        got = el.interpret(e, x=x)
        assert got.flags.c_contiguous and got.flags.writeable and not np.shares_memory(got, x)
    total = el.interpret(vector(6).reduce(el.add), x=x)
    assert isinstance(total, np.int32)


def test_non_contiguous_and_read_only_arguments_are_fine() -> None:
    x = ints(12)[::2]
    x.flags.writeable = False
    assert np.array_equal(el.interpret(vector(6) + 1, x=x), x + 1)


def test_two_inputs_of_one_name_and_open_programs_are_refused() -> None:
    with pytest.raises(ProgramError, match="two inputs are named x"):
        el.interpret((el.scalar("x", el.f32), el.scalar("x", el.i32)), x=1)
    with pytest.raises(ProgramError, match="depends on the argument"):
        evaluate(p.Arg(F32), {})
    with pytest.raises(ShapeError, match="tile length k has no value"):
        evaluate(p.Join(p.Split(Sym("k"), p.Input("x", Array(6, I32)))), {"x": ints(6)})
    with pytest.raises(ProgramError, match="empty"):
        el.interpret(vector(0).gather([0]), x=ints(0))


def test_deep_programs_do_not_overflow_the_stack() -> None:
    e: Expr = p.Input("s", F64)
    for _ in range(20000):
        e = p.Apply("neg", (e,))
    assert evaluate(e, {"s": 2.0}) == 2.0


def test_erf_is_that_of_the_c_library() -> None:
    x = np.concatenate([np.linspace(-7, 7, 5001), [0.84375, 1.25, 1 / 0.35, np.inf, -np.inf, 1e-300]])
    got = el.interpret(el.erf(el.array("x", el.f64, len(x))), x=x)
    assert np.abs(got - [math.erf(v) for v in x]).max() < 5e-16
    edge = el.interpret(el.erf(el.array("x", el.f32, 2)), x=np.float32([np.nan, -0.0]))
    assert np.isnan(edge[0]) and np.signbit(edge[1]) and edge.dtype == np.float32
