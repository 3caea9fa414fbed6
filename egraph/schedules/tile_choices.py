"""The best sizes of tiles that are reduced in registers: those that are best for the tiles alone, priced exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod

from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.sizes import Point
from egglift.egraph.schedules.account import Account, account_of, joined
from egglift.egraph.schedules.choice import KEPT, Choice, Found
from egglift.egraph.schedules.ranking import Ranked, ranked
from egglift.egraph.schedules.reduced_tiles import ReducedTiles, in_pieces, reduced_structure
from egglift.egraph.schedules.structures import GRID, Structure
from egglift.egraph.stages.sharing import can_share
from egglift.egraph.stages.stage import Stage, number
from egglift.egraph.stages.stage_text import text_of
from egglift.ir import patterns as p
from egglift.ir import tile_kinds as kinds
from egglift.ir.deadline import require_time
from egglift.ir.errors import EggliftError

#: kinds of symbols of a tile: its blocks of rows and of columns, and what says how much of these is a work-item's own
BLOCKS = (kinds.BLOCK_ROWS.letter, kinds.BLOCK_COLUMNS.letter)
OWN = (kinds.CHUNKS.letter, kinds.CHUNK.letter)
BEST = 2  # assignments that are generated, each with smaller ones
TILE, SHORTEST = 64, 256  # rows that a group is reckoned to take, and columns that a piece has at least
WAVES = (1, 4)  # groups for each compute unit that pieces aim at


@dataclass(frozen=True)
class TileWay:
    """Tiles, all of them or in pieces that `added` adds up, with their sizes ranked."""

    tiles: ReducedTiles
    order: Ranked
    pieces: int = 1
    added: Stage | None = None


def tile_ways(x: ReducedTiles, profile: Profile, limits: DeviceLimits, reassociate: bool) -> list[TileWay]:
    """All of the tiles, and in pieces where they are few; those that the device can run."""
    found = list(_ranked(x, profile, limits, reassociate))
    for pieces in _pieces(x, profile) if can_share(x.last) and reassociate else ():
        parts, added = in_pieces(x, pieces)
        found += [replace(w, pieces=pieces, added=added) for w in _ranked(parts, profile, limits, reassociate)]
    return found


def tile_choices(ways: Sequence[TileWay], several: bool = True) -> list[Found]:
    """The cheapest of each number of results that a work-item has, then the others, each by rising price; without those
    that the code generator refuses.  several: are several wanted, or the cheapest alone?
    """
    found = [f for w in ways for f in _found(w, several)]
    found.sort(key=lambda t: t.choice.seconds)
    first = {_results(dict(t.choice.sizes)): t for t in reversed(found)}
    return sorted(found, key=lambda t: t is not first[_results(dict(t.choice.sizes))])[:KEPT]


def _found(way: TileWay, several: bool) -> Iterator[Found]:
    for point in _points(way, several):
        choice = _choice(way.tiles, way.order.structure, point)
        if way.added is None:
            yield Found(choice)
        else:
            yield Found(choice, way.pieces, way.added, {way.tiles.last.name: p.To("global", point.term)})


def _choice(x: ReducedTiles, s: Structure, point: Point) -> Choice:
    loops = account_of(x.first, s.sign, s.schedule, dict(point.sizes))
    account = joined([loops, Account(f"{text_of(x.last)}\n  {x}", ())])
    return Choice(s.sign, point.term, point.sizes, point.launch, point.estimate, account)


def _results(sizes: Mapping[str, int]) -> int:
    """Results of a tile that one work-item has."""
    return prod(n for name, n in sizes.items() if name[0] in OWN)


def _pieces(x: ReducedTiles, profile: Profile) -> list[int]:
    """Into how many pieces: as many as fill the device with groups, of enough columns each."""
    if len(x.last.dims) > GRID - 1:
        return []  # pieces need a dimension of the grid
    groups = -(-number(x.rows) // TILE) * prod(number(d) for d in x.last.dims if d != x.rows)
    if groups > WAVES[0] * profile.compute_units:
        return []
    wanted = {1 << max(0, (w * profile.compute_units // groups).bit_length() - 1) for w in WAVES}
    return sorted(z for z in wanted if z > 1 and number(x.columns) % z == 0 and number(x.columns) >= z * SHORTEST)


def _ranked(x: ReducedTiles, profile: Profile, limits: DeviceLimits, reassociate: bool) -> Iterator[TileWay]:
    with suppress(EggliftError):
        structure = reduced_structure(x, reassociate)
        if structure is not None and (order := ranked(structure, profile, limits)) is not None:
            yield TileWay(x, order)


def _points(way: TileWay, several: bool) -> Iterator[Point]:
    for wish, launch in _smaller(way.order, BEST if several else 1):
        require_time()
        point = way.order.search.point(wish, launch)
        if isinstance(point, Point):
            yield point


def _smaller(order: Ranked, best: int) -> Iterator[tuple[dict[str, int], Launch]]:
    """The `best` assignments, and these with half as many rows, or columns, or both, of each work-item.

    A kernel that reduces its tiles needs more registers than one that writes them, and how many of them a device's
    compiler can spare, no price knows.
    """
    for i in order.varied(best):
        for sides in ((), (0,), (1,), (0, 1)):
            if (sizes := _halved(order.sizes(i), sides)) is not None:
                yield sizes, order.launch_of(i)


def _halved(sizes: Mapping[str, int], sides: Sequence[int]) -> dict[str, int] | None:
    """Sizes with half as many rows (side 0) or columns (side 1) of each work-item; None where it has one only."""
    found = dict(sizes)
    for side in sides:
        own = next((name for name in (f"{letter}{side}" for letter in OWN) if sizes[name] > 1), None)
        if own is None:
            return None
        for name in (own, f"{BLOCKS[side]}{side}"):
            found[name] //= 2
    return found
