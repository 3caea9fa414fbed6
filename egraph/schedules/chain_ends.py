"""Where the tiles of a chain of contractions end: what a mask leaves of a row may be short.

    x[0,1] = a[0] >= b[1] ? s[0,1] : -inf       for blocks of 0:  for blocks of 1, until b's first > a's last:  ..

Both a and b rise: a tile of which nothing is left changes nothing, nor does one behind it.  What is beyond is not read
then: of a factor that is infinite there, 0 * inf is not NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from egglift.egraph.schedules.tile_chains import TileChain
from egglift.egraph.stages.as_pattern import computed, reads_of
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.stage import Dim, number
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import Scalar

MOST = 1 << 22  # numbers that are looked at


@dataclass(frozen=True)
class Ends:
    """Nothing is left in a tile where `op`, "lt" or "le", holds of the last of `rows` and the first of `columns`."""

    rows: Operand
    columns: Operand
    op: str


#: what is left where the two are so: with rows first, and when that is not so
_LEFT = {"ge": "lt", "gt": "le"}
_FLIPPED = {"le": "ge", "lt": "gt"}


def ends_of(x: TileChain) -> Ends | None:
    """Where the tiles of a block of rows end, if a mask says so."""
    match x.tile.body:
        case p.Apply("where", (left, _, p.Literal(value))) if value == (-np.inf if x.online else 0.0):
            return next(_found(x, left), None)
    return None


def _found(x: TileChain, left: Expr) -> Iterator[Ends]:
    """Where nothing is left, by one of several tests that all must hold."""
    match left:
        case p.Apply("logical_and", (one, other)):
            yield from _found(x, one)
            yield from _found(x, other)
        case p.Apply(op, (a, b)):
            if op in _FLIPPED:
                op, a, b = _FLIPPED[op], b, a
            if op in _LEFT and _rises(x, a, x.rows) and _rises(x, b, x.middle):
                yield Ends(_operand(x, a), _operand(x, b), _LEFT[op])


def _operand(x: TileChain, e: Expr) -> Operand:
    dims = tuple(each for each in x.tile.dims if each in x.tile.names.free(e))
    return Operand(computed(x.tile.names, dims, e), dims, e)


def _rises(x: TileChain, e: Expr, d: Dim) -> bool:
    """Is it a whole number that the program itself says, and that rises, or stays, along a dimension, the tile's only
    one of rows and columns?"""
    names, t = x.tile.names, type_of(e)
    free = names.free(e)
    other = x.middle if d == x.rows else x.rows
    if d not in free or other in free or names.has_reductions(e) or not (isinstance(t, Scalar) and t.is_integer):
        return False
    if any(isinstance(s, p.Input) for r in reads_of(names, e) for s in subterms(r.view)):
        return False
    o = _operand(x, e)
    if prod(number(each) for each in o.dims) > MOST:
        return False
    values = np.asarray(evaluate(o.array, {}))
    return bool((np.diff(values.astype(np.int64), axis=o.dims.index(d)) >= 0).all())
