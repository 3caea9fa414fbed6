"""All assignments of sizes of a structure, ranked by their closed price: none of them is generated.

What has no code yet is priced some 10^5 times as often as what has: the whole space of a structure is looked at, and
the code generator and the exact model see only the few best of it, and some that differ from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.closed.price import possible, seconds
from egglift.costmodel.closed.work import Bools, Numbers, Work, number, one_after_the_other, product
from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.sizes import Point, Search
from egglift.costmodel.search.space import Columns, assignments
from egglift.egraph.schedules.counted import counted, counted_tile
from egglift.egraph.schedules.nest import digits_of
from egglift.egraph.schedules.structures import InTiles, Structure
from egglift.ir import tile_kinds as kinds
from egglift.ir.tile_kinds import TILE_KINDS

#: assignments that are priced at once, of more, some at random: where several are wanted, and where only the best is
MOST, FEWER = 1 << 15, 1 << 12
#: of more assignments than twice as many a sample is priced, then those that differ from its best in few numbers
SAMPLE, ROUNDS, LIKE, DIFFERENT = 1 << 11, 4, 16, 3
MOSTLY = 0.5  # of the assignments fit, from which on those that do not are priced with them
#: kinds whose numbers matter little for the others: they are chosen last, for so many of the best
LAST, BEST = (kinds.PADDING, kinds.PREFETCH), 128
#: kinds of numbers that give blocks their shape
SHAPING = {kind.letter for kind in (kinds.BLOCK_ROWS, kinds.BLOCK_COLUMNS, kinds.SHARING_LANES)}
NEAR = 1.3  # times as slow as the best may be what is generated because it differs


@dataclass(frozen=True)
class Ranked:
    """A structure's assignments that its device can run, the cheapest first: their sizes, launches and seconds."""

    structure: Structure
    search: Search
    columns: Columns
    launches: tuple[Launch, ...]
    launch: Numbers  # which of the launches
    seconds: Numbers

    @property
    def best(self) -> float:
        """The lowest closed price."""
        return float(self.seconds[0])

    def sizes(self, i: int) -> dict[str, int]:
        """The i-th assignment."""
        return {name: int(column[i]) for name, column in self.columns.items()}

    def launch_of(self, i: int) -> Launch:
        """The launch of the i-th assignment."""
        return self.launches[int(self.launch[i])]

    def varied(self, k: int) -> list[int]:
        """The best assignment and up to k - 1 nearly as good: the best of each other shape of blocks; then in turn the
        next of another price, and what differs most.

        The price errs most about shapes.  What has the same closed price is the same to the exact model too.
        """
        near = int(np.searchsorted(self.seconds, NEAR * self.seconds[0], side="right"))
        values = np.stack([*(c[:near] for c in self.columns.values()), self.launch[:near].astype(np.int64)])
        chosen = self._shapes(near)[:k]
        while len(chosen) < min(k, near):
            left = np.setdiff1d(np.arange(near), chosen)
            other = left[~np.isclose(self.seconds[left, None], self.seconds[chosen], 1e-4).any(axis=1)]
            news = np.sum([~np.isin(row[left], row[chosen]) for row in values], axis=0)
            chosen.append(int(other[0]) if len(chosen) % 2 and len(other) else int(left[np.argmax(news)]))
        return chosen

    def points(self, which: Iterable[int]) -> list[Point]:
        """The code of these assignments, of those that have some."""
        found = (self.search.point(self.sizes(i), self.launch_of(i)) for i in which)
        return [x for x in found if isinstance(x, Point)]

    def fetched(self) -> list[int]:
        """The best assignment for each number of chunks that are fetched ahead, the cheapest first.

        What code for that costs the closed price does not know.
        """
        ahead = [c for name, c in self.columns.items() if self.structure.tiles[name].kind == kinds.PREFETCH.letter]
        return sorted(int(i) for i in np.unique(np.stack(ahead), axis=1, return_index=True)[1]) if ahead else []

    def _shapes(self, near: int) -> list[int]:
        """The best assignment of each shape of blocks among the first `near`, the cheapest first."""
        sides = [c[:near] for name, c in self.columns.items() if self.structure.tiles[name].kind in SHAPING]
        if not sides:
            return [0]
        return sorted(int(i) for i in np.unique(np.stack(sides), axis=1, return_index=True)[1])


