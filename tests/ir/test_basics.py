"""Nodes, types, sizes, walks and signatures."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.ir import patterns as p
from egglift.ir.errors import ShapeError
from egglift.ir.operators import named
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.sizes import SizeOp, Sym, evaluate, symbols
from egglift.ir.traverse import bodies, children, instantiate, is_closed, rebuild, subterms, tile_symbols
from egglift.ir.types import (
    BF16,
    BOOL,
    F32,
    F64,
    I32,
    SCALARS,
    Array,
    Tuple,
    array_of,
    dims,
    is_floating,
    leaves,
    scalar_of,
)

X = p.Input("x", Array(8, F32))
SQUARE = p.Apply("mul", (p.Arg(F32), p.Arg(F32)))


def test_equal_programs_are_one_object() -> None:
    assert p.Map(SQUARE, X) is p.Map(body=SQUARE, x=X) is p.Map(SQUARE, X, None)
    assert p.Map(SQUARE, X) is not p.Map(SQUARE, X, p.Level("seq"))
    assert p.Literal(0.0, F32) is not p.Literal(-0.0, F32) and p.Literal(1, I32) is not p.Literal(True, I32)
    assert p.Literal(1, F32) is not p.Literal(1.0, F32)
    assert p.Literal(float("nan"), F32) is p.Literal(float("nan"), F32)


def test_programs_survive_copying_and_pickling() -> None:
    e = el.array("x", el.f32, 8).map(lambda v: v * v).reduce(el.add).expr
    assert copy.deepcopy(e) is e and pickle.loads(pickle.dumps(e)) is e


def test_scalar_types_agree_with_numpy() -> None:
    for name, s in SCALARS.items():
        assert scalar_of(s.dtype) == s and s.size == s.dtype.itemsize and str(s) == name
        assert s.is_float == is_floating(s.dtype) and s.is_integer == (s.dtype.kind in "iu")
        assert s.is_float == (s.dtype.kind == "f" or s == BF16)  # to NumPy, bfloat16 is no kind of its own
        assert s.is_signed == (s.is_float or s.dtype.kind == "i")


def test_a_value_has_one_buffer_for_each_scalar_of_its_type() -> None:
    t = Array(10, Tuple((F32, Array(4, Tuple((I32, BOOL))))))
    assert leaves(t) == (((10,), F32), ((10, 4), I32), ((10, 4), BOOL))
    assert dims(array_of(F64, (2, 3))) == (2, 3)


def test_lengths_evaluate_once_their_symbols_are_known() -> None:
    n = SizeOp("-", SizeOp("*", SizeOp("/", 10, Sym("k")), Sym("k")), SizeOp("+", 1, Sym("m")))
    assert evaluate(n, {"k": 3, "m": 2}) == 6 and symbols(n) == {"k", "m"}
    with pytest.raises(ShapeError, match="tile length k"):
        evaluate(n, {"m": 2})
    with pytest.raises(ShapeError, match="zero"):
        evaluate(SizeOp("/", 3, 0))


def test_children_stay_in_scope_and_bodies_leave_it() -> None:
    e = p.Reduce(named("add", F32), p.Literal(0.0, F32), p.Map(SQUARE, X))
    assert children(e) == (e.init, e.x) and bodies(e) == (e.op.body,)
    assert bodies(e.x) == (SQUARE,) and children(SQUARE) == (p.Arg(F32), p.Arg(F32))
    assert is_closed(e) and not is_closed(SQUARE) and is_closed(p.Map(SQUARE, X))
    order = list(subterms(e))
    assert len(order) == len(set(order)) and order.index(SQUARE) < order.index(e.x) < order.index(e)


def test_rebuilding_shares_what_is_unchanged() -> None:
    e = p.Zip((X, p.Map(SQUARE, X)))
    assert rebuild(e, lambda c: c) is e
    assert rebuild(e, lambda c: p.Take(2, c)) is p.Zip((p.Take(2, X), p.Take(2, p.Map(SQUARE, X))))
    assert rebuild(e.arrays[1], lambda c: c, lambda b: p.Arg(F32)) is p.Map(p.Arg(F32), X)


def test_instantiating_sets_symbols_in_lengths_types_and_bodies() -> None:
    k = Sym("k")
    row = p.Arg(Array(k, F32))
    e = p.Map(p.Take(SizeOp("-", k, 1), row), p.Split(k, X))
    assert tile_symbols(e) == {"k"}
    want = p.Map(p.Take(3, p.Arg(Array(4, F32))), p.Split(4, X))
    assert instantiate(e, {"k": 4}) is want
    assert tile_symbols(want) == frozenset() and instantiate(want, {}) is want


def test_instantiating_does_not_recurse() -> None:
    e: Expr = p.Split(Sym("k"), X)
    for _ in range(5000):
        e = p.Transpose(e)
    assert tile_symbols(instantiate(e, {"k": 2})) == frozenset()


def test_inputs_come_in_the_order_of_their_names() -> None:
    """However a program is written: a captured scalar, say, is in the expression behind what it is captured by."""
    A, B = el.array("A", el.f32, (4, 6)), el.array("B", el.f32, (6, 8))
    s = el.scalar("alpha", el.f32)
    product = A.map(lambda r: B.T.map(lambda c: s * el.reduce(el.add, 0.0, r * c)))
    assert list(inputs_of(product.expr)) == ["A", "B", "alpha"]
    x, y = el.array("x", el.f32, 6), el.array("y", el.f32, 6)
    for e in (s * x + y, y + x * s, y - (x - s), x.map(lambda v: v * s) + y):
        assert list(inputs_of(e.expr)) == ["alpha", "x", "y"]
        plan = compile_term(e.expr)
        assert list(plan.inputs) == ["alpha", "x", "y"]
        assert [b.name for b in plan.kernels[0].params] == ["alpha", "x", "y", "out"]
    assert inputs_of((x + np.float32(1)).expr) == {"x": Array(6, F32)}


def test_the_notation_is_complete() -> None:
    missing = [name for name in el.__all__ if not hasattr(el, name)]
    assert not missing
    undocumented = [n for n in el.__all__ if callable(getattr(el, n)) and not getattr(el, n).__doc__]
    assert not undocumented
