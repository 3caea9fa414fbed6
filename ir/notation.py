"""The notation in which users write programs: inputs, patterns, and what is defined from them.

Patterns are functions here (`map(f, xs)`) and methods of `Value` (`xs.map(f)`); numbers come first, the array
comes last.  This module shadows Python's `map`, `zip` and `tuple` on purpose: it is used as `el.map`.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir import promotion, reduction, trace
from egglift.ir.axes import at_depth, axis_of, merged, permuted
from egglift.ir.complex_values import meaning
from egglift.ir.errors import ProgramError, ShapeError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.lifting import as_expr as as_expr
from egglift.ir.lifting import as_program as as_program
from egglift.ir.named_states import PREFIX
from egglift.ir.scalars import NO_ORDER
from egglift.ir.signature import inputs_of
from egglift.ir.syntax import NAME
from egglift.ir.text import brief
from egglift.ir.type_names import TypeLike as TypeLike
from egglift.ir.type_names import as_type as as_type
from egglift.ir.types import BOOL, I32, I64, Scalar, array_of
from egglift.ir.value import Like, Mode, ReduceOperator, Value, array_last, as_value, elementwise, typed
from egglift.ir.whole_numbers import whole

# ---------------------------------------------------------------------------------- inputs and constants


def array(name: str, type: TypeLike, shape: int | Sequence[int]) -> Value:
    """An input array; `type` is that of an element, e.g. `el.f32` or `(el.f32, el.i32)`.

    `el.array("A", el.f32, (m, k))` has m rows of k elements; of shape (), as in NumPy, it is a number: `scalar`.
    """
    given = builtins.tuple(shape) if isinstance(shape, Sequence | np.ndarray) and np.ndim(shape) else (shape,)
    lengths = builtins.tuple(whole(n, f"a length of {name}") for n in given)
    return typed(p.Input(_input_name(name), array_of(as_type(type), lengths)))


def scalar(name: str, type: TypeLike) -> Value:
    """An input number (or a tuple of numbers)."""
    return typed(p.Input(_input_name(name), as_type(type)))


def _input_name(name: str) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ProgramError(f"{name!r} cannot name an input: use letters, digits and _")
    if name.startswith(PREFIX):
        raise ProgramError(f"{name!r} cannot name an input: {PREFIX} begins names of iterations' states")
    return name


def literal(value: Any, type: TypeLike = None) -> Value:
    """A number, or an array of numbers, written into the program (nested lists and ndarrays)."""
    t = None if type is None else as_type(type)
    if isinstance(value, bool | int | float | complex):
        return Value(promotion.literal(value, t) if isinstance(t, Scalar) else as_expr(value))
    try:
        data = np.asarray(value, t.dtype if isinstance(t, Scalar) else None)
    except ValueError as error:
        raise TypeMismatch(f"{value!r} is no array of numbers: {error}") from None
    return Value(as_expr(data))


def tuple(*items: Like) -> Value:
    """The tuple of two or more values."""
    return typed(as_expr(items))


def iota(n: int, type: TypeLike = I64) -> Value:
    """[0, 1, ..., n-1]."""
    t = as_type(type)
    if not isinstance(t, Scalar):
        raise TypeMismatch(f"iota counts in integers, not in {t}")
    return typed(p.Iota(whole(n, "the length"), t))


def fill(shape: int | Sequence[int], x: Like) -> Value:
    """`x` repeated n times; for a shape, arrays of arrays of it."""
    e = as_expr(x)
    lengths = builtins.tuple(shape) if isinstance(shape, Sequence) else (shape,)
    for n in reversed(lengths):
        e = p.Fill(whole(n, "the length"), e)
    return typed(e)


# ---------------------------------------------------------------------------------------- computing patterns


def map(f: Callable[..., Like], xs: Like, *more: Like) -> Value:
    """`[f(x0), f(x1), ...]`; with more arrays of the same length, f takes an element of each."""
    return array_last("map(f, x)", f, xs).map(f, *more)


def reduce(op: ReduceOperator | Callable[..., Like], init: Like, xs: Like) -> Value:
    """`init + x0 + x1 + ...` with an associative operator, in any association.

    `op` is a named operator (`el.add`), one made by `el.operator`, or a lambda that writes out a named one.
    """
    return array_last("reduce(op, init, x)", op, xs).reduce(op, init)


def fold(f: Callable[..., Like], init: Like, xs: Like) -> Value:
    """`... f(f(init, x0), x1) ...`, left to right; the accumulator may be a tuple or an array."""
    return array_last("fold(f, init, x)", f, xs).fold(f, init)


def accumulate(f: Callable[..., Like], init: Like, xs: Like) -> Value:
    """`[f(init, x0), f(f(init, x0), x1), ...]`: all that `fold` carries, left to right, without `init`.

        el.accumulate(lambda h, x: np.tanh(x @ w + h @ u), h0, xs)  # the states of a recurrent net after each input

    f need not be associative; what is carried may be a number, an array, or a tuple of these, of which the result is an
    array with a row for each element.  Where f is associative, `scan` is faster.
    """
    return array_last("accumulate(f, init, x)", f, xs).accumulate(f, init)


def iterate(n: int, f: Callable[..., Like], x: Like) -> Value:
    """`f(f(... f(x)))`, n times.  If f changes the type, the program holds n copies of it."""
    return as_value(x).iterate(n, f)


def allpairs(f: Callable[..., Like], a: Like, b: Like) -> Value:
    """`c[i][j] = f(a[i], b[j])`."""
    return cross(a, b).map(lambda row: row.map(f))


def matmul(a: Like, b: Like) -> Value:
    """`a @ b`: matrices, vectors and stacks of matrices, as NumPy's matmul multiplies them."""
    return as_value(a) @ as_value(b)


