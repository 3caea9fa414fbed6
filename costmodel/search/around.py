"""The space of sizes around an assignment: which tile sizes matter, and the estimates over the two that matter most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
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

    def found(self, limit: float) -> SizeMap:
        influence, seconds = dict[str, float](), dict[tuple[int, int], float]()
        rows, columns, complete = "", self.search.order[0], False
        with suppress(TooLate), until(perf_counter() + limit):
            for name in self.search.order:
                found = [s for k in self.options(name) if (s := self.price({name: k})) is not None]
                influence[name] = max(found) / min(found) if found else 1.0
            columns, *others = sorted(influence, key=lambda name: -influence[name])
            rows = others[0] if others else ""
            for row, column in self._cells(rows, columns):
                if (price := self.price({columns: column} | ({rows: row} if rows else {}))) is not None:
                    seconds[row, column] = price
            complete = True
        chosen = self.sizes[rows] if rows else 0, self.sizes[columns]
        across = self.options(rows) if rows else (0,)
        return SizeMap((rows, columns), across, self.options(columns), seconds, chosen, influence, complete)

    def _cells(self, rows: str, columns: str) -> Iterator[tuple[int, int]]:
        """All, the nearest to what was chosen first: these are priced if time is short."""
        cells = [(r, c) for r in (self.options(rows) if rows else (0,)) for c in self.options(columns)]
        at = self.sizes[rows] if rows else 0, self.sizes[columns]
        return iter(sorted(cells, key=lambda x: _far(x[0], at[0]) + _far(x[1], at[1])))

    def options(self, name: str) -> tuple[int, ...]:
        """The sizes to look at, the chosen one among them, in order."""
        chosen = self.sizes[name]
        known = {chosen, *self.search.options(name, self.sizes)}
        return tuple(sorted(sorted(known, key=lambda k: _far(k, chosen))[:MOST]))

    def price(self, other: Mapping[str, int]) -> float | None:
        """The estimate where some sizes are others; None where these do not fit, or nothing can be compiled."""
        wish = self.sizes | dict(other)
        point = self.search.point(wish, self.launch)
        return point.estimate.seconds if isinstance(point, Point) and dict(point.sizes) == wish else None


def _far(a: int, b: int) -> float:
    return abs(log2(a + 1) - log2(b + 1))
