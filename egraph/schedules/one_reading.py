"""Reductions over rows of what is made of a row and of results for it, all rows read once.

    s[0] = sum_1 A[0,1] x[1]                    for parts of the rows, groups:  for 0, in turn:
    y[0] = sum_1 A[1,0] s[1]         ->           t = sum_1 A[0,1] x[1], by all items;  for 1, items: acc[1] += A[0,1] t
                                                then the parts are added

What a row needs starts within the loop over rows; where it is wanted elsewhere too, a group writes what it has found.
Accumulators for its elements are registers of the items, on a CPU an array in its cache; the row's second reading finds
it in registers or in a cache.
source: fusion of maps and reductions, [Hagedorn2018] (20) and (25)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from egglift.egraph.schedules.row_passes import in_passes
from egglift.egraph.schedules.row_sharing import once_a_row, once_an_element
from egglift.egraph.schedules.row_teams import RowStages
from egglift.egraph.schedules.rows import at_rows
from egglift.egraph.stages.as_pattern import as_pattern, ordered, reads_of
from egglift.egraph.stages.given import Given, NotGiven
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.partition import Stages
from egglift.egraph.stages.sharing import can_share, commutes, sums_of
from egglift.egraph.stages.stage import Dim, Read, Reduction, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.traverse import subterms

GRID = 3  # dimensions that a grid has


@dataclass(frozen=True)
class OneReading(RowStages):
    """The last stage reduces over `rows` what is made of a row's elements.  wanted: names of starts that are read
    elsewhere too."""

    wanted: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = self.last.name.lstrip("%")
        return f"each of {number(self.rows)} rows is read once, for what it needs and for what it adds to {name}"


def one_readings(whole: Stages) -> Iterator[OneReading]:
    """The stages whose rows can be read once for what they need themselves, and for what they add to the result."""
    for last in whole.stages:
        if len(whole.stages) > 1 and not last.is_apart and _reduces_alone(last):
            with suppress(NotGiven):
                yield _found(last, whole)


def _found(last: Stage, whole: Stages) -> OneReading:
    """NotGiven if nothing that rows need starts with them, or if something else that they need is made of that."""
    (rows, *others), sums = last.phases[0][0].dims, sums_of(last)
    needed = _needed(sums, whole.stages)
    starts: dict[str, Stage] = {}
    at: tuple[Dim, ...] = ()
    for s in reversed([s for s in whole.stages if s.name in needed]):
        row = _read_at(s, [sums, *starts.values()])  # a stage knows its row when those that read it are known
        if rows in row and row == (at or row) and _is_along(s, [d for d in last.dims if d not in row]):
            at, starts = row, {s.name: at_rows(s, row), **starts}
    if not starts:
        starts = _beside(last, needed, whole)
        at = (rows,) if starts else ()
    columns = [d for d in last.dims if d not in at]
    if not starts or others or len(columns) != 1 or len(at) > GRID or len(at) != len(last.dims):
        raise NotGiven
    if any(_needed(s, whole.stages) & starts.keys() for s in whole.stages if s.name in needed - starts.keys()):
        raise NotGiven
    given = Given({s.name: s for s in whole.stages if s.name in starts}, dict.fromkeys(starts, at))
    own = [x for s in starts.values() for x in in_passes(along(given.within(s), columns[0]))]
    sums = given.within(sums)
    if not reads_again(own, sums, (*at, columns[0])):
        raise NotGiven
    stages = once_an_element([*own, sums], (*at, columns[0]))
    *own, sums = (x for s in stages for x in once_a_row(s, at))
    last = _with_sums(last, sums)
    return OneReading(tuple(own), last, rows, columns[0], _wanted(last, tuple(starts), whole))


def _beside(last: Stage, needed: Collection[str], whole: Stages) -> dict[str, Stage]:
    """Of a matrix whose rows are added up: what else is made of each row, though the sum does not need it.

    s[0] = sum_1 A[0,1];  y[0] = sum_1 A[1,0]    ->    s, with the rows of y
    """
    rows, others = last.phases[0][0].dims[0], [s for s in whole.stages if s.name not in needed and s.name != last.name]
    plain = (plain_read(r) for r in _reads(last))
    if not any(r.dims[-1:] == last.dims and rows in r.dims for r in plain):  # a row's elements lie apart
        return {}
    found = [s for s in others if _is_along(s, last.dims) and [d.extent for d in s.dims] == [rows.extent]]
    return {s.name: at_rows(s, (rows,)) for s in found if last.name not in _needed(s, whole.stages)}


def _needed(stage: Stage, stages: Sequence[Stage]) -> set[str]:
    """The names of the stages that a stage reads, and of those that these read; numbers that these yield too."""
    found, todo = set[str](), [stage]
    while todo:
        new = _names_in(todo.pop(), stages) - found
        found |= new
        todo += [s for s in stages if s.name in new]
    return found


def _names_in(stage: Stage, stages: Sequence[Stage]) -> set[str]:
    """The names of the stages that a stage reads itself."""
    names = {t.name for t in subterms(as_pattern(stage)) if isinstance(t, p.Input)}
    return names.intersection(s.name for s in stages)


def _is_along(stage: Stage, columns: Sequence[Dim]) -> bool:
    """Does a stage reduce over as many elements as a row has?"""
    alone = not stage.is_apart and _reduces_alone(stage)
    return alone and [d.extent for d in stage.phases[0][0].dims] == [d.extent for d in columns]


def _reduces_alone(stage: Stage) -> bool:
    """Are a stage's reductions one loop, whose elements may come in any order?"""
    return len(stage.phases) == 1 and can_share(stage) and commutes(stage)