def ranked(structure: Structure, profile: Profile, limits: DeviceLimits, several: bool = True) -> Ranked | None:
    """The assignments of a structure by rising closed price; None if the device can run none.

    several: are several wanted, or only the best?  EggliftError where something in the stage has no closed price.
    """
    search = Search(structure.term, structure.tiles, profile, limits)
    work = _Ranking(structure, search, profile, limits)
    last = [s for s in search.order if TILE_KINDS.get(structure.tiles[s].kind) in LAST]
    first = [s for s in search.order if s not in last]
    usual = {s: np.array([search.options(s, {})[0]]) for s in last}
    most = MOST if several else FEWER
    priced = work.priced(assignments(first, structure.tiles, search.roles, profile, usual, most))
    if priced is None or not last:
        return priced
    best = {s: priced.columns[s][:BEST] for s in first}
    return work.priced(assignments(last, structure.tiles, search.roles, profile, best, most)) or priced


@dataclass
class _Ranking:
    structure: Structure
    search: Search
    profile: Profile
    limits: DeviceLimits

    def priced(self, columns: Columns) -> Ranked | None:
        rows = len(next(iter(columns.values()))) if columns else 1
        unused = {s: np.zeros(rows, np.int64) for s in self.structure.tiles if s not in columns}
        launches = self._launches()
        if not launches:
            return None
        prices = [self._few_priced({**unused, **columns}, launch, rows) for launch in launches]
        total = np.concatenate(prices)
        order = np.argsort(total, kind="stable")
        order = order[np.isfinite(total[order])]
        if not len(order):
            return None
        kept = {s: np.tile(c, len(launches))[order] for s, c in columns.items()}
        which = np.repeat(np.arange(len(launches), dtype=np.float64), rows)[order]
        return Ranked(self.structure, self.search, kept, launches, which, total[order])

    def _launches(self) -> tuple[Launch, ...]:
        """Those that make a difference: schedules say how large a GPU's groups are, and no price knows their order."""
        launches = [x for x in self.search.launches() if x.group_size <= self.limits.group_size]
        sized = self.profile.kind == "gpu" and "global" not in self.search.roles.values()
        return tuple(launches[:1] if sized else launches)

    def _few_priced(self, env: Columns, launch: Launch, rows: int) -> Numbers:
        """The closed prices of a sample, then of what is like its best ones; infinite where none is known."""
        if rows <= 2 * SAMPLE:
            return self._seconds(env, launch, rows)
        found, known = np.full(rows, np.inf), np.zeros(rows, bool)
        values = np.stack([c for c in env.values() if (c != c[0]).any()]).astype(np.int32)
        new = np.arange(0, rows, -(-rows // SAMPLE))
        for _ in range(ROUNDS):
            found[new] = self._seconds({s: c[new] for s, c in env.items()}, launch, len(new))
            known[new] = True
            best = np.argsort(found, kind="stable")[:LIKE]
            like = [(values != values[:, [i]]).sum(axis=0, dtype=np.uint8) <= DIFFERENT for i in best]
            new = np.flatnonzero(np.logical_or.reduce(like) & ~known)
            if not len(new):
                break
        return found

    def _seconds(self, env: Columns, launch: Launch, rows: int) -> Numbers:
        """The closed price of every assignment, infinite where the device cannot run it."""
        works = self._counted(env, launch)
        fits: Bools = np.logical_and.reduce([np.broadcast_to(possible(w, self.limits), rows) for w in works])
        found = np.full(rows, np.inf)
        if not fits.any():
            return found
        if fits.mean() < MOSTLY:
            works, here = self._counted({s: c[fits] for s, c in env.items()}, launch), fits[fits]
        else:
            here = fits
        with np.errstate(all="ignore"):  # of what does not fit, nothing is asked
            price = sum((seconds(w, self.profile) for w in works), number(0))
        found[fits] = np.broadcast_to(price, len(here))[here]
        return found

    def _counted(self, env: Columns, launch: Launch) -> list[Work]:
        s = self.structure
        *before, last = counted(s.stage, s.schedule, env, launch, self.profile, self.limits)
        if s.tile is not None:
            return [*before, self._chained(s.tile, last, env, launch)]
        starts = [counted(stage, own, env, launch, self.profile, self.limits)[-1] for stage, own in s.starts]
        return [*before, one_after_the_other(*starts, last) if starts else last]

    def _chained(self, tile: InTiles, last: Work, env: Columns, launch: Launch) -> Work:
        """What computes tiles, and what goes on with each, whose accumulators are there all the time."""
        inner = counted_tile(tile.stage, tile.schedule, env, launch, self.profile, self.limits)
        total = one_after_the_other(inner, last)
        total.private = inner.private + last.private
        if tile.below:
            turns = product(d.count for d in digits_of(tile.schedule, env, frozenset()) if d.loop.kind == "sequential")
            total.barriers = total.barriers + 2 * turns
        return total


def cheapest(found: Sequence[Ranked]) -> float:
    """The lowest closed price of several structures."""
    return min((r.best for r in found), default=float("inf"))
