"""Sums of products over named axes: einsum, and what it makes up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from egglift.ir import promotion
from egglift.ir.axes import scalar_of_elements
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.lengths import about
from egglift.ir.matrix_parts import diagonal
from egglift.ir.rearranging import moveaxis
from egglift.ir.reduction import add
from egglift.ir.signs import conj
from egglift.ir.sizes import evaluate
from egglift.ir.value import Like, Value, as_value

#: arrays up to which all orders of combining them are looked at
OPTIMAL = 6
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(subscripts: str, *operands: Like) -> Value:
    """NumPy's einsum: products of elements, summed over the letters that the result does not name.

    einsum("ij,jk->ik", A, B) is `A @ B`, einsum("ii", A) the trace.  Without an arrow the result has the letters that
    occur once, in alphabetical order.  f16 and bf16 are added in f32.  Three arrays or more are combined two by two, as
    by NumPy with `optimize=True`.  ShapeError where axes of one letter differ in length; `...` is not taken.
    """
    if not isinstance(subscripts, str):
        raise TypeMismatch(f'einsum takes subscripts first, as in einsum("ij,jk->ik", A, B), and not {subscripts!r}')
    values = [as_value(x) for x in operands]
    given, wanted = _parsed(subscripts, len(values))
    pairs = [_without_repeats(v, letters, subscripts) for v, letters in zip(values, given, strict=True)]
    _require_lengths(subscripts, pairs)
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


def _parsed(subscripts: str, count: int) -> tuple[list[str], str]:
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    given = left.split(",")
    letters = "".join(given)
    if not all(c in LETTERS for c in letters + right) or len(given) != count:
        raise TypeMismatch(
            f"einsum({subscripts!r}) of {count} arrays: give letters for the axes of each array, with commas between "
            "them, and after -> those of the result"
        )
    wanted = right if arrow else "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    if len(set(wanted)) < len(wanted) or not set(wanted) <= set(letters):
        raise TypeMismatch(f"einsum({subscripts!r}): the result's letters must differ, and each be one of an array")
    return given, wanted


def _without_repeats(v: Value, letters: str, subscripts: str) -> tuple[Value, str]:
    """Of axes with one letter, the diagonal."""
    if len(letters) != len(v.shape):
        raise ShapeError(f"einsum({subscripts!r}): {letters!r} names {len(letters)} axes of an array of {len(v.shape)}")
    for c in letters:
        while letters.count(c) > 1:
            first, second = letters.index(c), letters.index(c, letters.index(c) + 1)
            if v.shape[first] != v.shape[second]:
                lengths = f"{v.shape[first]} and {v.shape[second]}"
                raise ShapeError(f"einsum({subscripts!r}): axes {c!r} have lengths {lengths}")
            v = moveaxis(diagonal(moveaxis(v, [first, second], [0, 1])), 0, first)
            letters = letters[:second] + letters[second + 1 :]
    return v, letters


def _require_lengths(subscripts: str, pairs: Sequence[tuple[Value, str]]) -> None:
    lengths: dict[str, object] = {}
    for v, letters in pairs:
        for c, n in zip(letters, v.shape, strict=True):
            if lengths.setdefault(c, n) != n:
                raise ShapeError(f"einsum({subscripts!r}): axes {c!r} have lengths {lengths[c]} and {n}")


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
