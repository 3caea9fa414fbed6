"""Recurrences of first order, and scans with a function of one's own, in JAX's form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from egglift.ir import patterns as p
from egglift.ir import promotion
from egglift.ir.axes import scalar_of_elements
from egglift.ir.errors import OperatorError, ShapeError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.lifting import is_number
from egglift.ir.patterns import Expr
from egglift.ir.rearranging import broadcast_to
from egglift.ir.reduction import operator
from egglift.ir.scanning import element_at_depth
from egglift.ir.text import brief
from egglift.ir.traverse import applied
from egglift.ir.types import I32, Array, Scalar, Tuple, Type
from egglift.ir.value import Like, Value, as_value, elementwise, operator_of


def associative_scan(
    fn: Callable[..., Like], elems: Like | Sequence[Like], axis: int = 0, reverse: bool = False
) -> Value:
    """All partial results of an associative function, without an initial value: `[x0, fn(x0, x1), ...]`.

        el.associative_scan(lambda s, t: (s[0] * t[0], t[0] * s[1] + t[1]), (a, b))

    elems: an array, or a tuple of arrays of one shape, of which fn takes and gives one number each; the result is such
    a tuple.  Unlike JAX's, fn sees numbers and not slices.  That fn is associative is taken on trust; in which order
    its results are combined is left open.  reverse: from the last element to the first.  ShapeError where shapes
    differ; TypeMismatch where fn does not give what it takes.
    """
    together = isinstance(elems, tuple | list)
    x = _zipped([as_value(e) for e in elems]) if together else as_value(elems)
    found = _scanned(fn, x, axis, reverse)
    return _unzipped(found) if together else found


def linear_recurrence(a: Like, b: Like, init: Like = 0, axis: int = 0, reverse: bool = False) -> Value:
    """`y[i] = a[i] * y[i - 1] + b[i]` along an axis, where `y[-1]` is `init`: filters of first order, moving averages.

        el.linear_recurrence(0.9, 0.1 * x)  # the exponential moving average of x

    b: an array; a: a number, or an array whose shape is repeated to b's; init: a number, or a scalar value.  Computed
    as a scan of pairs, in parallel: products of many a are made, which should not overflow.  reverse: from the last
    element to the first, `y[i] = a[i] * y[i + 1] + b[i]`.
    """
    factors, terms, start = as_value(a), as_value(b), as_value(init)
    if not isinstance(terms.type, Array) or isinstance(start.type, Array):
        raise ShapeError(
            f"linear_recurrence takes an array b and a number init, and not {terms.type} and {start.type}; where init "
            "is an array, add a * init to the first of b"
        )
    t = scalar_of_elements(elementwise("mul", a if is_number(a) else factors, terms).expr)
    shape: Any = terms.shape
    factors = broadcast_to(factors.cast(t.computed), shape)
    pairs = _zipped([factors, terms.cast(t.computed)])
    first = p.Tup((promotion.literal(1, t.computed), promotion.cast(start.expr, t.computed)))
    found = pairs.scan(_LINEAR, Value(first), reverse=reverse, axis=axis)
    return _component(found, 1).cast(t)


def _after(s: Value, t: Value) -> Any:
    """One step after another, y -> s0 y + s1 and then y -> t0 y + t1, as one step."""
    return s[0] * t[0], t[0] * s[1] + t[1]


_LINEAR = operator(_after, commutative=False, neutral=(1, 0), name="after", check=False)


def _scanned(fn: Callable[..., Like], x: Value, axis: int, reverse: bool) -> Value:
    """A scan that begins with the first element where fn has no neutral one: of pairs that say whether there is one."""
    t = element_at_depth(x.expr)
    try:
        known = operator_of(fn, t)
    except OperatorError:
        known = operator(fn, commutative=False, check=False).of(t)
    if known.neutral is not None:
        return x.scan(fn, None, axis=axis, reverse=reverse)

    def after(s: Value, u: Value) -> Any:
        both = Value(applied(known.body, s[1].expr, u[1].expr))
        return s[0] | u[0], _chosen(s[0] > 0, _chosen(u[0] > 0, both, s[1]), u[1])

    nothing = p.Tup((promotion.literal(0, I32), _zero(t)))
    there = Value(promotion.literal(1, I32))
    pairs = _at_depth(len(x.shape), x, lambda v: Value(p.Tup((there.expr, v.expr))))
    own = operator(after, commutative=False, neutral=Value(nothing), name=known.name, check=False)
    return _component(pairs.scan(own, Value(nothing), reverse=reverse, axis=axis), 1)


def _zero(t: Type) -> Expr:
    return p.Tup(tuple(map(_zero, t.items))) if isinstance(t, Tuple) else promotion.literal(0, cast(Scalar, t))


def _chosen(test: Value, yes: Value, no: Value) -> Value:
    """`where test yes no`, also of tuples."""
    if not isinstance(yes.type, Tuple):
        return elementwise("where", test, yes, no)
    return Value(p.Tup(tuple(_chosen(test, yes[i], no[i]).expr for i in range(len(yes.type.items)))))


def _at_depth(depth: int, x: Value, f: Callable[[Value], Value]) -> Value:
    return x.map(lambda row: _at_depth(depth - 1, row, f)) if depth else f(x)


def _zipped(arrays: Sequence[Value]) -> Value:
    """Arrays of one shape as one of tuples."""
    shapes = {v.shape for v in arrays}
    if len(shapes) > 1 or () in shapes or len(arrays) < 2:
        given = ", ".join(f"{brief(v.expr)}: {v.type}" for v in arrays)
        raise ShapeError(f"a scan of several arrays takes two or more of one shape, not {given}")
    if len(arrays[0].shape) == 1:
        return arrays[0].zip(*arrays[1:])
    return arrays[0].map(lambda *rows: _zipped(rows), *arrays[1:])


def _unzipped(x: Value) -> Value:
    """The tuple of arrays that an array of tuples consists of, at any number of axes."""
    t = element_at_depth(x.expr)
    if not isinstance(t, Tuple):
        raise TypeMismatch(f"{brief(x.expr)} is {x.type}: the function gives one number for several")
    return Value(p.Tup(tuple(_component(x, i).expr for i in range(len(t.items)))))


def _component(x: Value, i: int) -> Value:
    return _at_depth(len(x.shape), x, lambda v: v[i])


explain(globals())