def argmin(xs: Like, axis: int | None = None, keepdims: bool = False) -> Value:
    """The first place (i64) of the smallest element along an axis; NaN counts as the largest number.

    axis: None: of all elements, read row by row as one vector.  With `keepdims`, axes that are reduced stay, with
    length 1.
    """
    return _places(reduction.smaller, as_value(xs), math.inf, axis, keepdims)


def argmax(xs: Like, axis: int | None = None, keepdims: bool = False) -> Value:
    """The first place (i64) of the largest element along an axis; NaN counts as the smallest number.  See `argmin`."""
    return _places(reduction.larger, as_value(xs), -math.inf, axis, keepdims)


def _places(op: reduction.Defined, xs: Value, worst: float, axis: int | None, keepdims: bool) -> Value:
    """`_place` of the vectors along an axis, which is brought to the end."""
    e, rank = xs.expr, len(xs.shape)
    if axis is None and rank == 1:
        axis = 0
    if axis is None:
        found = _place(op, typed(merged(e, 0, rank)) if rank else fill(1, xs), worst).expr
        for _ in range(rank if keepdims else 0):
            found = p.Fill(1, found)
        return typed(found)
    at = axis_of(e, axis)
    last = permuted(e, range(rank), [*(a for a in range(rank) if a != at), at])
    found = at_depth(rank - 1, last, lambda row: _place(op, Value(row), worst).expr)
    return typed(at_depth(at, found, lambda part: p.Fill(1, part)) if keepdims else found)


def _place(op: reduction.Defined, xs: Value, worst: float) -> Value:
    """The place in `reduce op (zip xs (iota n))`.  Places are counted in i32 where that suffices: it is faster.

    NaN is replaced by `worst`: no number is larger or smaller than NaN, and with it the operator is not associative.
    """
    if xs.shape == (0,):
        raise ShapeError(f"{op.name} of {brief(xs.expr)}: an empty array has no such place")
    t = trace.element_of(xs.expr)
    if isinstance(t, Scalar) and t.is_complex:
        raise TypeMismatch(f"{op.name} does not take {xs.type}; {NO_ORDER}")
    if not isinstance(t, Scalar) or t == BOOL:
        raise TypeMismatch(f"{op.name} compares numbers; {brief(xs.expr)} is {xs.type}: map its elements to numbers")
    n = whole(xs.shape[0], "the length")
    places = iota(n, I32 if n < 1 << 31 else I64)
    pairs = xs.zip(places)
    if t.is_float:
        pairs = pairs.map(lambda v, i: as_value((elementwise("where", v != v, worst, v), i)))
    return pairs.reduce(op)[1].cast(I64)


