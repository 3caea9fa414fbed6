"""Stages that start within the loops of another: what a row needs is computed by the group that goes on with the row.

    for 0:     s[0] = sum_1 A[0,1]^2            for 0, groups:  s = sum_1 A[0,1]^2, by all items
    for 0, 1:  A[0,1] / sqrt(s[0])       ->                     for 1, items: A[0,1] / sqrt(s)

The row is read again while it is near, and the results between are no array in global memory.
source: fusion of maps, [Hagedorn2018] (20); `compute_at` of Ragan-Kelley et al., Halide, 2013
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from egglift.egraph.schedules.lower import Lowering
from egglift.egraph.schedules.schedule import Loop, Schedule
from egglift.egraph.schedules.steps import Made
from egglift.egraph.schedules.structures import GRID, Structure, Work
from egglift.egraph.schedules.ways import LANES, LANES_AFTER, ROW, ROW_AFTER, Way
from egglift.egraph.stages.as_pattern import reads_of, views_of
from egglift.egraph.stages.given import Given, NotGiven
from egglift.egraph.stages.loops import Tensor, mapped
from egglift.egraph.stages.merging import merged_dims, merged_reductions, restored
from egglift.egraph.stages.partition import Stages
from egglift.egraph.stages.sharing import can_share, commutes
from egglift.egraph.stages.stage import Dim, Stage
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms


@dataclass(frozen=True)
class Row:
    """A stage, and those that start within its loops, each after those that it reads.

    kept: names of those of them that others read, too: these stay stages of their own, and are computed again here.
    """

    starts: tuple[Stage, ...]
    last: Stage
    kept: frozenset[str] = frozenset()

    def left(self, stages: Sequence[Stage]) -> tuple[Stage, ...]:
        """The stages without those that start in this row and nowhere else."""
        gone = {s.name for s in self.starts} - self.kept
        return tuple(s for s in stages if s.name not in gone)


def rows_of(whole: Stages) -> Iterator[Row]:
    """The stages that others can start in: these reduce what they read for each of the same indices."""
    for last in whole.stages:
        known = set[frozenset[str]]()
        for starts in _startable(whole.stages, last):
            names = frozenset(s.name for s in starts)
            kept = frozenset(_elsewhere(whole, starts, last))
            if starts and names not in known and (not kept or _reads_again(last, starts)):
                known.add(names)
                with suppress(NotGiven):
                    yield replace(_row(starts, last), kept=kept)


def _startable(stages: Sequence[Stage], last: Stage) -> Iterator[list[Stage]]:
    """What may start within a stage: all that it needs, or those of it that reduce for as many outer indices."""
    needed = [s for s in stages if s.name in read_by(last, stages)]
    if last.is_apart:
        return
    if not any(s.is_apart for s in needed):
        yield needed
    for k in range(len(last.dims), 0, -1):
        outer = [d.extent for d in last.dims[:k]]
        yield [s for s in needed if not s.is_apart and s.reductions and [d.extent for d in s.dims] == outer]


def _elsewhere(whole: Stages, starts: Sequence[Stage], last: Stage) -> set[str]:
    """The names of those that something else reads."""
    others = [s for s in whole.stages if s is not last and s not in starts]
    wanted = {t.name for t in subterms(whole.result) if isinstance(t, p.Input)}
    return wanted.union(*(directly_read_by(s, whole.stages) for s in others)) & {s.name for s in starts}


def _reads_again(last: Stage, starts: Sequence[Stage]) -> bool:
    """Does a stage, for each element of a row, read what those read that start within it?"""
    own = set(_arrays(last))
    return not last.reductions and all(own & set(_arrays(s)) for s in starts)


def _arrays(stage: Stage) -> Iterator[str]:
    for body in stage.bodies:
        for r in reads_of(stage.names, body):
            yield from (t.name for t in subterms(r.view) if isinstance(t, p.Input))


def with_starts(whole: Stages) -> Iterator[tuple[list[Stage], Stage]]:
    """Stages with what they need, where nothing else needs it, and none goes along an axis as a whole."""
    for last in whole.stages:
        starts = [s for s in whole.stages if s.name in read_by(last, whole.stages)]
        if starts and not _elsewhere(whole, starts, last) and not any(s.is_apart for s in (last, *starts)):
            yield starts, last


def read_by(stage: Stage, stages: Sequence[Stage]) -> set[str]:
    """The names of the stages that a stage reads, and of those that these read."""
    names = {s.name: s for s in stages}
    found: set[str] = set()
    todo = [stage]
    while todo:
        new = directly_read_by(todo.pop(), stages) - found
        found |= new
        todo += [names[n] for n in new]
    return found


def directly_read_by(stage: Stage, stages: Sequence[Stage]) -> set[str]:
    """The names of the stages that a stage reads itself."""
    views = [view for body in stage.bodies for view in views_of(stage.names, body)]
    names = {t.name for view in views for t in subterms(view) if isinstance(t, p.Input)}
    return names.intersection(s.name for s in stages)


def _row(starts: Sequence[Stage], last: Stage) -> Row:
    """NotGiven if the stages do not reduce rows, or are read elsewhere than at their own row."""
    given = Given({s.name: s for s in starts})
    last = given.within(last)
    rows = given.at[starts[-1].name]
    found: list[Stage] = []
    for s in reversed(starts):  # a stage knows its row when those that read it are known
        if not s.reductions or not can_share(s) or not commutes(s) or given.at.get(s.name) != rows:
            raise NotGiven
        found.insert(0, given.within(at_rows(s, rows)))
    if not set(rows) <= set(last.dims) or (last.reductions and not (can_share(last) and last.dims == rows)):
        raise NotGiven
    return Row(tuple(found), last)


def at_rows(stage: Stage, rows: tuple[Dim, ...]) -> Stage:
    """A stage with `rows` for its dimensions."""
    own = dict(zip(stage.dims, rows, strict=True))
    return replace(stage, dims=rows, body=stage.names.at(stage.body, own))


#: who shares the elements of what starts, and who goes on with them, by the name of the way
_WAYS = {"row": (ROW, ROW_AFTER), "lanes": (LANES, LANES_AFTER)}


def row_structures(row: Row, reassociate: bool) -> Iterator[Structure]:
    """Structures of stages that start within the loops of the last, for a GPU."""
    if not reassociate:
        return
    for name in _WAYS:
        structure = row_structure_again(row, Made(name, starts=True))
        if structure is not None:
            yield structure


def row_structure_again(row: Row, made: Made) -> Structure | None:
    """The structure of these stages that was made so, if the laws make its runs."""
    whole = Row(tuple(map(merged_reductions, row.starts)), merged_reductions(row.last))
    structure = _structure(whole, *_WAYS[made.way])
    return None if structure is None else replace(structure, made=made)


def _structure(row: Row, first: Way, after: Way) -> Structure | None:
    rows = row.starts[0].dims
    extra = [d for d in row.last.dims if d not in rows]
    last = merged_dims(row.last, extra) if len(extra) > 1 else row.last
    columns = next((d for d in last.dims if d not in rows), None)
    if len(rows) > GRID:
        return None
    works = [Work(s, first, None, rows[-1], True) for s in row.starts]
    works.append(Work(last, after, rows[-1], columns, True) if columns else Work(last, first, None, rows[-1], True))
    schedules = []
    for work in works:
        steps = work.steps()
        if steps is None:
            return None
        schedules.append(Schedule(tuple(steps), tuple(work.cuts.items())))
    term = Together((*row.starts, last), schedules).program()
    term = restored(term, row.last.dims, extra) if last is not row.last else term
    tiles = {k: t for work in reversed(works) for k, t in work.tiles.items()}
    starts = tuple(zip(row.starts, schedules[:-1], strict=True))
    return Structure(f"row {first.name} {len(row.starts)}", last, schedules[-1], term, tiles, starts)


class Together:
    """Stages whose outermost loops are the same: the last one's, in which the others start."""

    def __init__(self, stages: Sequence[Stage], schedules: Sequence[Schedule]) -> None:
        self.works = [Lowering(*each) for each in zip(stages, schedules, strict=True)]

    def program(self) -> Expr:
        """The array of the last stage."""
        last = self.works[-1]
        tensors = [t for work in self.works for t in work.tensors()]
        return last.in_order(self._outside(_outer(last.schedule), tensors))

    def _outside(self, loops: Sequence[Loop], tensors: Sequence[Tensor]) -> Expr:
        if loops:
            loop = loops[0]
            return mapped((loop.dim, loop.digit), tensors, lambda ts: self._outside(loops[1:], ts), loop.level)
        left, done = iter(tensors), dict[str, Tensor]()
        for work in self.works:
            own = [done[_name(o.array)] if o.at in work.stage.given else next(left) for o, _ in work.operands]
            inner = work.schedule.steps[len(_outer(work.schedule)) :]
            x = work.outside(inner, own)
            digits = tuple((d.dim, d.digit) for d in work.parallel(inner))
            done[work.stage.name] = Tensor(p.To("local", x) if digits else x, digits)
        return x


def _outer(schedule: Schedule) -> list[Loop]:
    """The loops over groups, which a schedule begins with."""
    found = []
    for step in schedule.steps:
        if not (isinstance(step, Loop) and step.kind == "grid"):
            break
        found.append(step)
    return found


def _name(array: Expr) -> str:
    assert isinstance(array, p.Input)
    return array.name
