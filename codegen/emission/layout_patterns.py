"""Layout patterns: as views of what is read, and as acceptors of what is written."""

from __future__ import annotations

from collections.abc import Callable

from egglift.codegen.emission import guards
from egglift.codegen.emission.builder import Builder
from egglift.codegen.kernel.index import Index, index
from egglift.codegen.kernel.views import (
    Arr,
    View,
    component,
    element,
    join,
    length,
    mirrored,
    number,
    part,
    split,
    stride,
    transpose,
    widened,
    wrapped,
)
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Array, Scalar, Tuple


def layout(em: Builder, e: Expr, v: Callable[[Expr], View]) -> View:
    """The view of a layout pattern's value, given those of its parts: nothing is computed and nothing copied."""
    match e:
        case p.Iota(n, t):
            em.require(t)
            return Arr(number(n), lambda i: em.number(i, t))
        case p.Fill(n, x):
            filled = v(x)
            return Arr(number(n), lambda i: filled)
        case p.Zip(arrays):
            zipped = tuple(map(v, arrays))
            return Arr(length(type_of(e)), lambda i: tuple(element(a, i) for a in zipped))
        case p.Distl(a, b):
            return guards.paired(v(a), v(b))
        case p.Cross(a, b):
            left, right, m = v(a), v(b), length(type_of(b))
            return Arr(length(type_of(a)), lambda i: Arr(m, lambda j: (element(left, i), element(right, j))))
        case p.Split(n, x):
            return split(v(x), number(n), length(type_of(x)))
        case p.Join(x):
            return join(v(x), *_matrix(x))
        case p.Transpose(x):
            return transpose(v(x), *_matrix(x))
        case p.Stride(s, x):
            return stride(v(x), number(s), length(type_of(x)))
        case p.Slide(size, step, x):
            xs, window, hop = v(x), number(size), number(step)
            return Arr(length(type_of(e)), lambda i: Arr(window, lambda j: element(xs, i * hop + j)))
        case p.Take(n, x):
            return part(v(x), 0, number(n))
        case p.Drop(n, x):
            return part(v(x), number(n), length(type_of(e)))
        case p.At(i, x):
            return element(v(x), index(number(i)))
        case p.Gather(indices, x):
            at, xs, n = v(indices), v(x), length(type_of(x))
            return Arr(length(type_of(e)), lambda i: element(xs, guards.loaded_index(em, element(at, i), n)))
        case p.Concat(a, b):
            return guards.concatenated(em, v(a), v(b), _element(e))
        case p.Pad() | p.PadUp():
            return _padded(em, e, v)
    raise AssertionError(e)


def _padded(em: Builder, e: p.Pad | p.PadUp, v: Callable[[Expr], View]) -> View:
    xs, n, total = v(e.x), length(type_of(e.x)), length(type_of(e))
    left = number(e.left) if isinstance(e, p.Pad) else 0
    if e.value is not None:
        value, t = v(e.value), _element(e)

        def constant(i: Index) -> View:
            return guards.guard(em, i - left, n, lambda: element(xs, i - left), lambda: value, t)

        return Arr(total, constant)
    mode = e.mode if isinstance(e, p.Pad) else "clamp"
    move = {"clamp": Index.clamp, "mirror": mirrored, "wrap": wrapped}[mode]
    return Arr(total, lambda i: element(xs, move(i - left, n)))


# ---------------------------------------------------------------------------------------- acceptors


def pushed(t: p.Join | p.Split | p.Transpose | p.Stride | p.Take | p.Drop, acc: View) -> View:
    """The acceptor for the argument of a layout pattern whose value goes to `acc`."""
    match t:
        case p.Join(x):
            outer, inner = _matrix(x)
            return split(acc, inner, outer * inner) if inner else Arr(outer, lambda i: Arr(0, lambda j: acc))
        case p.Split(n, x):
            return join(acc, length(type_of(x)) // number(n), number(n))
        case p.Transpose(x):
            outer, inner = _matrix(x)
            return transpose(acc, inner, outer)
        case p.Stride(s, x):
            n = length(type_of(x))
            return stride(acc, n // number(s), n) if n else acc
        case p.Take(n, x):
            return widened(acc, 0, number(n), length(type_of(x)))
        case p.Drop(n, x):
            return widened(acc, number(n), length(type_of(t)), length(type_of(x)))


def inverse(body: Expr, acc: View) -> View:
    """The acceptor for a layout body's argument, given that for its value."""
    match body:
        case p.Arg():
            return acc
        case p.Map(inner, x, None):
            return inverse(x, Arr(length(type_of(x)), lambda i: inverse(inner, element(acc, i))))
        case p.Join() | p.Split() | p.Transpose() | p.Stride() | p.Take() | p.Drop():
            return inverse(body.x, pushed(body, acc))
    raise AssertionError(body)


def column(acc: View, n: int, k: int) -> Arr:
    """The acceptor for array `k` of those whose zip goes to `acc`, of `n` elements."""
    return Arr(n, lambda i: component(element(acc, i), k))


def _matrix(x: Expr) -> tuple[int, int]:
    """Rows and columns of an array of arrays."""
    t = type_of(x)
    assert isinstance(t, Array)
    return number(t.length), length(t.element)


def _element(e: Expr) -> Array | Scalar | Tuple:
    t = type_of(e)
    assert isinstance(t, Array)
    return t.element