def _with_sums(stage: Stage, sums: Stage) -> Stage:
    """A stage with the reductions of another instead of its own, in their order."""
    before, after = ([x for x, r in s.names.of(s.body) if isinstance(r, Reduction)] for s in (sums_of(stage), sums))
    return replace(stage, body=substituted(stage.body, dict(zip(before, after, strict=True))), given=sums.given)


def _read_at(s: Stage, readers: Sequence[Stage]) -> tuple[Dim, ...]:
    """Where all readers of a stage read its element; nowhere, where they read more than one, or nobody does."""
    given = Given({s.name: s})
    with suppress(NotGiven):
        for reader in readers:
            given.within(reader)
        return given.at.get(s.name, ())
    return ()


def _wanted(last: Stage, starts: Collection[str], whole: Stages) -> tuple[str, ...]:
    """Those that something else reads: another stage, what follows the reductions, or the program's result."""
    others = [s for s in whole.stages if s.name not in starts and s.name != last.name]
    found = {t.name for t in subterms(whole.result) if isinstance(t, p.Input)}
    found = found.union(*(_names_in(s, whole.stages) for s in others))
    after = [r.view for x, r in last.names.of(last.body) if isinstance(r, Read) and x not in last.given]
    found |= {t.name for view in after for t in subterms(view) if isinstance(t, p.Input)}
    return tuple(name for name in starts if name in found)


def along(stage: Stage, columns: Dim) -> Stage:
    """A stage that reduces over `columns`, of as many indices as its own."""
    return replace(stage, body=stage.names.at(stage.body, {stage.phases[0][0].dims[0]: columns}))


def reads_again(starts: Sequence[Stage], last: Stage, dims: Sequence[Dim]) -> bool:
    """Does the last stage read what a start has read, the same row of it?"""
    again = {ordered(r, dims) for r in _reads(last)}
    return any(ordered(r, dims) in again for s in starts for r in _reads(s) if set(r.dims) == set(dims))


def _reads(stage: Stage) -> list[Read]:
    """What a stage reads for its reductions, or, where it has none, for its elements."""
    elements = [r.element for r in stage.reductions] or [stage.body]
    return [r for e in elements for r in reads_of(stage.names, e)]
