"""Pieces of chains of contractions: what each group has found of its rows, as it is, in arrays of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from egglift.egraph.schedules.chain_pieces import Pieces
from egglift.egraph.schedules.chained_tiles import Chaining, digits, mapped
from egglift.egraph.schedules.online_tiles import OnlineChaining
from egglift.egraph.schedules.schedule import Loop
from egglift.egraph.stages.loops import Tensor
from egglift.egraph.stages.merging import restored
from egglift.egraph.stages.stage import Dim
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, merged, permuted
from egglift.ir.patterns import Expr
from egglift.ir.tuples import as_one

OUTER = 3  # the grid: batch, blocks of rows, blocks of columns


class ChainingParts(Chaining):
    """Each group yields its accumulators: of the result, and of the sums of rows as far as its items have them."""

    def program(self) -> Expr:
        """An array of blocks: of results, of each sum of rows, and of the largest of each row, if there is one."""
        return self.blocks()

    def finished(self, state: Sequence[Expr], after: list[Tensor]) -> Expr:
        """What a group has found."""
        count = len(self.sums)
        stored = [replace(s, level=s.after or s.level) for s in self.results]
        total = mapped(stored, [Tensor(state[count], tuple(digits(stored)))], lambda ts: ts[0].x)
        sums = [self._in_order(self.part(i, state), (self.x.rows,)) for i in range(count)]
        return as_one([self._in_order(total, (self.x.rows, self.x.columns)), *sums, *self.besides(state)])

    def part(self, i: int, state: Sequence[Expr]) -> Tensor:
        """What a sum of rows has come to."""
        found = self.by_rows(Tensor(state[i], tuple(digits(self.own))))
        w = self.sums[i]
        return mapped(self.rows, [found], lambda ts: w.total(ts[0].axes[0], ts[0], "local", alone=False))  # type: ignore[arg-type]

    def besides(self, state: Sequence[Expr]) -> list[Expr]:
        """What else is known of rows."""
        return []

    def _in_order(self, t: Tensor, dims: Sequence[Dim]) -> Expr:
        """A block over dimensions, of one over their digits."""
        order = [a for d in dims for a in sorted(a for a in digits(self._loops) if a[0] == d and a in t.axes)]
        x = permuted(t.x, t.axes, order)
        for i, d in enumerate(dims):
            x = merged(x, i, sum(a[0] == d for a in order))
        return x

    @property
    def _loops(self) -> list[Loop]:
        return [*self.results, *(s for s in self.rows if (s.dim, s.digit) not in digits(self.results))]


class OnlineChainingParts(ChainingParts, OnlineChaining):
    """The same with the largest of rows, below which the accumulators are."""

    def besides(self, state: Sequence[Expr]) -> list[Expr]:
        """The largest of each row of a block."""
        found = self.by_rows(Tensor(state[2], tuple(digits(self.own))))
        largest = mapped(self.rows, [found], lambda ts: self.any(ts[0].axes[0], ts[0]))
        return [self._in_order(largest, (self.x.rows,))]


def arrays_of(x: Pieces, blocks: Expr) -> dict[str, Expr]:
    """The arrays of pieces by name, of the program of their blocks."""
    chain, kept = x.chain, p.To("global", blocks)
    batch = [d for d in chain.last.dims if d not in (chain.rows, chain.columns)]
    names = [x.parts, *x.sums, *([x.largest] if x.largest else [])]

    def part(i: int) -> Expr:
        return kept if len(names) == 1 else at_depth(OUTER, kept, lambda e: p.Get(i, e))

    last = permuted(part(0), "bijmn", "bimjn")
    last = merged(merged(last, 1, 2), 2, 2)
    last = at_depth(1, last, lambda e: p.Take(chain.rows.extent, e))
    last = at_depth(2, last, lambda e: p.Take(chain.columns.extent, e))
    own = [d for d in chain.last.dims if d not in batch]
    last = permuted(last, ["b", chain.rows, chain.columns], ["b", *own])
    found = {x.parts: restored(last, chain.last.dims, batch)}
    for i, name in enumerate(names[1:]):
        row = at_depth(2, part(1 + i), lambda e: p.At(0, e))
        row = at_depth(1, merged(row, 1, 2), lambda e: p.Take(chain.rows.extent, e))
        found[name] = restored(row, (*batch, chain.rows), batch)
    return found
