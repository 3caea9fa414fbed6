"""Every scalar function is NumPy's on the device: scalars and vectors, every type, awkward values."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.codegen.opencl.scalar_functions import CALL_BYTES, literal
from egglift.ir import patterns as p
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from egglift.ir.scalars import FUNCTIONS, result_type
from egglift.ir.types import BOOL, F64, SCALARS, Array, Scalar, Tuple, is_floating, scalar_of
from tests.codegen.low import NdArray, fmap, op, vector
from tests.deep import every
from tests.harness import run

TYPES = list(SCALARS.values())
NUMBERS = [t for t in TYPES if t != BOOL]


def legal(name: str, t: Scalar) -> bool:
    """Does the function take arguments of type `t`?"""
    kind = FUNCTIONS[name].kind
    if kind == "bits" and t == BOOL and "shift" in name:
        return False  # NumPy shifts bools as int8
    takes = {"arithmetic": t != BOOL, "float": t.is_float, "logical": t == BOOL, "bits": not t.is_float}
    return takes.get(kind, True)


def argument_types(name: str, t: Scalar) -> tuple[Scalar, ...]:
    f = FUNCTIONS[name]
    return (BOOL, t, t) if f.kind == "where" else (t,) * f.arity


def awkward(t: Scalar) -> NdArray:
    """Values at the edges of a type."""
    if t == BOOL:
        return np.array([False, True])
    if t.is_float:
        return np.array([0.0, -0.0, 0.5, 1.0, -1.0, 2.5, -2.5, 7.25, np.inf, -np.inf, np.nan], t.dtype)
    info = np.iinfo(t.dtype)
    small = [-1, -2, -7, info.min + 1] if info.min else []
    return np.array(sorted({info.min, info.max, info.max - 1, 0, 1, 2, 3, 7, *small}), t.dtype)


def combinations(types: tuple[Scalar, ...]) -> list[NdArray]:
    """All combinations of awkward arguments, repeated up to a multiple of 64."""
    grids = np.meshgrid(*map(awkward, types), indexing="ij")
    return [np.resize(g.reshape(-1), -(-g.size // 64) * 64) for g in grids]


def mapped(body: Expr, arrays: tuple[Expr, ...], width: int) -> Expr:
    """`body` over the arrays, or over their zip, `width` elements at a time."""
    x = arrays[0] if len(arrays) == 1 else p.Zip(arrays)
    if width == 1:
        return fmap(body, x, "global")
    return p.Join(fmap(lambda row: fmap(body, row, "vec"), p.Split(width, x), "global"))


def same(expected: NdArray, actual: NdArray) -> NdArray:
    if not is_floating(expected.dtype):
        return np.asarray(expected == actual)
    t, x, y = scalar_of(expected.dtype), expected.astype(np.float64), actual.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= (1 if t.is_narrow else 64) * t.epsilon * np.maximum(np.abs(x), 1e-3)
    return np.asarray(near | (x == y) | (np.isnan(x) & np.isnan(y)))


@pytest.mark.parametrize(("t", "width"), every(3, TYPES, (1, 4, 64)), ids=str)
def test_functions_are_numpys(t: Scalar, width: int) -> None:
    inputs: dict[str, NdArray] = {}
    bodies: list[Expr] = []
    expected: list[NdArray] = []
    names = [name for name in FUNCTIONS if legal(name, t)]
    for name in names:
        types = argument_types(name, t)
        stem = "".join(map(str, types))
        values = combinations(types)
        arrays = tuple(p.Input(f"{stem}{k}", Array(v.size, s)) for k, (v, s) in enumerate(zip(values, types)))
        inputs |= {f"{stem}{k}": v for k, v in enumerate(values)}
        arg = p.Arg(t if len(types) == 1 else Tuple(types))
        parts = (arg,) if len(types) == 1 else tuple(p.Get(k, arg) for k in range(len(types)))
        bodies.append(mapped(op(name, *parts), arrays, width))
        with np.errstate(all="ignore"):
            value = np.asarray(FUNCTIONS[name].numpy(*(v.astype(s.computed.dtype) for v, s in zip(values, types))))
        expected.append(value.astype(result_type(name, types).dtype))
    actual = run(compile_term(p.Tup(tuple(bodies))), inputs)
    for name, e, a in zip(names, expected, actual, strict=True):
        wrong = np.flatnonzero(~same(e, a))[:3]
        assert not wrong.size, (name, e[wrong], a[wrong], wrong)


@pytest.mark.parametrize(("source", "width"), every(3, TYPES, (1, 4, 32)), ids=str)
def test_casts_are_numpys_astype(source: Scalar, width: int) -> None:
    values = combinations((source,))[0]
    if source.is_float:  # beyond the range of an integer, NumPy's result depends on the machine
        values = np.resize(np.array([0, 1, 0.5, 2.75, 100.9], source.dtype), 64)
    x = p.Input("x", Array(values.size, source))
    casts = [mapped(p.Cast(t, p.Arg(source)), (x,), width) for t in TYPES if t != source]
    for t, actual in zip([t for t in TYPES if t != source], run(compile_term(p.Tup(tuple(casts))), {"x": values})):
        assert np.array_equal(actual, values.astype(t.dtype)), (source, t)


@pytest.mark.parametrize("t", NUMBERS, ids=str)
def test_literals_keep_every_bit(t: Scalar) -> None:
    values: list[Any] = [0.1, -1e-30, 3.4e38, 1e6, 123456.7, 1 / 3, -0.0, float("inf"), float("nan"), 1e-310]
    if not t.is_float:
        info = np.iinfo(t.dtype)
        values = [int(info.min), int(info.max), 0, 1, int(info.max) - 1]
    with np.errstate(over="ignore"):
        expected = [np.array(v).astype(t.dtype) for v in values]
    actual = run(compile_term(p.Tup(tuple(p.Literal(v, t) for v in values))), {})
    for v, e, a in zip(values, expected, actual, strict=True):
        assert a.tobytes() == e.tobytes() or (np.isnan(e) and np.isnan(a[0])), (v, literal(v, t))


def test_a_device_without_double_says_so() -> None:
    with pytest.raises(CodegenError, match="no f64"):
        term = fmap(lambda a: op("neg", a), p.Input("x", Array(4, F64)), "global")
        compile_term(term, limits=DeviceLimits(float64=False))


@pytest.mark.parametrize(("t", "width"), every(2, NUMBERS, (8, 16)), ids=str)
def test_gpu_kernels_move_unaligned_wide_vectors_in_pieces(t: Scalar, width: int) -> None:
    """PoCL's functions return half of a vector that is wider than those of the processor that it was built for."""
    x = p.Drop(1, vector("x", 8 * width + 1, t=t))
    shifted = p.Concat(p.Take(1, vector("x", 8 * width + 1, t=t)), mapped(op("neg", p.Arg(t)), (x,), width))
    plan = compile_term(shifted, limits=DeviceLimits(warp=32))
    pieces = re.findall(r"(vload|vstore)(\d+)\(", plan.source)
    assert {name for name, _ in pieces} == {"vload", "vstore"}
    assert max(int(n) for _, n in pieces) * t.size <= CALL_BYTES
    values = np.arange(8 * width + 1).astype(t.dtype)
    (actual,) = run(plan, {"x": values})
    np.testing.assert_array_equal(actual, np.concatenate([values[:1], -values[1:]]))
