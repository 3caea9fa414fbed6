"""A second meaning of every pattern, as plain as can be: element by element, in Python, on nested lists.

It shares no code with the interpreter but the scalar functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.scalars import FUNCTIONS
from egglift.ir.types import Array, Scalar, Tuple, Type


def from_arrays(t: Type, value: Any) -> Any:
    """The interpreter's structure of arrays as nested lists of tuples of NumPy scalars."""
    match t:
        case Tuple(items):
            return tuple(from_arrays(item, v) for item, v in zip(items, value, strict=True))
        case Array(n, element):
            return [from_arrays(element, _row(value, i)) for i in range(int(n))]
    return np.asarray(value)[()]


def _sums(n: int, t: Scalar, pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    plain = [(int(i), float(v) if t.is_float else int(v)) for i, v in pairs]
    return [t.dtype.type(sum(v for i, v in plain if i == k)) for k in range(n)]


def _row(value: Any, i: int) -> Any:
    return tuple(_row(v, i) for v in value) if isinstance(value, tuple) else value[i]


def run(e: Expr, inputs: Mapping[str, Any], arg: Any = None) -> Any:
    """The value of `e`; inputs and result are nested lists."""

    def go(x: Expr) -> Any:
        return run(x, inputs, arg)

    def body(f: Expr, value: Any) -> Any:
        return run(f, inputs, value)

    match e:
        case p.Arg():
            return arg
        case p.Input(name):
            return inputs[name]
        case p.Literal(value, t):
            return t.dtype.type(value)
        case p.Constant(t, data):
            return from_arrays(t, _shaped(t, data))
        case p.Iota(n, t):
            return [t.dtype.type(i) for i in range(n)]
        case p.Fill(n, x):
            return [go(x)] * n
        case p.Apply(op, args):
            return np.asarray(FUNCTIONS[op].numpy(*(np.asarray(go(a)) for a in args)))[()]
        case p.Cast(t, x):
            return np.asarray(go(x)).astype(t.dtype)[()]
        case p.Tup(items):
            return tuple(go(i) for i in items)
        case p.Get(i, x):
            return go(x)[i]
        case p.To(_, x):
            return go(x)
        case p.Map(f, x):
            return [body(f, v) for v in go(x)]
        case p.Reduce(op, init, x):
            total = go(init)
            for v in go(x):
                total = body(op.body, (total, v))
            return total
        case p.Fold(f, init, x) | p.Tree(f, init, x):
            total = go(init)
            for v in go(x):
                total = body(f, (total, v))
            return total
        case p.Sums(n, Tuple(items), x):
            components = ([(i, added[k]) for i, added in go(x)] for k in range(len(items)))
            return list(zip(*(_sums(n, t, pairs) for t, pairs in zip(items, components, strict=True)), strict=True))
        case p.Sums(n, t, x):
            return _sums(n, t, go(x))
        case p.Count(n, t, x):
            xs = [int(v) for v in go(x)]
            return [t.dtype.type(xs.count(i)) for i in range(n)]
        case p.ScanSeq(f, init, x):
            acc, kept = go(init), []
            for v in go(x):
                acc, y = body(f, (acc, v))
                kept.append(y)
            return kept
        case p.ScanLinked(op, f, init, x, rows):
            before, kept = [go(init)] * rows, []
            for i, v in enumerate(go(x)):
                total, y = body(f, (before[i % rows], v))
                before[i % rows] = body(op, (before[i % rows], total))
                kept.append(y)
            return kept
        case p.Scan(p.Operator(body=f), init, x) | p.ScanDoubling(f, init, x):
            totals = [go(init)]
            for v in go(x):
                totals.append(body(f, (totals[-1], v)))
            return totals[1:]
        case p.Iterate(n, f, x):
            value = go(x)
            for _ in range(n):
                value = body(f, value)
            return value
    return _layout(e, go)


def _shaped(t: Type, data: bytes) -> Any:
    shape = []
    while isinstance(t, Array):
        shape.append(int(t.length))
        t = t.element
    assert isinstance(t, Scalar)
    return np.frombuffer(data, t.dtype).reshape(shape)


def _layout(e: Expr, go: Any) -> Any:
    match e:
        case p.Zip(arrays):
            return list(zip(*(go(a) for a in arrays), strict=True))
        case p.Distl(a, b):
            return [(go(a), v) for v in go(b)]
        case p.Cross(a, b):
            return [[(v, w) for w in go(b)] for v in go(a)]
        case p.Split(n, x):
            xs = go(x)
            return [xs[i : i + n] for i in range(0, len(xs), n)]
        case p.Join(x):
            return [v for row in go(x) for v in row]
        case p.Transpose(x):
            xs = go(x)
            return [[row[j] for row in xs] for j in range(_columns(e))]
        case p.Stride(s, x):
            xs = go(x)
            n = len(xs) // s
            return [xs[i // n + s * (i % n)] for i in range(len(xs))]
        case p.Slide(size, step, x):
            xs = go(x)
            return [xs[i : i + size] for i in range(0, len(xs) - size + 1, step)]
        case p.Pad(left, right, mode, x, value):
            xs = go(x)
            return [_beyond(xs, i, mode, value, go) for i in range(-left, len(xs) + right)]
        case p.PadUp(k, x, value):
            xs = list(go(x))
            while len(xs) % k:
                xs.append(xs[-1] if value is None else go(value))
            return xs
        case p.Take(n, x):
            return go(x)[:n]
        case p.Drop(n, x):
            return go(x)[n:]
        case p.Roll(n, x):
            xs = go(x)
            return [xs[(i - n) % len(xs)] for i in range(len(xs))]
        case p.Concat(a, b):
            return go(a) + go(b)
        case p.Gather(indices, x):
            xs = go(x)
            return [xs[min(max(int(i), 0), len(xs) - 1)] for i in go(indices)]
        case p.At(i, x):
            return go(x)[i]
    raise AssertionError(e)


def _columns(e: p.Transpose) -> int:
    from egglift.ir.check import type_of

    t = type_of(e)
    assert isinstance(t, Array)
    return int(t.length)


def _beyond(xs: list[Any], i: int, mode: str, value: Expr | None, go: Any) -> Any:
    n = len(xs)
    if 0 <= i < n:
        return xs[i]
    if mode == "constant":
        return go(value)
    if mode == "clamp":
        return xs[0 if i < 0 else n - 1]
    if mode == "wrap":
        return xs[i % n]
    while not 0 <= i < n:  # mirror: x[-1] is x[0], x[n] is x[n-1], again and again
        i = -1 - i if i < 0 else 2 * n - 1 - i
    return xs[i]
