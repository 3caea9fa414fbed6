"""Rows that are read once, for what they need and for what is made of each of their elements.

    m[0] = max_1 A[0,1];  s[0] = sum_1 exp(A[0,1] - m[0]);  exp(A[0,1] - m[0]) / s[0]
      ->  for 0, groups and teams of items:  r[1] = A[0,1], in registers;  m = max r, by all items of the team;
            e[1] = exp(r[1] - m), in registers;  s = sum e, by all;  e[1] / s

What an item has of a row stays in its registers from the first pass to the last.
source: fusion of maps, [Hagedorn2018] (20); the fused softmax of the tutorials of Triton keeps its row so
"""

from __future__ import annotations

from dataclasses import replace

from egglift.egraph.schedules.one_reading import along, reads_again
from egglift.egraph.schedules.row_passes import in_passes
from egglift.egraph.schedules.row_sharing import once_a_row, once_an_element
from egglift.egraph.schedules.row_teams import RowStages, RowTeams, Sizes
from egglift.egraph.schedules.rows import Row
from egglift.egraph.stages.given import NotGiven
from egglift.egraph.stages.loops import Tensor
from egglift.egraph.stages.merging import merged_dims, merged_reductions, restored
from egglift.egraph.stages.stage import number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, merged, permuted
from egglift.ir.patterns import Expr

GRID = 3  # dimensions that a grid has


def held_row(row: Row) -> RowStages:
    """The stages of a row with what is computed of an element, or of a row, computed once.

    NotGiven if the last one yields no elements of rows, or reads nothing again that those before it have read.
    """
    rows, starts = row.starts[0].dims, tuple(map(merged_reductions, row.starts))
    extra = [d for d in row.last.dims if d not in rows]
    if row.last.reductions or not extra or len(rows) > GRID:
        raise NotGiven
    last = merged_dims(row.last, extra) if len(extra) > 1 else row.last
    (columns,) = (d for d in last.dims if d not in rows)
    if any(s.phases[0][0].dims[1:] or number(s.phases[0][0].dims[0]) != number(columns) for s in starts):
        raise NotGiven
    own, dims = [x for s in starts for x in in_passes(along(s, columns))], (*rows, columns)
    if not reads_again(own, last, dims):
        raise NotGiven
    stages = once_an_element([*own, last], dims)
    *own, last = (x for s in stages for x in once_a_row(s, rows))
    return RowStages(tuple(own), replace(last, dims=dims), rows[-1], columns)


def in_registers(row: Row, x: RowStages, sizes: Sizes) -> Expr:
    """The array of the last stage of a row, of which `x` are the stages: by groups of a GPU."""
    rows = row.starts[0].dims
    extra = [d for d in row.last.dims if d not in rows]
    found = _Held(x, sizes, "gpu").array()
    if len(extra) == 1:
        return permuted(found, x.last.dims, [d if d in rows else x.columns for d in row.last.dims])
    return restored(permuted(found, x.last.dims, [x.columns, *rows]), row.last.dims, extra)


class _Held(RowTeams):
    """Rows beside each other, of one of which each team has."""

    def array(self) -> Expr:
        """An array over the batch, rows and columns."""
        n = len(self.batch)
        x = merged(self.over_parts(self._row), n, 2)
        x = merged(at_depth(n, x, lambda e: p.Take(self.rows.extent, e)), n + 1, len(self.along))
        return at_depth(n + 1, x, lambda e: p.Take(self.columns.extent, e))

    def _row(self, tensors: list[Tensor]) -> Expr:
        """The elements of the rows of all teams."""
        here, known = self.started(tensors)
        read = self.own(self.last, self.last.after, here)
        return self.by_teams(self.along, read, known, lambda ts: self.last.epilogue(p.Tup(()), [t.x for t in ts]))
