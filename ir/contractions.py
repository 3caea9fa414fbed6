"""Sums of products over named axes: einsum, and what it makes up."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import reduce
from typing import Any

import numpy as np

from egglift.ir import promotion
from egglift.ir.axes import scalar_of_elements
from egglift.ir.errors import ShapeError
from egglift.ir.keywords import explain
from egglift.ir.lengths import about
from egglift.ir.matrix_parts import diagonal
from egglift.ir.rearranging import moveaxis
from egglift.ir.reduction import add
from egglift.ir.signs import conj
from egglift.ir.sizes import evaluate
from egglift.ir.subscripts import LETTERS, parsed, written
from egglift.ir.value import Like, Value, as_value

#: arrays up to which all orders of combining them are looked at
OPTIMAL = 6


def einsum(subscripts: str | Like, *operands: Like) -> Value:
    """NumPy's einsum: products of elements, summed over the letters that the result does not name.

    einsum("ij,jk->ik", A, B) is `A @ B`, einsum("ii", A) the trace, einsum("...i,...i->...", A, B) dot products of all
    rows; einsum(A, [0, 1], B, [1, 2], [0, 2]) numbers the axes instead.  Without an arrow the result has the axes of
    `...`, then the letters that occur once, in alphabetical order.  f16 and bf16 are added in f32.  Three arrays or
    more are combined two by two, as by NumPy with `optimize=True`.  ShapeError where axes of one letter differ in
    length; those of length 1 are repeated.
    """
    if not isinstance(subscripts, str):
        subscripts, arrays = written((subscripts, *operands))
    else:
        arrays = operands
    values = [as_value(x) for x in arrays]
    given, wanted = parsed(subscripts, [len(v.shape) for v in values])
    pairs = [_without_repeats(v, letters, subscripts) for v, letters in zip(values, given, strict=True)]
    pairs = _without_ones(subscripts, pairs)
    types = [scalar_of_elements(v.expr) for v, _ in pairs]
    t = reduce(promotion.promote, types)
    pairs = [(v.cast(t.computed) if t.is_narrow else v, letters) for v, letters in pairs]
    for step in _path(pairs, wanted):
        chosen, pairs = [pairs[i] for i in step], [pair for i, pair in enumerate(pairs) if i not in step]
        needed = {*wanted, *(c for _, letters in pairs for c in letters)}
        kept = "".join(dict.fromkeys(c for _, letters in chosen for c in letters if c in needed)) if pairs else wanted
        pairs.append((_sum_of_products(chosen, kept), kept))
    ((found, _),) = pairs
    return found.cast(t) if t.is_narrow else found


def _path(pairs: Sequence[tuple[Value, str]], wanted: str) -> list[tuple[int, ...]]:
    """Which arrays to combine, step by step; the result of each is put behind those that are left."""
    if len(pairs) < 3:
        return [tuple(range(len(pairs)))]
    shapes = [np.broadcast_to(np.float32(0), tuple(int(about(evaluate(n))) for n in v.shape)) for v, _ in pairs]
    subscripts = f"{','.join(letters for _, letters in pairs)}->{wanted}"
    how = "optimal" if len(pairs) <= OPTIMAL else "greedy"
    return [tuple(step) for step in np.einsum_path(subscripts, *shapes, optimize=how)[0][1:]]


def _sum_of_products(pairs: Sequence[tuple[Value, str]], wanted: str) -> Value:
    """Products of all elements, summed over the letters that are not wanted."""
    summed = sorted({c for _, letters in pairs for c in letters} - set(wanted))
    order = [*wanted, *summed]
    placed = [(_ordered(v, letters, order), sorted(letters, key=order.index)) for v, letters in pairs]
    return _nested(order, len(wanted), placed)


def _without_repeats(v: Value, letters: str, subscripts: str) -> tuple[Value, str]:
    """Of axes with one letter, the diagonal."""
    for c in letters:
        while letters.count(c) > 1:
            first, second = letters.index(c), letters.index(c, letters.index(c) + 1)
            if v.shape[first] != v.shape[second]:
                lengths = f"{v.shape[first]} and {v.shape[second]}"
                raise ShapeError(f"einsum({subscripts!r}): axes {c!r} have lengths {lengths}")
            v = moveaxis(diagonal(v, 0, first, second), -1, first)
            letters = letters[:second] + letters[second + 1 :]
    return v, letters


def _without_ones(subscripts: str, pairs: Sequence[tuple[Value, str]]) -> list[tuple[Value, str]]:
    """Without axes of length 1 that are longer in another array: what has them is captured, and so repeated."""
    lengths: dict[str, Any] = {}
    for v, letters in pairs:
        for c, n in zip(letters, v.shape, strict=True):
            if (other := lengths.setdefault(c, n)) == 1:
                lengths[c] = n
            elif n not in (1, other):
                raise ShapeError(f"einsum({subscripts!r}): axes {c!r} have lengths {other} and {n}")
    return [_dropped(v, letters, {c for c in letters if lengths[c] != 1}) for v, letters in pairs]


def _dropped(v: Value, letters: str, longer: Set[str]) -> tuple[Value, str]:
    """The only element along each axis of length 1 that is longer elsewhere."""
    for c in letters:
        if c in longer and v.shape[letters.index(c)] == 1:
            v = v[(*[slice(None)] * letters.index(c), 0)]
            letters = letters.replace(c, "")
    return v, letters


def _ordered(v: Value, letters: str, order: Sequence[str]) -> Value:
    now = sorted(letters, key=order.index)
    return moveaxis(v, [letters.index(c) for c in now], list(range(len(now))))


def _nested(order: Sequence[str], outer: int, operands: Sequence[tuple[Value, Sequence[str]]]) -> Value:
    """A map for each letter of the result, a sum for each other; operands without the letter are captured."""
    if not order:
        return reduce(lambda a, b: a * b, (v for v, _ in operands))
    letter = order[0]
    having = [i for i, (_, letters) in enumerate(operands) if letters and letters[0] == letter]

    def body(*elements: Value) -> Value:
        inside = list(operands)
        for i, e in zip(having, elements, strict=True):
            inside[i] = e, operands[i][1][1:]
        return _nested(order[1:], max(outer - 1, 0), inside)

    first, *rest = (operands[i][0] for i in having)
    mapped = first.map(body, *rest)
    return mapped if outer else mapped.reduce(add)


def tensordot(a: Like, b: Like, axes: int | Sequence[int | Sequence[int]] = 2) -> Value:
    """NumPy's tensordot: products summed over pairs of axes, or over the last `axes` of a and the first of b."""
    x, y = as_value(a), as_value(b)
    if isinstance(axes, int):
        left, right = list(range(len(x.shape) - axes, len(x.shape))), list(range(axes))
    else:
        left, right = ([s] if isinstance(s, int) else list(s) for s in axes)
    left, right = [i % len(x.shape) for i in left], [i % len(y.shape) for i in right]
    if len(left) != len(right):
        raise ShapeError(f"tensordot: {len(left)} axes of the one array, and {len(right)} of the other")
    names = list(LETTERS[: len(x.shape)])
    others = list(LETTERS[len(x.shape) : len(x.shape) + len(y.shape)])
    for i, j in zip(left, right, strict=True):
        others[j] = names[i]
    kept = [c for i, c in enumerate(names) if i not in left] + [c for j, c in enumerate(others) if j not in right]
    return einsum(f"{''.join(names)},{''.join(others)}->{''.join(kept)}", x, y)


def vecdot(a: Like, b: Like, axis: int = -1) -> Value:
    """The sums of products along an axis, of arrays of one shape; of complex ones, a's elements are conjugated."""
    return (conj(a) * as_value(b)).sum(axis)


explain(globals())
