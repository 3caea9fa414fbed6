"""Layout patterns: what they read is a view of their parts', what they write goes where the inverse view says.

A new layout pattern has a case in `view` and, if it is one that `rearranged` knows (ir/backwards.py), one in `pushed`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from egglift.codegen.emission import guards
from egglift.codegen.emission.builder import Builder
from egglift.codegen.kernel.index import Index, choose, index
from egglift.codegen.kernel.views import (
    Arr,
    View,
    element,
    join,
    length,
    mirrored,
    number,
    part,
    reflected,
    split,
    stride,
    transpose,
    widened,
    wrapped,
)
from egglift.ir import patterns as p
from egglift.ir.backwards import is_backwards, rearranged
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Array, Scalar, Tuple, Type

#: where an index beyond the edges is taken from, by mode
MOVED: dict[str, Callable[[Index, int], Index]] = {
    "clamp": Index.clamp,
    "mirror": mirrored,
    "reflect": reflected,
    "wrap": wrapped,
}


def view(em: Builder, e: Expr, v: Callable[[Expr], View]) -> View:
    """The view of layout pattern `e`, given those of its parts: nothing is computed and nothing copied."""
    match e:
        case p.Split(n, x):
            return split(v(x), number(n), length(type_of(x)))
        case p.Join(x):
            return join(v(x), *_matrix(x))
        case p.Transpose(x):
            return transpose(v(x), *_matrix(x))
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
        case p.Stride(s, x):
            return stride(v(x), number(s), length(type_of(x)))
        case p.Slide(size, step, x):
            xs, window, hop = v(x), number(size), number(step)
            return Arr(length(type_of(e)), lambda i: Arr(window, lambda j: element(xs, i * hop + j)))
        case p.Take(n, x):
            return part(v(x), 0, number(n))
        case p.Drop(n, x):
            return part(v(x), number(n), length(type_of(e)))
        case p.Roll(n, x):
            return _rolled(v(x), length(type_of(x)) - number(n), length(type_of(x)))
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
    return Arr(total, lambda i: element(xs, MOVED[mode](i - left, n)))


def pushed(t: Expr, acc: View) -> View:
    """The acceptor for the argument of a pattern that rearranges, whose value goes to `acc`: the inverse view."""
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
        case p.Roll(n, x):
            return _rolled(acc, number(n), length(type_of(x)))
        case p.Gather(_, x) if is_backwards(t):
            last = length(type_of(x)) - 1
            return Arr(last + 1, lambda i: element(acc, last - i))
    raise AssertionError(t)


def _rolled(v: View, n: int, total: int) -> Arr:
    """`total` elements of a view or acceptor from the n-th on, those before it at the end."""
    n, back = (n, -total) if 2 * n <= total else (n - total, total)  # the shorter way: few elements are beyond the end
    return Arr(total, lambda i: element(v, choose(i + n, total, i + n, i + n + back, total)))


def acceptor(body: Expr, acc: View) -> View:
    """The acceptor for a layout body's argument, given that for its value."""
    match body:
        case p.Arg():
            return acc
        case p.Map(inner, x, None):
            return acceptor(x, Arr(length(type_of(x)), lambda i: acceptor(inner, element(acc, i))))
    below = rearranged(body)
    assert below is not None, body
    return acceptor(below, pushed(body, acc))


def _matrix(x: Expr) -> tuple[int, int]:
    """Rows and columns of an array of arrays."""
    t = type_of(x)
    assert isinstance(t, Array)
    return number(t.length), length(t.element)


def _element(e: Expr) -> Array | Scalar | Tuple:
    t = type_of(e)
    assert isinstance(t, Array)
    return t.element


def laid_out(layouts: Sequence[Expr], targets: Sequence[View], t: Type) -> View:
    """The acceptor for an array of tuples whose components are laid out so, each into a target of its own."""
    return _joined([acceptor(layout, v) for layout, v in zip(layouts, targets, strict=True)], t)


def _joined(views: Sequence[View], t: Type) -> View:
    if isinstance(t, Array):
        return Arr(length(t), lambda i: _joined([element(v, i) for v in views], t.element))
    return tuple(views)
