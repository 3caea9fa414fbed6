"""Chains of contractions with the exponential below the largest of a row between them.

    m = max_1 x[0,1];  o[0,2] = sum_1 exp(x[0,1] - m) v[1,2]    ->    for blocks of 1, in turn:
                                                                        n = max(m, max_1 x);  c = exp(m - n)
                                                                        acc = c acc + sum_1 exp(x - n) v;  m = n

source: Milakov and Gimelshein, Online Normalizer Calculation for Softmax, 2018; Dao et al., FlashAttention, 2022
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import log

from egglift.egraph.schedules.chained_tiles import Chaining, along, digits, in_registers, mapped
from egglift.egraph.stages.loops import Axis, Tensor, folded, nest
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import Scalar

LOG2_E = 1 / log(2)
_PARTS = "parts"  # the axis along which items have parts of a row


class OnlineChaining(Chaining):
    """The accumulators are those of the sum of a row, of the result, and the largest of a row so far, below which both
    are; each item knows the largest of its rows itself."""

    def begun(self, tensors: Sequence[Tensor]) -> list[Expr]:
        """The accumulators before all tiles."""
        return [*super().begun(tensors), self.filled(self._lowest, self.own, tensors)]

    @property
    def beyond(self) -> Expr:
        """A tile's elements beyond the end of its columns."""
        return self._lowest

    @cached_property
    def _lowest(self) -> Expr:
        return self.x.number(float("-inf"))

    def taken_in(self, state: Expr, tile: Tensor, beside: Sequence[Tensor], factors: Sequence[Tensor]) -> Expr:
        """The accumulators with a tile taken in: scaled, where it has a larger one, and with its powers added."""
        own, results = tuple(digits(self.own)), digits(self.results)
        sum_, total, largest = (p.Get(i, state) for i in range(3))
        row = self._scales(Tensor(largest, own), self._parts(tile))
        powers = in_registers(mapped(self.elementwise, [tile, row], lambda ts: _exp_below(ts[0].x, p.Get(1, ts[1].x))))

        def added(ts: list[Tensor]) -> Expr:
            return self.along(_times(ts[0].x, p.Get(2, ts[1].x)), [ts[2]], lambda s, e: p.Apply("add", (s, e[0].x)))

        sums = in_registers(mapped(self.own, [Tensor(sum_, own), row, powers], added))
        read = [Tensor(total, tuple(results)), along(self._beside_columns(row), results)]
        scaled = nest([(a, None) for a in results], read, lambda ts: _times(ts[0].x, p.Get(2, ts[1].x)))
        found = self.multiplied(scaled, powers, factors)  # scaled where the first product is added
        new = mapped(self.own, [row], lambda ts: p.Get(0, ts[0].x))
        early = mapped(self.own, [sums], lambda ts: ts[0].x)  # before the products: powers need no registers then
        return p.Tup((early.x, found, new.x))

    def _parts(self, tile: Tensor) -> Tensor:
        """The largest of each row of a tile in local memory: of each item's part where few share a row, else of all."""
        parts = self.by_rows(mapped(self.own, [tile], lambda ts: self.along(self._lowest, ts, _larger)))
        if self._exchanged:  # each item looks at all parts: they are not waited for twice
            return replace(parts, axes=(*parts.axes[:-1], _PARTS))
        found = mapped(self.rows, [parts], lambda ts: self.any(ts[0].axes[0], ts[0]))
        return replace(found, x=p.To("local", found.x))

    def any(self, axis: Axis, t: Tensor) -> Expr:
        """The largest along an axis."""
        return folded(axis, self._lowest, [t], _larger)

    def _scales(self, largest: Tensor, parts: Tensor) -> Tensor:
        """For each of an item's rows: the largest so far; the same, or 0 where there is none yet; and what is below the
        largest before, below that one."""

        def below(ts: list[Tensor]) -> Expr:
            found = self.any(_PARTS, ts[1]) if ts[1].axes else ts[1].x
            new = p.Apply("maximum", (ts[0].x, found))
            none = p.Apply("eq", (new, self._lowest))
            finite = p.Apply("where", (none, self.x.number(0.0), new))
            return p.Tup((new, finite, _exp_below(ts[0].x, finite)))

        return in_registers(mapped(self.own, [largest, parts], below))

    def _beside_columns(self, row: Tensor) -> Tensor:
        """What each item knows of its rows, where it has columns of the result: there are as many items."""
        own = {(self.x.middle, 2): (self.x.columns, 2)}
        return Tensor(row.x, tuple(own.get(a, a) for a in row.axes))  # type: ignore[call-overload]

    # ------------------------------------------------------------------------------------ what follows

    def row(self, i: int, state: Sequence[Expr], after: Sequence[Tensor]) -> Tensor:
        """The largest of a row, if something reads it, and the sum below it."""
        of_row = [state[i], state[2]] if self._needs_largest else [state[i]]
        found = [self.by_rows(Tensor(x, tuple(digits(self.own)))) for x in of_row]

        def finish(ts: list[Tensor]) -> Expr:
            (share, *_), w = ts[0].axes, self.sums[i]
            total = w.total(share, ts[0], "local", alone=False)  # type: ignore[arg-type]
            return p.Tup((self.any(share, ts[1]) if len(ts) > 1 else total, or_nan(total)))

        return mapped(self.rows, found, finish)

    @cached_property
    def _needs_largest(self) -> bool:
        """Does what follows read the largest of a row itself?"""
        given = self.x.last.given
        parts = subterms(self.x.last.body)
        return bool([t for t in parts if isinstance(t, p.Get) and t.index == 0 and t.x in given])

    def whole(self, total: Expr, given: Mapping[str, Expr]) -> Expr:
        """A result's accumulator after all tiles, beside what sums of its row have come to."""
        (row,) = given.values()
        return beside_nan(total, p.Get(1, row))


def or_nan(total: Expr) -> Expr:
    """The sum of a row, NaN where all of it is -inf: so it is where the largest of all is subtracted at once."""
    t = type_of(total)
    assert isinstance(t, Scalar)
    none = p.Apply("eq", (total, p.Literal(0.0, t)))
    return p.Apply("where", (none, p.Apply("div", (total, total)), total))


def beside_nan(x: Expr, total: Expr) -> Expr:
    """What is in a row, NaN where the sum of the row is."""
    return p.Apply("where", (p.Apply("ne", (total, total)), total, x))


def _larger(total: Expr, ts: list[Tensor]) -> Expr:
    return p.Apply("maximum", (total, ts[0].x))


def _times(a: Expr, b: Expr) -> Expr:
    return p.Apply("mul", (a, b))


def _exp_below(x: Expr, largest: Expr) -> Expr:
    """A power below 1: of 2, as devices have these, and as exact beside what is added up as the difference is."""
    t = type_of(x)
    assert isinstance(t, Scalar)
    below = p.Apply("sub", (x, largest))
    return p.Apply("exp2_or_zero", (p.Apply("mul", (below, p.Literal(LOG2_E, t))),))
