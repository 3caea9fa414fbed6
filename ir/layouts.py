"""The NumPy meaning of the layout patterns: views wherever NumPy has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.batch import (
    NdArray,
    Value,
    along,
    along_axis,
    arrays,
    at,
    cut,
    each,
    gather,
    join_structures,
    pick,
    repeat,
)
from egglift.ir.errors import ProgramError
from egglift.ir.patterns import Expr
from egglift.ir.sizes import evaluate as number
from egglift.ir.text import brief


def view(e: Expr, axis: int, values: Mapping[Expr, Value]) -> Value:
    """The value of layout pattern `e` when its parts have theirs, under `axis` enclosing maps."""
    match e:
        case p.Distl(a, b):
            return repeat(values[a], axis, arrays(values[b])[0].shape[axis]), values[b]
        case p.Cross(a, b):
            n, m = (arrays(values[x])[0].shape[axis] for x in (a, b))
            return repeat(values[a], axis + 1, m), repeat(values[b], axis, n)
        case p.Concat(a, b):
            return join_structures([values[a], values[b]], axis)
        case p.Gather(indices, x):
            chosen = arrays(values[indices])[0]
            return each(lambda a: gather(chosen, a, axis), values[x])
        case p.Pad() | p.PadUp():
            return _padded(e, axis, values)
        case p.Take(n, x):
            return each(cut(axis, 0, number(n)), values[x])
        case p.Drop(n, x):
            return each(along_axis(axis, slice(number(n), None)), values[x])
        case p.At(i, x):
            return each(at(axis, number(i)), values[x])
        case p.Transpose(x):
            return each(lambda a: a.swapaxes(axis, axis + 1), values[x])
    return _reshaped(e, axis, values)


def _reshaped(e: Expr, axis: int, values: Mapping[Expr, Value]) -> Value:
    match e:
        case p.Split(n, x):
            return each(lambda a: along(_splitter(axis, number(n)), a, (axis,)), values[x])
        case p.Join(x):
            return each(lambda a: along(_joiner(axis), a, (axis, axis + 1)), values[x])
        case p.Roll(n, x):
            return each(lambda a: along(lambda b: np.roll(b, number(n), axis), a, (axis,)), values[x])
        case p.Stride(s, x):

            def stride(a: NdArray) -> NdArray:
                return _joiner(axis)(_splitter(axis, number(s))(a).swapaxes(axis, axis + 1))

            return each(lambda a: along(stride, a, (axis,)), values[x])
        case p.Slide(size, step, x):

            def slide(a: NdArray) -> NdArray:
                windows = np.lib.stride_tricks.sliding_window_view(a, number(size), axis)
                return along_axis(axis, slice(None, None, number(step)))(np.moveaxis(windows, -1, axis + 1))

            return each(slide, values[x])
    raise ProgramError(f"{brief(e)}: no meaning is known for {type(e).__name__}")


def _splitter(axis: int, n: int) -> Callable[[NdArray], NdArray]:
    return lambda a: a.reshape(*a.shape[:axis], a.shape[axis] // n, n, *a.shape[axis + 1 :])


def _joiner(axis: int) -> Callable[[NdArray], NdArray]:
    return lambda a: a.reshape(*a.shape[:axis], a.shape[axis] * a.shape[axis + 1], *a.shape[axis + 2 :])


def _padded(e: p.Pad | p.PadUp, axis: int, values: Mapping[Expr, Value]) -> Value:
    x = values[e.x]
    n = int(arrays(x)[0].shape[axis])
    if isinstance(e, p.Pad):
        left, right, mode = number(e.left), number(e.right), e.mode
    else:
        left, right, mode = 0, -n % number(e.multiple), "clamp"
    if e.value is not None:
        before, after = (repeat(values[e.value], axis, k) for k in (left, right))
    else:
        before = _edge(x, axis, _positions(mode, n, np.arange(-left, 0)))
        after = _edge(x, axis, _positions(mode, n, np.arange(n, n + right)))
    return join_structures([before, x, after], axis)


def _edge(x: Value, axis: int, positions: NdArray) -> Value:
    return each(lambda a: pick(a, positions, axis), x)


def _positions(mode: str, n: int, at: NdArray) -> NdArray:
    """Where the elements beside an array of n come from."""
    match mode:
        case "clamp":
            return np.clip(at, 0, max(n - 1, 0))
        case "wrap":
            return np.mod(at, max(n, 1))
        case "reflect":
            there = np.mod(at, max(2 * n - 2, 1))
            return np.where(there < n, there, 2 * n - 2 - there)
    folded = np.mod(at, max(2 * n, 1))
    return np.where(folded < n, folded, 2 * n - 1 - folded)
