"""Whose an element of a group's array is, read off its flat index.

The terms in the work-item's ids are the work-item's part; the other terms are digits that count through the elements
of one work-item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from egglift.codegen.kernel.index import ZERO, Index, Var

IDS = ("local", "warp")
OWN = ("loop", "lane")


@dataclass(frozen=True)
class Digit:
    """`count` elements of one work-item, `stride` apart in the array and `place` apart in its own memory."""

    stride: int
    count: int
    place: int


@dataclass(frozen=True)
class Layout:
    """Whose an element is: `item` plus strides of digits.  digits: the largest stride first."""

    item: Index
    digits: tuple[Digit, ...]

    @property
    def size(self) -> int:
        """How many elements a work-item has."""
        return prod(d.count for d in self.digits)

    def element(self, values: Sequence[Index]) -> Index:
        """The flat index of the work-item's element whose digits are `values`."""
        return sum((v * d.stride for v, d in zip(values, self.digits, strict=True)), self.item)

    def slot(self, at: Index) -> Index | None:
        """Where a work-item keeps element `at` of the array; None if it is, or may be, another work-item's."""
        own = at - self.item
        if any(v.role in IDS for v in own.variables()):
            return None
        slot = ZERO
        for d in self.digits:
            value, own = own // d.stride, own % d.stride
            low, high = value.range
            if low < 0 or high >= d.count:
                return None
            slot = slot + value * d.place
        return slot if own == ZERO else None


def layout_of(at: Index, size: int, ids: frozenset[Var]) -> Layout | None:
    """The layout in which `at` are the elements of a work-item of a group with these `ids`.

    None if they do not tell: all work-items and digits together must count through the array's `size` elements.
    """
    terms = sorted(at.terms, key=lambda t: t[1])
    shares: list[tuple[int, Digit]] = []
    reach, place = 1, 1
    for a, k in terms:
        roles = {v.role for v in a.variables()}
        low, high = a.range
        if k != reach or low != 0 or not (roles <= set(IDS) or roles <= set(OWN)):
            return None
        reach *= high + 1
        if roles <= set(OWN):
            shares.append((k, Digit(k, high + 1, place)))
            place *= high + 1
    item = Index(tuple((a, k) for a, k in at.terms if a.variables() <= ids))
    if at.constant or reach != size or item.variables() != ids:
        return None
    return Layout(item, tuple(d for _, d in reversed(shares)))
