"""Prices of views: for every scalar of a value, what one access to it costs and how it lies in memory.

A value is a Leaf (a scalar), a Row (an array, all elements alike) or a Both (a pair).  A leaf counts the rows
around it from the inside: row 0 is the innermost array that it is an element of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from egglift.ir.sizes import Size
from egglift.ir.types import Array, Scalar, Tuple, Type

SMALL = 16  # elements; chunks up to this long still lie near each other


class _Hashed:
    """Values are keys of the table: each computes its hash once."""

    def __hash__(self) -> int:
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            fields = self.__dataclass_fields__  # type: ignore[attr-defined]
            known = self.__dict__["_hash"] = hash((type(self), *(getattr(self, name) for name in fields)))
        return known


@dataclass(frozen=True)
class Leaf(_Hashed):
    """A scalar: the price of an access, and along which rows its neighbours are near.

    unit: the row along which memory is consecutive (-1: none); near: the row along which it goes in short
    chunks of consecutive elements (-1: none); fixed: rows along which it does not change.
    """

    price: float
    unit: int = -1
    near: int = -1
    fixed: frozenset[int] = frozenset()
    __hash__ = _Hashed.__hash__  # a dataclass would make its own

    def renamed(self, new: Callable[[int], int]) -> Leaf:
        """The leaf with its rows renumbered; a row that becomes -1 is no longer near."""
        unit = new(self.unit) if self.unit >= 0 else -1
        near = new(self.near) if self.near >= 0 else -1
        return Leaf(self.price, unit, near, frozenset(new(r) for r in self.fixed) - {-1})


@dataclass(frozen=True)
class Row(_Hashed):
    """An array of `n` elements."""

    n: int
    each: Value
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Both(_Hashed):
    """A pair."""

    a: Value
    b: Value
    __hash__ = _Hashed.__hash__


Value: TypeAlias = Leaf | Row | Both


def leaves(v: Value, change: Callable[[Leaf, int], Leaf], rows: int = 0) -> Value:
    """`v` with every leaf changed; `change` is given the number of rows of `v` around it."""
    match v:
        case Row(n, each):
            return Row(n, leaves(each, change, rows + 1))
        case Both(a, b):
            return Both(leaves(a, change, rows), leaves(b, change, rows))
    return change(v, rows)


def fill(type: Type, price: float, number: Callable[[Size], int], unit: int = -1) -> Value:
    """A value of `type`, every scalar at `price`."""
    match type:
        case Scalar():
            return Leaf(price, unit)
        case Array(n, element):
            return Row(number(n), fill(element, price, number, unit))
        case Tuple((a, b)):
            return Both(fill(a, price, number, unit), fill(b, price, number, unit))
        case Tuple(items):
            return fill(Tuple((items[0], Tuple(items[1:]))), price, number, unit)


def priced(v: Value, each: float) -> Value:
    """`v` held in one memory: every scalar at price `each`, rows in order."""
    return leaves(v, lambda leaf, rows: Leaf(each, 0))


def dearer(v: Value, more: float) -> Value:
    """`v` with `more` to compute at each access: its neighbours are computed one by one."""
    return leaves(v, lambda leaf, rows: Leaf(rounded(leaf.price + more), fixed=leaf.fixed)) if more else v


def size(v: Value) -> int:
    """Scalars in `v`."""
    match v:
        case Row(n, each):
            return n * size(each)
        case Both(a, b):
            return size(a) + size(b)
    return 1


def price(v: Value) -> float:
    """The price of one element of every array in `v`, summed over pairs."""
    match v:
        case Row(_, each):
            return price(each)
        case Both(a, b):
            return price(a) + price(b)
    return v.price


def worst(v: Value) -> float:
    """The dearest scalar."""
    match v:
        case Row(_, each):
            return worst(each)
        case Both(a, b):
            return max(worst(a), worst(b))
    return v.price


def width(v: Value) -> int:
    """Scalars of one element, arrays counted once."""
    match v:
        case Row(_, each):
            return width(each)
        case Both(a, b):
            return width(a) + width(b)
    return 1


def rounded(price: float) -> float:
    """Two digits: prices that differ by less are one state."""
    return float(f"{price:.2g}")


# ---------------------------------------------------------------------------------------- layout


def split(v: Value, k: int) -> Value:
    """`[n] -> [n/k][k]`."""
    assert isinstance(v, Row)

    def change(leaf: Leaf, row: int) -> Leaf:
        new = leaf.renamed(lambda r: r + 1 if r > row else r)
        fixed = new.fixed | {row + 1} if row in leaf.fixed else new.fixed
        near = row + 1 if leaf.unit == row and k <= SMALL else new.near
        return replace(new, near=near, fixed=fixed)

    return Row(v.n // max(1, k), Row(k, leaves(v.each, change)))


def join(v: Value) -> Value:
    """`[n][m] -> [n m]`."""
    assert isinstance(v, Row) and isinstance(v.each, Row)

    def change(leaf: Leaf, row: int) -> Leaf:
        new = leaf.renamed(lambda r: r if r <= row else r - 1 if r > row + 1 else -1)
        fixed = new.fixed if {row, row + 1} <= leaf.fixed else new.fixed - {row}
        return replace(new, fixed=fixed)

    return Row(v.n * v.each.n, leaves(v.each.each, change))


def transpose(v: Value) -> Value:
    """`[n][m] -> [m][n]`."""
    assert isinstance(v, Row) and isinstance(v.each, Row)

    def change(leaf: Leaf, row: int) -> Leaf:
        return leaf.renamed(lambda r: row + 1 if r == row else row if r == row + 1 else r)

    return Row(v.each.n, Row(v.n, leaves(v.each.each, change)))


def spread(v: Value) -> Value:
    """`v` as the element of a row along which it does not change."""
    return leaves(v, lambda leaf, rows: replace(leaf, fixed=leaf.fixed | {rows}))


def gathered(v: Value) -> Value:
    """`v` in an order that is known only at run time."""
    return leaves(v, lambda leaf, rows: replace(leaf, unit=-1, near=-1))


def across(v: Value, apart: Callable[[float], float], near: bool) -> Value:
    """The element of `v`, read by neighbours at the same time; `apart` prices what does not lie together.

    near: do short chunks count as lying together?
    """
    assert isinstance(v, Row)

    def change(leaf: Leaf, row: int) -> Leaf:
        together = leaf.unit == row or (near and leaf.near == row) or row in leaf.fixed
        return leaf if together else replace(leaf, price=rounded(apart(leaf.price)))

    return leaves(v.each, change)


def combine(values: tuple[Value, ...], more: float) -> Leaf:
    """A scalar computed from scalars: prices add up; neighbours lie together if those of all operands do."""
    parts = [v for v in values if isinstance(v, Leaf)]
    paid = [v for v in parts if v.price > 0]
    total = rounded(sum(v.price for v in parts) + more)
    if not paid:
        return Leaf(total, fixed=frozenset(range(8)))
    fixed = reduce(frozenset.intersection, (v.fixed for v in paid))
    moving = [v for v in paid if v.fixed != fixed or v.unit >= 0]
    units, nears = {v.unit for v in moving}, {v.near for v in moving}
    return Leaf(total, units.pop() if len(units) == 1 else -1, nears.pop() if len(nears) == 1 else -1, fixed)


def mixed(a: Value, b: Value, share: float) -> Value:
    """The elements of one of two arrays: the part `share` of them is priced as in `a`."""
    match a, b:
        case Row(n, x), Row(_, y):
            return Row(n, mixed(x, y, share))
        case Both(x, y), Both(z, w):
            return Both(mixed(x, z, share), mixed(y, w, share))
        case Leaf(), Leaf():
            return replace(a, price=rounded(a.price * share + b.price * (1 - share)))
    raise AssertionError((a, b))
