"""Reductions over rows of what is made of a row and of results for it, all rows read once.

    s[0] = sum_1 A[0,1] x[1]                    for parts of the rows, groups:  for 0, in turn:
    y[0] = sum_1 A[1,0] s[1]         ->           t = sum_1 A[0,1] x[1], by all items;  for 1, items: acc[1] += A[0,1] t
                                                then the parts are added

What a row needs starts within the loop over rows.  Accumulators for its elements are registers of the items, on a CPU
an array in its cache; the row's second reading finds it in a cache.
source: fusion of maps and reductions, [Hagedorn2018] (20) and (25)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from egglift.egraph.schedules.rows import at_rows, with_starts
from egglift.egraph.stages.as_pattern import ordered, reads_of
from egglift.egraph.stages.given import Given, NotGiven
from egglift.egraph.stages.partition import Stages
from egglift.egraph.stages.sharing import can_share, commutes
from egglift.egraph.stages.stage import Dim, Read, Stage, number

GRID = 3  # dimensions that a grid has


@dataclass(frozen=True)
class OneReading:
    """starts: what each row needs, each after those that it reads; last: reduces over `rows` what is made of a row's
    elements, which lie along `columns`, and of these."""

    starts: tuple[Stage, ...]
    last: Stage
    rows: Dim
    columns: Dim

    def __str__(self) -> str:
        name = self.last.name.lstrip("%")
        return f"each of {number(self.rows)} rows is read once, for what it needs and for what it adds to {name}"


def one_readings(whole: Stages) -> Iterator[OneReading]:
    """The stages whose rows can be read once for what they need themselves, and for what they add to the result."""
    for starts, last in with_starts(whole):
        with suppress(NotGiven):
            yield _found(starts, last)


def _found(starts: Sequence[Stage], last: Stage) -> OneReading:
    given = Given({s.name: s for s in starts})
    last = given.within(last)
    at = given.at.get(starts[-1].name, ())
    own: list[Stage] = []
    for s in reversed(starts):  # a stage knows its row when those that read it are known
        if not _reduces_alone(s) or given.at.get(s.name) != at or len(s.phases[0][0].dims) != 1:
            raise NotGiven
        own.insert(0, given.within(at_rows(s, at)))
    rows = [d for d in at if d not in last.dims]
    columns = [d for d in last.dims if d not in at]
    if not _reduces_alone(last) or len(rows) != 1 or len(columns) != 1 or len(at) > GRID:
        raise NotGiven
    found = OneReading(tuple(_along(s, columns[0]) for s in own), last, rows[0], columns[0])
    if any(r.dims != (rows[0],) for r in last.reductions) or not _reads_again(found):
        raise NotGiven
    return found


def _reduces_alone(stage: Stage) -> bool:
    """Are a stage's reductions one loop, whose elements may come in any order?"""
    return len(stage.phases) == 1 and can_share(stage) and commutes(stage)


def _along(stage: Stage, columns: Dim) -> Stage:
    """A stage that reduces over `columns`, of as many indices as its own.  NotGiven if it has more or fewer."""
    (own,) = stage.phases[0][0].dims
    if own.extent != columns.extent:
        raise NotGiven
    return replace(stage, body=stage.names.at(stage.body, {own: columns}))


def _reads_again(x: OneReading) -> bool:
    """Does the last stage read what a start has read, the same row of it?"""
    order = (*(d for d in x.last.dims if d != x.columns), x.rows, x.columns)
    again = {ordered(r, order) for r in _reads(x.last)}
    rows = [r for s in x.starts for r in _reads(s) if x.rows in r.dims and x.columns in r.dims]
    return any(ordered(r, order) in again for r in rows)


def _reads(stage: Stage) -> list[Read]:
    return [r for reduction in stage.reductions for r in reads_of(stage.names, reduction.element)]
