"""Prices of views: for every scalar of a value, what one access to it costs and how it lies in memory.

A value is a Leaf (a scalar), a Row (an array, all elements alike) or a Both (a pair).  A leaf counts the rows
around it from the inside: row 0 is the innermost array that it is an element of.  Values are keys of the
extraction's table and made by the ten thousand, so they are named tuples, which hash and compare fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, reduce
from operator import and_
from typing import NamedTuple, TypeAlias

from egglift.ir.sizes import Size
from egglift.ir.types import Array, Scalar, Tuple, Type

SMALL = 16  # elements; chunks up to this long still lie near each other
EVERY = 0xFF  # all rows that a value can have


class Leaf(NamedTuple):
    """A scalar: the price of an access, and along which rows its neighbours are near.

    unit: the row along which memory is consecutive (-1: none); near: the row along which it goes in short
    chunks of consecutive elements (-1: none); fixed: the rows along which it does not change, a bit for each.
    """

    price: float
    unit: int = -1
    near: int = -1
    fixed: int = 0

    def priced(self, price: float) -> Leaf:
        """The same place at another price."""
        return Leaf(price, self.unit, self.near, self.fixed)

    def renamed(self, new: Callable[[int], int]) -> Leaf:
        """The leaf with its rows renumbered; a row that becomes -1 is no longer near."""
        unit = new(self.unit) if self.unit >= 0 else -1
        near = new(self.near) if self.near >= 0 else -1
        rows = (new(r) for r in range(self.fixed.bit_length()) if self.fixed >> r & 1)
        return Leaf(self.price, unit, near, sum({1 << r for r in rows if r >= 0}))


class Row(NamedTuple):
    """An array of `n` elements."""

    n: int
    each: ViewPrice


class Both(NamedTuple):
    """A pair."""

    a: ViewPrice
    b: ViewPrice


ViewPrice: TypeAlias = Leaf | Row | Both


def leaves(v: ViewPrice, change: Callable[[Leaf, int], Leaf], rows: int = 0) -> ViewPrice:
    """`v` with every leaf changed; `change` is given the number of rows of `v` around it."""
    if isinstance(v, Leaf):
        return change(v, rows)
    if isinstance(v, Row):
        return Row(v.n, leaves(v.each, change, rows + 1))
    return Both(leaves(v.a, change, rows), leaves(v.b, change, rows))


def fill(type: Type, price: float, number: Callable[[Size], int], rows: int = 0) -> ViewPrice:
    """A value of `type` in memory: every scalar at `price`, the innermost rows consecutive."""
    match type:
        case Scalar():
            return Leaf(price, 0 if rows else -1)
        case Array(n, element):
            return Row(number(n), fill(element, price, number, rows + 1))
        case Tuple((a, b)):
            return Both(fill(a, price, number, rows), fill(b, price, number, rows))
        case Tuple(items):
            return fill(Tuple((items[0], Tuple(items[1:]))), price, number, rows)


def closed(v: ViewPrice) -> ViewPrice:
    """`v` where it does not depend on what is around: it is the same along all further rows."""
    return leaves(v, lambda leaf, rows: Leaf(leaf.price, leaf.unit, leaf.near, leaf.fixed | EVERY & EVERY << rows))


def priced(v: ViewPrice, each: float) -> ViewPrice:
    """`v` held in one memory: every scalar at price `each`, rows in order."""
    each = rounded(each)
    return leaves(v, lambda leaf, rows: Leaf(each, 0 if rows else -1))


def dearer(v: ViewPrice, more: float) -> ViewPrice:
    """`v` with `more` to compute at each access: its neighbours are computed one by one."""
    return leaves(v, lambda leaf, rows: Leaf(rounded(leaf.price + more), fixed=leaf.fixed)) if more else v


def part(v: ViewPrice, path: str) -> ViewPrice:
    """The component of nested pairs: `part(v, "ba")` is the first of the second of `v`."""
    for step in path:
        assert isinstance(v, Both)
        v = v.a if step == "a" else v.b
    return v


def size(v: ViewPrice) -> int:
    """Scalars in `v`."""
    if isinstance(v, Leaf):
        return 1
    return v.n * size(v.each) if isinstance(v, Row) else size(v.a) + size(v.b)


def price(v: ViewPrice) -> float:
    """The price of one element of every array in `v`, summed over pairs."""
    if isinstance(v, Leaf):
        return v.price
    return price(v.each) if isinstance(v, Row) else price(v.a) + price(v.b)


def worst(v: ViewPrice) -> float:
    """The dearest scalar."""
    if isinstance(v, Leaf):
        return v.price
    return worst(v.each) if isinstance(v, Row) else max(worst(v.a), worst(v.b))


def width(v: ViewPrice) -> int:
    """Scalars of one element, arrays counted once."""
    if isinstance(v, Leaf):
        return 1
    return width(v.each) if isinstance(v, Row) else width(v.a) + width(v.b)


def prices(v: ViewPrice) -> Iterator[float]:
    """The price of every scalar, arrays counted once."""
    if isinstance(v, Leaf):
        yield v.price
    elif isinstance(v, Row):
        yield from prices(v.each)
    else:
        yield from prices(v.a)
        yield from prices(v.b)


def consecutive(v: ViewPrice) -> bool:
    """Are all scalars of `v` those of rows that lie in memory one after the other?"""
    if isinstance(v, Leaf):
        return v.unit == 0
    return consecutive(v.each) if isinstance(v, Row) else consecutive(v.a) and consecutive(v.b)


def ordered(v: ViewPrice) -> int:
    """How much is known about where the scalars of `v` lie."""
    if isinstance(v, Leaf):
        return (v.unit >= 0) + (v.near >= 0) + v.fixed.bit_count()
    return ordered(v.each) if isinstance(v, Row) else ordered(v.a) + ordered(v.b)


@lru_cache(1 << 12)
def rounded(price: float) -> float:
    """Two digits: prices that differ by less are one state."""
    return float(f"{price:.2g}")


def argument(v: ViewPrice) -> ViewPrice:
    """What the body of a loop is given: nothing about the rows that it is inside of.

    Many values become one here, and so do the states of all that is in the body.
    """

    def change(leaf: Leaf, rows: int) -> Leaf:
        unit, near = leaf.unit if leaf.unit < rows else -1, leaf.near if leaf.near < rows else -1
        return Leaf(leaf.price, unit, near, leaf.fixed & (1 << rows) - 1)

    return leaves(v, change)


# ---------------------------------------------------------------------------------------- layout


def split(v: ViewPrice, k: int, apart: int | None = None) -> ViewPrice:
    """`[n] -> [n/k][k]`.  apart: from the start of a chunk to that of the next, where that is not k."""
    assert isinstance(v, Row)

    def change(leaf: Leaf, row: int) -> Leaf:
        new = leaf.renamed(lambda r: r + 1 if r > row else r)
        fixed = new.fixed | (leaf.fixed >> row & 1) << row + 1
        return Leaf(new.price, new.unit, row + 1 if leaf.unit == row and (apart or k) <= SMALL else new.near, fixed)

    return Row(v.n // max(1, k), Row(k, leaves(v.each, change)))


def join(v: ViewPrice) -> ViewPrice:
    """`[n][m] -> [n m]`."""
    assert isinstance(v, Row) and isinstance(v.each, Row)

    def change(leaf: Leaf, row: int) -> Leaf:
        new = leaf.renamed(lambda r: r if r <= row else r - 1 if r > row + 1 else -1)
        both = leaf.fixed >> row & leaf.fixed >> row + 1 & 1
        return Leaf(new.price, new.unit, new.near, new.fixed & ~(1 << row) | both << row)

    return Row(v.n * v.each.n, leaves(v.each.each, change))


def transpose(v: ViewPrice) -> ViewPrice:
    """`[n][m] -> [m][n]`."""
    assert isinstance(v, Row) and isinstance(v.each, Row)

    def change(leaf: Leaf, row: int) -> Leaf:
        return leaf.renamed(lambda r: row + 1 if r == row else row if r == row + 1 else r)

    return Row(v.each.n, Row(v.n, leaves(v.each.each, change)))


def windows(v: ViewPrice, k: int, step: int) -> ViewPrice:
    """`[n] -> [windows][k]`."""
    chunks = split(v, k, step)
    assert isinstance(v, Row) and isinstance(chunks, Row)
    return Row(max(0, v.n - k) // max(1, step) + 1, chunks.each)


def spread(v: ViewPrice) -> ViewPrice:
    """`v` as the element of a new row along which it does not change."""

    def change(leaf: Leaf, row: int) -> Leaf:
        new = leaf.renamed(lambda r: r + 1 if r >= row else r)  # rows that it was an element of are further out now
        return Leaf(new.price, new.unit, new.near, new.fixed | 1 << row)

    return leaves(v, change)


def gathered(v: ViewPrice) -> ViewPrice:
    """`v` in an order that is known only at run time."""
    return leaves(v, lambda leaf, rows: Leaf(leaf.price, fixed=leaf.fixed))


def across(
    v: ViewPrice, apart: Callable[[float], float], near: bool, together: Callable[[float], float] = lambda price: price
) -> ViewPrice:
    """The element of `v`, read by neighbours at the same time: prices of what does not lie together, and of what does.

    near: do short chunks count as lying together?
    """
    assert isinstance(v, Row)

    def change(leaf: Leaf, row: int) -> Leaf:
        if leaf.fixed >> row & 1:
            return leaf
        beside = leaf.unit == row or (near and leaf.near == row)
        return leaf.priced(rounded((together if beside else apart)(leaf.price)))

    return leaves(v.each, change)


def combine(values: tuple[ViewPrice, ...], more: float) -> Leaf:
    """A scalar computed from scalars: prices add up; neighbours lie together if those of all operands do."""
    parts = [v for v in values if isinstance(v, Leaf)]
    paid = [v for v in parts if v.price > 0]
    total = rounded(sum(v.price for v in parts) + more)
    if not paid:
        return Leaf(total, fixed=EVERY)
    unit = _shared([v.unit for v in paid], paid)
    near = _shared([v.near for v in paid], paid)
    return Leaf(total, unit, near, reduce(and_, (v.fixed for v in paid)))


def _shared(rows: list[int], paid: list[Leaf]) -> int:
    """The innermost of `rows`, one for each of `paid`, along which the others lie alike or do not change; else -1."""
    for r in sorted(set(rows)):
        if r >= 0 and all(row == r or v.fixed >> r & 1 for row, v in zip(rows, paid, strict=True)):
            return r
    return -1


def mixed(a: ViewPrice, b: ViewPrice, share: float) -> ViewPrice:
    """The elements of one of two arrays: the part `share` of them is priced as in `a`."""
    match a, b:
        case Row(n, x), Row(_, y):
            return Row(n, mixed(x, y, share))
        case Both(x, y), Both(z, w):
            return Both(mixed(x, z, share), mixed(y, w, share))
        case Leaf(), Leaf():
            return a.priced(rounded(a.price * share + b.price * (1 - share)))
    raise AssertionError((a, b))
