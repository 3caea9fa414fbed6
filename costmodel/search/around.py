"""The space of sizes around an assignment: which tile sizes matter, and the estimates over the two that matter most."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import log2
from time import perf_counter

from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.search.sizes import Point, Search
from egglift.ir.deadline import TooLate, until

MOST = 8  # sizes of an axis, those nearest to what was chosen
SECONDS = 10.0  # for all prices


@dataclass(frozen=True)
class SizeMap:
    """Estimates over two tile sizes, all others as chosen: `seconds[row, column]`, none where an assignment does not
    fit or cannot be compiled.

    names: of rows and columns; where only one size matters or is there, rows are "" and 0.  chosen: the row and column
    of the assignment.  influence: of each tile size, how many times as long its worst option takes as its best one.
    complete: was all priced in time?
    """

    names: tuple[str, str]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    seconds: Mapping[tuple[int, int], float]
    chosen: tuple[int, int]
    influence: Mapping[str, float]
    complete: bool


def around(search: Search, sizes: Mapping[str, int], launch: Launch, limit: float = SECONDS) -> SizeMap | None:
    """The space around an assignment of a structure's tile sizes; None where it has none."""
    if not search.order:
        return None
    return _Around(search, {name: sizes[name] for name in search.order}, launch).found(limit)


@dataclass(frozen=True)
class _Around:
    search: Search
    sizes: dict[str, int]
    launch: Launch
    #: prices by the sizes that are others than those chosen
    known: dict[frozenset[tuple[str, int]], float] = field(default_factory=dict)

    def found(self, limit: float) -> SizeMap:
        complete = False
        with suppress(TooLate), until(perf_counter() + limit):
            for name in self.search.order:
                for k in self.options(name):
                    self.price({name: k})
            for cell in self._cells(*self._names()):
                self.price(cell)
            complete = True
        rows, columns = names = self._names()
        across, along = self.options(rows) if rows else (0,), self.options(columns)
        prices = {(r, c): self.known.get(self._key({rows: r, columns: c})) for r in across for c in along}
        seconds = {cell: price for cell, price in prices.items() if price is not None}
        chosen = self.sizes.get(rows, 0), self.sizes[columns]
        influence = {name: self._influence(name) for name in self.search.order}
        return SizeMap(names, across, along, seconds, chosen, influence, complete)

    def _names(self) -> tuple[str, str]:
        """The second most influential size, "" where there is one only, and the most influential one."""
        first, *others = sorted(self.search.order, key=lambda name: -self._influence(name))
        return others[0] if others else "", first

    def _influence(self, name: str) -> float:
        found = [s for k in self.options(name) if (s := self.known.get(self._key({name: k}))) is not None]
        return max(found) / min(found) if found else 1.0

    def _cells(self, rows: str, columns: str) -> list[dict[str, int]]:
        """All, the nearest to what was chosen first: these are priced if time is short."""
        across = self.options(rows) if rows else (0,)
        cells = [{rows: r, columns: c} if rows else {columns: c} for r in across for c in self.options(columns)]
        return sorted(cells, key=lambda cell: sum(_far(k, self.sizes[name]) for name, k in cell.items()))

    def _key(self, other: Mapping[str, int]) -> frozenset[tuple[str, int]]:
        return frozenset((name, k) for name, k in other.items() if name and k != self.sizes[name])

    def options(self, name: str) -> tuple[int, ...]:
        """The sizes to look at, the chosen one among them, in order."""
        chosen = self.sizes[name]
        known = {chosen, *self.search.options(name, self.sizes)}
        return tuple(sorted(sorted(known, key=lambda k: _far(k, chosen))[:MOST]))

    def price(self, other: Mapping[str, int]) -> None:
        """Makes the estimate known where some sizes are others, if these fit and can be compiled."""
        wish = self.sizes | dict(other)
        point = self.search.point(wish, self.launch)
        if isinstance(point, Point) and dict(point.sizes) == wish:
            self.known[self._key(other)] = point.estimate.seconds


def _far(a: int, b: int) -> float:
    return abs(log2(a + 1) - log2(b + 1))
