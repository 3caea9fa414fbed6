"""Chains of contractions in pieces: few rows are shared out to more groups, each of which goes along a part.

    o[0,2] = sum_1 f(s[0,1]) v[1,2]  ->  parts[3,0,2] = sum_4 f(s[3,0,4]) v[3,4,2];  o[0,2] = sum_3 parts[3,0,2]

Parts below the largest of a row's part are scaled to the largest of all (one_pass.online).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from egglift.egraph.schedules.online_tiles import beside_nan, or_nan
from egglift.egraph.schedules.tile_chains import TileChain
from egglift.egraph.stages.one_pass import online
from egglift.egraph.stages.sharing import added
from egglift.egraph.stages.stage import Dim, Read, Reduction, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.tuples import as_one
from egglift.ir.types import Scalar


@dataclass(frozen=True)
class Pieces:
    """chain: of each piece; added: adds them up.  sums: names of the arrays of what the sums of rows come to in each
    piece; largest: of that of the largest of each row's part."""

    chain: TileChain
    added: Stage
    sums: tuple[str, ...]
    largest: str | None

    @property
    def parts(self) -> str:
        """The name of the array of the parts' results."""
        return self.chain.last.name


def in_pieces(x: TileChain, count: int) -> Pieces:
    """The chain with its middle in so many pieces of one length, and the stage that adds them up."""
    work = _Cutting(x, count)
    return work.pieces()


class _Cutting:
    def __init__(self, x: TileChain, count: int) -> None:
        self.x, self.names = x, x.last.names
        self.piece = self.names.dim(count)
        self.inner = self.names.dim(number(x.middle) // count)
        self.rows = tuple(d for d in x.tile.dims if d != x.middle)
        dims, body = (self.piece, *self.rows, self.inner), self.names.with_reads(x.tile.body, self._cut)
        self.tile = replace(x.tile, dims=dims, body=body)
        self.elements = self._given(x.last) | {k: v for s in x.sums for k, v in self._given(s).items()}

    def _given(self, stage: Stage) -> dict[Read, p.Input]:
        """What stands for elements of the tile, and of a piece's tile."""
        found = dict[Read, p.Input]()
        for given in stage.given - (self.x.last.given - self.x.tile_reads):
            read = self.names.reads[given.name]
            assert isinstance(read.view, p.Input)
            view = p.Input(read.view.name, replace(self.tile, body=given).type)
            own = self.names.read(Read(view, self.tile.dims))
            assert isinstance(own, p.Input)
            found[read] = own
        return found

    def pieces(self) -> Pieces:
        x = self.x
        sums = tuple(self._parts(s, self.rows) for s in x.sums)
        last = self._parts(x.last, x.last.dims)
        chain = replace(x, tile=self.tile, sums=sums, last=last, middle=self.inner)
        largest = f"{x.last.name}.largest" if x.online else None
        join = self._online(chain) if x.online else self._plain(chain)
        return Pieces(chain, join, tuple(s.name for s in sums), largest)

    def _cut(self, read: Read) -> Read:
        return read.along(self.x.middle, lambda a: p.Split(self.inner.extent, a), (self.piece, self.inner))

    def _parts(self, stage: Stage, dims: tuple[Dim, ...]) -> Stage:
        """What a stage's reductions come to in each piece."""

        def cut(read: Read) -> Read:
            return self.names.reads[self.elements[read].name] if read in self.elements else self._cut(read)

        reduced: list[Expr] = []
        for r in stage.reductions:
            element = self.names.with_reads(r.element, cut)
            reduced.append(self.names.reduced(replace(r, dims=(self.inner,), element=element)))
        body = as_one(reduced)
        given = frozenset(self._given(stage).values())
        return Stage(f"{stage.name}.parts", (self.piece, *dims), body, self.names, given)

    def _of(self, s: Stage) -> list[p.Input]:
        """What stands for a sum of a row in what follows."""
        views = {g: self.names.reads[g.name].view for g in self.x.last.given}
        return [g for g, view in views.items() if isinstance(view, p.Input) and view.name == s.name]

    def _read(self, s: Stage) -> p.Input:
        return p.Input(s.name, s.type)

    def _plain(self, chain: TileChain) -> Stage:
        """The parts' results, and what follows sums of rows, once these are added up."""
        x, new = self.x, dict[Expr, Expr]()
        for s, parts in zip(x.sums, chain.sums, strict=True):
            whole = added(replace(s, given=frozenset()), self._read(parts), parts.dims, self.piece)
            new |= {g: whole.body for g in x.last.given if g in self._of(s)}
        last = added(replace(x.last, given=frozenset()), self._read(chain.last), chain.last.dims, self.piece)
        return replace(last, body=substituted(last.body, new))

    def _online(self, chain: TileChain) -> Stage:
        """The parts' results below the largest of all, and of their sums."""
        x, last = self.x, chain.last
        (parts,) = chain.sums
        largest = self.names.read(Read(p.Input(f"{x.last.name}.largest", parts.type), parts.dims))
        row, result = (self._below(largest, self.names.read(Read(self._read(s), s.dims))) for s in (parts, last))
        total = or_nan(p.Get(1, row))
        new: dict[Expr, Expr] = {
            g: p.Tup((p.Get(0, row), total)) for g in x.last.given if self.names.reads[g.name] not in self.elements
        }
        (r,) = x.last.reductions
        new[self.names.reduced(r)] = beside_nan(p.Get(1, result), total)
        return replace(x.last, body=substituted(x.last.body, new), given=frozenset())

    def _below(self, largest: Expr, part: Expr) -> Expr:
        """<the largest of all parts, the sum of what is below it>"""
        t = type_of(part)
        assert isinstance(t, Scalar)
        op = online(t)
        assert op.neutral is not None
        return self.names.reduced(Reduction(op.body, op.neutral, (self.piece,), p.Tup((largest, part)), op))