# ---------------------------------------------------------------------------------------- layout patterns


def zip(xs: Like, *others: Like) -> Value:
    """`[<a0, b0, ...>, <a1, b1, ...>, ...]` of two or more arrays of one length."""
    return as_value(xs).zip(*others)


def unzip(xs: Like) -> Value:
    """The tuple of arrays that an array of tuples consists of: `a, b = el.unzip(pairs)`."""
    return as_value(xs).unzip()


def cross(a: Like, b: Like) -> Value:
    """`[[<a0, b0>, <a0, b1>, ...], [<a1, b0>, ...], ...]`."""
    return as_value(a).cross(b)


def split(n: int, xs: Like) -> Value:
    """Chunks of n elements; n divides the length."""
    return array_last("split(n, x)", n, xs).split(n)


def join(xs: Like) -> Value:
    """The elements of all rows, one after the other: the inverse of split."""
    return as_value(xs).join()


def stride(s: int, xs: Like) -> Value:
    """`y[i] = x[i // n + s * (i % n)]` with n = length / s."""
    return array_last("stride(s, x)", s, xs).stride(s)


def slide(size: int, step: int, xs: Like) -> Value:
    """Windows of `size` elements, each `step` after the one before."""
    return array_last("slide(size, step, x)", size, xs).slide(size, step)


def pad(left: int, right: int, mode: Mode, xs: Like) -> Value:
    """`left` elements before and `right` after: mode "clamp", "mirror" (NumPy's "symmetric"), "reflect", "wrap",
    ("constant", value) or a function.

    A function is called as `mode(i, n)` with an index of the padded array, which begins at -left, and the length n; it
    returns the index of the element that stands there.
    """
    return array_last("pad(left, right, mode, x)", left, xs).pad(left, right, mode)


def pad_up(multiple: int, xs: Like, value: Like = None) -> Value:
    """`value` (or else the last element) appended until `multiple` divides the length."""
    return array_last("pad_up(multiple, x)", multiple, xs).pad_up(multiple, value)


def take(n: int, xs: Like) -> Value:
    """The first n elements."""
    return array_last("take(n, x)", n, xs).take(n)


def drop(n: int, xs: Like) -> Value:
    """All but the first n elements."""
    return array_last("drop(n, x)", n, xs).drop(n)


def gather(indices: Like, xs: Like) -> Value:
    """`[x[i0], x[i1], ...]`; indices are integers, clamped into the array."""
    return as_value(xs).gather(indices)


def reorder(order: Callable[[Value], Like] | Like, xs: Like) -> Value:
    """`y[i] = x[order(i)]` for an index function, or `y[i] = x[order[i]]` for a permutation of 0..n-1."""
    return as_value(xs).reorder(order)


# ---------------------------------------------------------------------------------------- meaning


def interpret(program: Like, /, *, wide: Any = None, **inputs: Any) -> Any:
    """The NumPy meaning of a program: `el.interpret(dot, x=a, y=b)`.

    Returns an ndarray, or a NumPy scalar, of the program's dtype.  Several outputs are a tuple; an array of tuples is a
    tuple of arrays.  With `wide=True`, floats are computed and returned as float64; but where the program has an input
    of that name, the word means that.  ArgumentError where inputs do not fit.
    """
    e = as_program(program)
    if wide is not None and "wide" in inputs_of(e):
        return meaning(e, {**inputs, "wide": wide})
    return meaning(e, inputs, bool(wide))


explain(globals())
