"""The best sizes of tiles that are reduced in registers: those that are best for the tiles alone, priced exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod

from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.sizes import Point
from egglift.egraph.schedules.ranking import Ranked, ranked
from egglift.egraph.schedules.reduced_tiles import ReducedTiles, in_pieces, reduced_structure
from egglift.egraph.schedules.structures import GRID, Structure
from egglift.egraph.stages.sharing import can_share
from egglift.egraph.stages.stage import Stage, number
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
class ReducedTile:
    """A program of tiles that are reduced, its sizes and price; added: what adds its pieces, if it is in pieces."""

    tiles: ReducedTiles
    structure: Structure
    point: Point
    pieces: int = 1
    added: Stage | None = None


def tile_choices(x: ReducedTiles, profile: Profile, limits: DeviceLimits, reassociate: bool) -> list[ReducedTile]:
    """The cheapest of each number of results that a work-item has, then the others, each by rising price; without those
    that the device cannot run or the code generator refuses."""
    found = [ReducedTile(x, s, point) for s, point in _points(x, profile, limits, reassociate)]
    for pieces in _pieces(x, profile) if can_share(x.last) and reassociate else ():
        parts, added = in_pieces(x, pieces)
        points = _points(parts, profile, limits, reassociate)
        found += [ReducedTile(parts, s, point, pieces, added) for s, point in points]
    found.sort(key=lambda t: t.point.estimate.seconds)
    first = {_results(dict(t.point.sizes)): t for t in reversed(found)}
    return sorted(found, key=lambda t: t is not first[_results(dict(t.point.sizes))])


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


def _points(
    x: ReducedTiles, profile: Profile, limits: DeviceLimits, reassociate: bool
) -> Iterator[tuple[Structure, Point]]:
    structure = reduced_structure(x, reassociate)
    with suppress(EggliftError):
        if structure is None or (order := ranked(structure, profile, limits)) is None:
            return
        for wish, launch in _smaller(order):
            require_time()
            point = order.search.point(wish, launch)
            if isinstance(point, Point):
                yield structure, point


def _smaller(order: Ranked) -> Iterator[tuple[dict[str, int], Launch]]:
    """The best assignments, and these with half as many rows, or columns, or both, of each work-item.

    A kernel that reduces its tiles needs more registers than one that writes them, and how many of them a device's
    compiler can spare, no price knows.
    """
    for i in order.varied(BEST):
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
