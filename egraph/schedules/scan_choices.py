"""The best programs of stages that scan: whole rows, or chunks of them with carries between, in several levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod

from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.sizes import Point, Search, varied
from egglift.egraph.schedules.scan_structures import HELD, Rows, ScanStructure, scan_structures
from egglift.egraph.schedules.stage_elements import elements_of
from egglift.egraph.stages.scans import Chunks, can_link, in_chunks, is_exact, of_chunks
from egglift.egraph.stages.stage import Stage, number
from egglift.ir import patterns as p
from egglift.ir.deadline import require_time
from egglift.ir.errors import EggliftError
from egglift.ir.patterns import Expr
from egglift.ir.types import leaves

TRIES, FEW = 14, 4  # assignments of each structure that are generated and priced: of the whole, and of its carries
DIFFERENT = 3  # of them that are looked at further
ON_CHIP = (16 << 10, 8 << 10)  # bytes of a chunk that a group of a GPU holds
LINKED = (32 << 10, 16 << 10)  # those of one whose group looks back, which takes the longer the more there are
LONG = 512  # elements of rows that are cut
SHARES = (4, 8)  # chunks for each unit of a CPU
SHORTEST = 16  # elements of a row for each work-item, where neighbours go through rows side by side
LINE, SETS = 64, 8  # elements of some cache lines; as many of these as must not divide a length
NEAR = 16  # bytes beside each other that neighbours read, for these to read together
ROWS = 16  # times as many rows as a device has work-groups are not cut


@dataclass(frozen=True)
class Priced:
    """A program for a scan, its structure, its assignment and its price."""

    sign: str
    point: Point


@dataclass(frozen=True)
class ScanSearch:
    """What is looked for, for a device of that profile.  thorough: is it of the whole, and not of its carries?"""

    profile: Profile
    limits: DeviceLimits
    reassociate: bool
    thorough: bool = True

    def associative(self, stage: Stage) -> bool:
        """May a scan be computed in another order than that of its elements?"""
        assert stage.scan is not None
        return stage.scan.op.associative and (self.reassociate or is_exact(stage.scan))

    def whole(self, stage: Stage, laid: Callable[[Expr], Expr] = lambda array: array) -> list[Priced]:
        """The best programs for a stage whose rows are not cut, by rising price.  laid: its array in the whole."""
        structures = scan_structures(stage, self.profile.kind, self.limits, self.associative(stage))
        found = (x for s in structures for x in self._sized(s, laid))
        return sorted(found, key=lambda x: x.point.estimate.seconds)

    def linked(self, stage: Stage, chunks: Chunks) -> list[Priced]:
        """The best programs for all chunks of a stage by groups that look back, by rising price."""
        assert stage.scan is not None
        structure = Rows(chunks.chunks).linked(stage.scan.init)
        found = self._sized(structure, lambda array: of_chunks(stage, chunks, array))
        return sorted(found, key=lambda x: x.point.estimate.seconds)

    def _sized(self, s: ScanStructure, laid: Callable[[Expr], Expr]) -> Iterator[Priced]:
        require_time()
        with suppress(EggliftError):
            points = Search(laid(s.term), s.tiles, self.profile, self.limits).run(TRIES if self.thorough else FEW)
            yield from (Priced(s.sign, point) for point in varied(points, DIFFERENT))

    def lengths(self, stage: Stage) -> list[int]:
        """The lengths of chunks that are worth trying; none where rows are short, or enough to go round."""
        assert stage.scan is not None
        n, rows, units = number(stage.dims[-1]), 1, self.profile.compute_units
        for d in stage.dims[:-1]:
            rows *= number(d)
        size = sum(scalar.size for _, scalar in leaves(stage.scan.type))
        if not self.associative(stage):
            return []
        if self.profile.kind == "gpu" and side_by_side(stage, self.profile):
            each = n * rows // (units * self.profile.items_per_unit)  # for a work-item, if all are busy
            return [c for c in dict.fromkeys((HELD, min(HELD, max(SHORTEST, each)))) if 2 * c <= n]
        if n < LONG:
            return []
        if self.profile.kind == "gpu":
            held = [b // size for b in ON_CHIP]
            return [c for c in held if 2 * c <= n and (rows < ROWS * units or n * size > ON_CHIP[0])]
        if rows >= ROWS * units:
            return []
        shares = [max(1, s * units // rows) for s in SHARES]
        return list(dict.fromkeys(_apart(-(-n // s)) for s in shares if s > 1))

    def linked_lengths(self, stage: Stage) -> list[int]:
        """Lengths of chunks for groups that look back; none where they may not."""
        scan = stage.scan
        assert scan is not None
        able = self.profile.kind == "gpu" and self.limits.progress and self.associative(stage) and can_link(scan)
        if not able or side_by_side(stage, self.profile):
            return []
        size = sum(scalar.size for _, scalar in leaves(scan.type))
        held = [b // size for b in LINKED]
        rows = prod(map(number, stage.dims[:-1]))
        return [c for c in held if 2 * c <= number(stage.dims[-1]) and 4 * c <= rows * number(stage.dims[-1])]

    def cut(self, stage: Stage, linked: bool = False) -> Iterator[tuple[int, Chunks]]:
        """A stage in chunks of some lengths; linked: such as groups hold that look back."""
        for length in (self.linked_lengths(stage) if linked else self.lengths(stage))[: None if self.thorough else 1]:
            if (chunks := in_chunks(stage, length)) is not None:
                yield length, chunks


def side_by_side(stage: Stage, profile: Profile) -> bool:
    """Do neighbouring rows lie together in what is read, rather than a row's elements?"""
    *outer, last = stage.dims
    across = along = 0
    for source in elements_of(stage, profile).after:
        for place in source.element.places:
            strides = dict(zip(source.dims, place.strides, strict=True))
            near = max((number(d) for d in outer if strides.get(d) == 1), default=1)
            across += place.scalar if near * place.scalar >= NEAR else 0
            along += place.scalar if strides.get(last) in (1, -1) else 0
    return across > along


def _apart(n: int) -> int:
    """A length of whole cache lines, near `n`: chunks that are gone through side by side lie in different sets."""
    lines = -(-n // LINE)
    return LINE * (lines + (lines % SETS == 0))


Placed = Callable[[Expr, dict[str, Expr]], Expr]


def in_order(chunks: Chunks, terms: Sequence[Expr], placed: Placed) -> Expr:
    """The program of the chunks, which reads that of the carries, which reads that of the totals; and, where there is
    one, that of the whole, which reads that of the chunks."""
    totals, carries, last, *whole = terms
    carries = placed(carries, {chunks.totals.name: p.To("global", totals)})
    last = placed(last, {chunks.carries.name: p.To("global", carries)})
    return placed(whole[0], {chunks.chunks.name: p.To("global", last)}) if whole else last
