"""Checking on samples that an operator keeps what it claims: a wrong claim would give wrong programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from egglift.ir.batch import NdArray, Value, arrays
from egglift.ir.complex_values import as_numbers, as_pairs, meaning
from egglift.ir.errors import OperatorError, TypeMismatch
from egglift.ir.patterns import Expr, Fill, Input, Map, Operator, Zip
from egglift.ir.signature import inputs_of
from egglift.ir.sizes import evaluate as number
from egglift.ir.types import Array, Scalar, Tuple, Type, array_of, is_floating, leaves, scalar_of

#: samples for each claim; half of them small whole numbers, so that ties occur
SAMPLES = 256


def check(op: Operator, t: Type, result: Type) -> None:
    """OperatorError with a counter-example where `op`, on values of type `t`, breaks a claim.

    Integers and bools are compared exactly, floats up to rounding.  An operator that reads inputs of the
    program is not checked: its claims depend on them.
    """
    if result != t:
        raise TypeMismatch(f"operator {op.name} combines two {t} into {result}; it must give {t}")
    if inputs_of(op.body) or (op.neutral is not None and inputs_of(op.neutral)):
        return
    rng = np.random.default_rng(0)
    a, b, c = (sample(t, SAMPLES, rng) for _ in range(3))

    def f(x: Value, y: Value) -> Value:
        return _apply(op.body, t, x, y)

    if op.associative:
        _agree(
            op, "associative", {"a": a, "b": b, "c": c}, "f(f(a, b), c)", f(f(a, b), c), "f(a, f(b, c))", f(a, f(b, c))
        )
    if op.commutative:
        _agree(op, "commutative", {"a": a, "b": b}, "f(a, b)", f(a, b), "f(b, a)", f(b, a))
    if op.neutral is not None:
        e: Value = meaning(Fill(SAMPLES, op.neutral), {})
        claim = "left unchanged by its neutral element"
        _agree(op, claim, {"e": e, "a": a}, "f(e, a)", f(e, a), "a", a)
        _agree(op, claim, {"e": e, "a": a}, "f(a, e)", f(a, e), "a", a)


def _apply(body: Expr, t: Type, x: Value, y: Value) -> Value:
    many = Array(SAMPLES, t)
    found: Value = meaning(Map(body, Zip((Input("x", many), Input("y", many)))), {"x": x, "y": y})
    return found


def sample(t: Type, n: int, rng: np.random.Generator) -> Value:
    """n random values of type `t`, as the interpreter takes an array of them."""
    if isinstance(t, Tuple):
        return tuple(sample(item, n, rng) for item in t.items)
    if isinstance(t, Array) and isinstance(t.element, Tuple):
        return tuple(sample(Array(t.length, item), n, rng) for item in t.element.items)
    if isinstance(t, Array) and len(leaves(t)) > 1:
        raise TypeMismatch(f"operators on {t} are not supported: take the tuples apart first")
    ((shape, scalar),) = leaves(t)
    size = (n, *map(number, shape))
    if scalar.is_complex:
        parts = sample(array_of(scalar.part, (*shape, 2)), n, rng)
        return np.asarray(as_numbers(parts, scalar))
    small = _small(scalar, size, rng)
    wide = _wide(scalar, size, rng)
    first = np.arange(n).reshape(n, *(1,) * len(shape)) < n // 2
    return np.where(first, small, wide).astype(scalar.dtype)


def _small(t: Scalar, size: tuple[int, ...], rng: np.random.Generator) -> NdArray:
    low = -3 if t.is_signed else 0
    return rng.integers(low, 2 if t.name == "bool" else 4, size).astype(t.dtype)


def _wide(t: Scalar, size: tuple[int, ...], rng: np.random.Generator) -> NdArray:
    if t.is_float:
        return (rng.normal(size=size) * 4).astype(t.dtype)
    if t.name == "bool":
        return rng.integers(0, 2, size).astype(bool)
    bits = rng.bytes(int(np.prod(size)) * t.size)
    return np.frombuffer(bits, t.dtype).reshape(size)


def _agree(op: Operator, claim: str, given: dict[str, Value], left: str, x: Value, right: str, y: Value) -> None:
    scale = sum((_magnitude(v) for v in given.values()), np.zeros(SAMPLES))
    for a, b in zip(_plain(x), _plain(y), strict=True):
        wrong = np.flatnonzero(~_close(a, b, scale))
        if wrong.size:
            i = int(wrong[0])
            values = ", ".join(f"{name} = {_show(v, i)}" for name, v in given.items())
            raise OperatorError(
                f"operator {op.name} is not {claim}: with {values}, {left} = {_show(x, i)} but {right} = "
                f"{_show(y, i)}; state only what holds, or use fold, accumulate"
            )


def _plain(v: Value) -> list[NdArray]:
    """The arrays of a value, those of complex numbers as arrays of their parts."""
    return [as_pairs(a, scalar_of(a.dtype)) for a in arrays(v)]


def _per_sample(a: NdArray, f: Callable[..., Any]) -> NdArray:
    return np.asarray(f(a.reshape(SAMPLES, -1), axis=1)) if a.size else np.zeros(SAMPLES)


def _magnitude(v: Value) -> NdArray:
    floats = [np.abs(a.astype(np.float64)) for a in _plain(v) if is_floating(a.dtype)]
    finite = [np.where(np.isfinite(a), a, 0) for a in floats]
    return sum((_per_sample(a, np.max) for a in finite), np.zeros(SAMPLES))


def _close(a: NdArray, b: NdArray, scale: NdArray) -> NdArray:
    """Per sample: equal, or, for floats, up to rounding relative to operands and results."""
    if not is_floating(a.dtype):
        return _per_sample(a == b, np.all).astype(bool)
    tolerance = scalar_of(a.dtype).epsilon ** 0.6
    wide = scale.reshape(SAMPLES, *(1,) * (a.ndim - 1))
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        near = np.abs(x - y) <= tolerance * (wide + np.abs(x) + np.abs(y))
        same = (x == y) | (np.isnan(x) & np.isnan(y)) | near
    return _per_sample(same, np.all).astype(bool)


def _show(v: Value, i: int) -> str:
    return f"({', '.join(_show(part, i) for part in v)})" if isinstance(v, tuple) else str(v[i].tolist())
