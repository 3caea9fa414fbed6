"""Scans as functions: `el.scan(el.add, 0, x)`, `el.cumsum(x, axis=1)`, and scans of segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from egglift.ir import patterns as p
from egglift.ir import trace
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.patterns import Operator
from egglift.ir.text import brief
from egglift.ir.traverse import applied
from egglift.ir.type_names import TypeLike
from egglift.ir.types import BOOL, Array, Tuple, Type
from egglift.ir.value import Like, ReduceOperator, Value, as_value, begun, elementwise, typed


def scan(
    op: ReduceOperator | Callable[..., Like],
    init: Like,
    xs: Like,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    axis: int = 0,
) -> Value:
    """`[init + x0, init + x0 + x1, ...]`: all partial results of `reduce`, with an associative operator, in any
    association.

    op: as for `reduce`; init: None: its neutral element.  Elements are scalars or tuples of them; of arrays of arrays
    the vectors along `axis` are scanned.
    exclusive: each without its own element, `[init, init + x0, ...]`.  reverse: from the last element to the first,
    `[..., init + x(n-1) + x(n-2), init + x(n-1)]`.
    """
    return as_value(xs).scan(op, init, exclusive=exclusive, reverse=reverse, axis=axis)


def cumsum(x: Like, axis: int | None = None, *, dtype: TypeLike = None) -> Value:
    """The sums of all elements up to each, along an axis; None: of all elements, row by row, as one vector.

    As in NumPy, bools and signed integers are added in i64, unsigned ones in u64.
    """
    return as_value(x).cumsum(axis, dtype=dtype)


def cumprod(x: Like, axis: int | None = None, *, dtype: TypeLike = None) -> Value:
    """The products of all elements up to each, along an axis.  See `cumsum`."""
    return as_value(x).cumprod(axis, dtype=dtype)


def cummax(x: Like, axis: int | None = None) -> Value:
    """The greatest element up to each, along an axis: `np.maximum.accumulate`; NaN from the first NaN on."""
    return as_value(x).cummax(axis)


def cummin(x: Like, axis: int | None = None) -> Value:
    """The least element up to each, along an axis: `np.minimum.accumulate`; NaN from the first NaN on."""
    return as_value(x).cummin(axis)


def segmented_scan(op: ReduceOperator | Callable[..., Like], init: Like, flags: Like, xs: Like) -> Value:
    """A scan that begins anew, with `init`, at each element whose flag is true (not 0).

        el.segmented_scan(el.add, 0, [1, 0, 1, 0], [1, 2, 3, 4]) -> [1, 3, 3, 7]

    ShapeError where there are not as many flags as elements; TypeMismatch where flags are no scalars.
    """
    marks, x = as_value(flags), as_value(xs)
    t = trace.element_of(x.expr)
    operator, first = begun(op, init, t, "scan")
    if not isinstance(marks.type, Array) or isinstance(marks.type.element, Array | Tuple):
        raise TypeMismatch(f"{brief(marks.expr)} is {marks.type}; the flags of segments are an array of bools")
    if len(marks) != len(x):
        raise ShapeError(f"{len(marks)} flags in {brief(marks.expr)} for {len(x)} elements in {brief(x.expr)}")
    begins = Value(first)

    def marked(flag: Value, v: Value) -> Any:
        started = v if first == operator.neutral else _combined(operator, begins, v)
        return as_value((flag, elementwise("where", flag, started, v)))

    pairs = marks.map(lambda v: v.cast(BOOL)).zip(x).map(marked)
    whole = p.Scan(_of_segments(operator, t), p.Tup((p.Literal(False, BOOL), first)), pairs.expr)
    return typed(whole).map(lambda pair: pair[1])


def _combined(op: Operator, a: Value, b: Value) -> Value:
    """The operator applied to two values."""
    return Value(applied(op.body, a.expr, b.expr))


def _of_segments(op: Operator, t: Type) -> Operator:
    """`<f, a> + <g, b> = <f or g, b if g else a + b>`: associative if (+) is, and what precedes a flag is forgotten."""
    marked = Tuple((BOOL, t))
    pair = Value(p.Arg(Tuple((marked, marked))))
    (f, a), (g, b) = pair[0], pair[1]
    body = as_value((f | g, elementwise("where", g, b, _combined(op, a, b))))
    neutral = None if op.neutral is None else p.Tup((p.Literal(False, BOOL), op.neutral))
    type_of(body.expr)
    return Operator(f"segmented {op.name}", body.expr, True, False, neutral)


explain(globals())
