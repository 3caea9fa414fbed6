"""Elements at affine subscripts as views: arrays whose axes are the loops that the subscripts depend on.

A[i][k]                    ->  A                               at i, k
B[k][j]                    ->  transpose B                     at j, k
A[i + k]                   ->  slide of windows of all k       at i, k
A[i - 1], A[i], A[i + 1]   ->  slide 3 1 A                     at i, and a window of three
A[5][n - 1 - i]            ->  row 5 of A, backwards           at i
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from egglift.frontend.nest import Affine, Loop
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, element_type, length_of, permuted
from egglift.ir.patterns import Expr
from egglift.ir.value import Value


@dataclass(frozen=True)
class Operand:
    """A value whose outer axes are loops, in this order; what is below belongs to the reader."""

    value: Value
    axes: tuple[Loop, ...]


def view(array: Value, forms: Sequence[Affine], windows: Sequence[int], order: Sequence[Loop]) -> Operand | None:
    """`array` at these subscripts, its axes as in `order`; None where a loop stands in two subscripts.

    windows: how many elements from each subscript on are wanted: an axis for each that is more than one follows the
    loops.
    """
    loops = [d for form in forms for d in form.loops]
    if len(set(loops)) < len(loops):
        return None
    e, now = array.expr, list[Any]()
    if _depth_of_fill(e) >= len(forms):
        for _ in forms:
            assert isinstance(e, p.Fill)
            e = e.x
        return Operand(Value(e), ()) if max(windows, default=1) == 1 else None
    for k in range(len(forms) - 1, -1, -1):
        form, width = forms[k], windows[k]
        e = unchanged(at_depth(k, e, lambda x, form=form, width=width: _axis(x, form, width)))  # type: ignore[misc]
        own: list[Any] = sorted(form.loops, key=lambda d: -abs(dict(form.terms)[d]))
        now = own + ([f"window {k}"] if width > 1 else []) + now
    wanted = [d for d in order if d in loops] + [label for label in now if isinstance(label, str)]
    return Operand(Value(permuted(e, now, wanted)), tuple(d for d in wanted if not isinstance(d, str)))


def _depth_of_fill(e: Expr) -> int:
    return 1 + _depth_of_fill(e.x) if isinstance(e, p.Fill) else 0


def _axis(x: Expr, form: Affine, width: int) -> Expr:
    """The outer axis of `x` as one for each loop of a subscript, those with the largest coefficients outermost."""
    terms = sorted(form.terms, key=lambda term: -abs(term[1]))
    first, last = form.range
    if not terms and width == 1:
        return p.At(form.constant, x)
    levels = [(abs(c), d.extent) for d, c in terms] + ([(1, width)] if width > 1 else [])
    found = _levels(part(x, first, last + width), levels)
    for k, (_, c) in enumerate(terms):
        if c < 0:
            found = at_depth(k, found, backwards)
    return found


def part(x: Expr, start: int, stop: int) -> Expr:
    """`x[start:stop]`; what is beyond its ends, which only iterations that do not count read, repeats them."""
    n = length_of(x)
    assert isinstance(n, int)
    left, right = max(0, -start), max(0, stop - n)
    if left or right:
        x, start, stop = p.Pad(left, right, "clamp", x), start + left, stop + left
        n += left + right
    return dropped(start, taken(stop, x))


def taken(n: int, x: Expr) -> Expr:
    """The first n elements: of a concatenation, those of its parts."""
    if n == length_of(x):
        return x
    if isinstance(x, p.Concat):
        first = length_of(x.a)
        assert isinstance(first, int)
        return taken(n, x.a) if n <= first else p.Concat(x.a, taken(n - first, x.b))
    return p.Take(n, x)


def dropped(n: int, x: Expr) -> Expr:
    """All but the first n elements: of a concatenation, those of its parts."""
    if n == 0:
        return x
    if isinstance(x, p.Concat):
        first = length_of(x.a)
        assert isinstance(first, int)
        return dropped(n - first, x.b) if n >= first else p.Concat(dropped(n, x.a), x.b)
    return p.Drop(n, x)


def backwards(x: Expr) -> Expr:
    """The elements from the last to the first."""
    return Value(x)[::-1].expr


def _levels(x: Expr, levels: Sequence[tuple[int, int]]) -> Expr:
    """Axes for (coefficient, count)s that fill the array from its first to its last element."""
    if not levels:
        return p.At(0, x)
    (c, count), rest = levels[0], levels[1:]
    if not rest and c == 1:
        return x
    length = 1 + sum(k * (n - 1) for k, n in rest)
    windows: Expr = p.Split(c, x) if length == c and length_of(x) == c * count else p.Slide(length, c, x)
    return unchanged(p.Map(_levels(p.Arg(element_type(windows)), rest), windows))


# ---------------------------------------------------------------------------------------- loops over operands

Leaf = Callable[[Sequence[Operand]], Value]


def over(loops: Sequence[Loop], operands: Sequence[Operand], leaf: Leaf) -> Value:
    """Nested maps, one for each loop, over the operands that have an axis of it."""
    if not loops:
        return leaf(operands)
    loop, rest = loops[0], loops[1:]
    mine = [k for k, o in enumerate(operands) if o.axes[:1] == (loop,)]
    if not mine:
        inner = over(rest, operands, leaf)
        return Value(p.Fill(loop.extent, inner.expr))

    def body(*elements: Value) -> Value:
        now = list(operands)
        for k, element in zip(mine, elements, strict=True):
            now[k] = Operand(element, operands[k].axes[1:])
        return over(rest, now, leaf)

    first, *others = [operands[k].value for k in mine]
    return Value(unchanged(first.map(body, *others).expr))


def unchanged(e: Expr) -> Expr:
    """`e` without maps that change nothing.

    map (map id) x -> x
    """
    return e.x if isinstance(e, p.Map) and isinstance(unchanged(e.body), p.Arg) else e
