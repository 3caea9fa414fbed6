"""Totals of what rows give, in two stages: the rows, with what they need of themselves, and their total.

    s[0] = sum_1 exp(A[0,1])                      s[0] = sum_1 exp(A[0,1])
    t = sum_0,1 A[0,1] / s[0]            ->       r[0] = sum_1 A[0,1] / s[0];  t = sum_0 r[0]

A row and what it needs of itself are then read by one group (egraph/schedules/rows.py), as losses of many examples are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.sharing import added, can_share, commutes
from egglift.egraph.stages.stage import Dim, Reduction, Stage
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.tuples import as_one


def by_rows(stages: Collection[Stage]) -> Iterator[Stage]:
    """The stages, those in two that reduce rows over which the results of others go."""
    reducing = {s.name for s in stages if s.reductions}
    for stage in stages:
        row = _row_of(stage, reducing)
        if row is None:
            yield stage
        else:
            rows = _rows(stage, row)
            yield rows
            yield added(stage, p.Input(rows.name, rows.type), rows.dims, row)


def _row_of(stage: Stage, reducing: Collection[str]) -> Dim | None:
    """The dimension of a stage's reductions along which it reads what other stages have reduced, if it is one of
    several, and parts may be added in any order."""
    several = {r.dims for r in stage.reductions}
    if stage.is_apart or len(stage.phases) != 1 or len(several) != 1 or not can_share(stage) or not commutes(stage):
        return None
    (dims,) = several
    if not all(stage.names.is_closed(r.init) for r in stage.reductions):
        return None
    found = set[Dim]()
    for r in stage.reductions:
        for read in reads_of(stage.names, r.element):
            if any(isinstance(t, p.Input) and t.name in reducing for t in subterms(read.view)):
                found |= set(read.dims)
    return next(iter(found)) if len(found) == 1 and len(dims) > 1 and found <= set(dims) else None


def _rows(stage: Stage, row: Dim) -> Stage:
    """Every reduction of each row."""
    reduced: list[Expr] = []
    for r in stage.reductions:
        assert isinstance(r, Reduction) and r.op is not None and r.op.neutral is not None
        dims = tuple(d for d in r.dims if d != row)
        reduced.append(stage.names.reduced(replace(r, init=r.op.neutral, dims=dims)))
    body = as_one(reduced)
    return Stage(f"{stage.name}.rows", (row, *stage.dims), body, stage.names)
