"""The best sizes of chains of contractions: ranked by closed price, the few best priced exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, repeat
from math import inf, prod

from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.sizes import Point
from egglift.egraph.schedules.account import Account, account_of, joined
from egglift.egraph.schedules.bounds import operations_seconds
from egglift.egraph.schedules.chain_ends import ends_of
from egglift.egraph.schedules.chain_parts import arrays_of
from egglift.egraph.schedules.chain_pieces import Pieces, in_pieces
from egglift.egraph.schedules.chain_structure import chain_structures, may_be_on_units, parts_structures
from egglift.egraph.schedules.choice import KEPT, Choice, Found
from egglift.egraph.schedules.ranking import Ranked, ranked
from egglift.egraph.schedules.structures import Structure
from egglift.egraph.schedules.tile_chains import TileChain
from egglift.egraph.stages.stage import number
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.deadline import require_time
from egglift.ir.errors import EggliftError

GENERATED = (6, 3)  # shapes of tiles of the best way, and of others, that are generated: of registers no price knows
CLOSE = 1.3  # times as slow as the best by closed price may ways be that are generated, ...
FAR = 1.3  # ... and the best of them as kernels apart
TILE, SHORTEST = 64, 128  # rows that a group is reckoned to take, and columns that a piece has at least
WAVES = (1, 2, 4)  # groups for each compute unit that pieces aim at


@dataclass(frozen=True)
class _Way:
    """A chain, all of it or its pieces, with its sizes ranked."""

    chain: TileChain
    order: Ranked
    pieces: Pieces | None = None
    count: int = 1


def chain_choices(
    x: TileChain, profile: Profile, limits: DeviceLimits, apart: float = inf, several: bool = True
) -> list[Found]:
    """The cheapest of each shape of a work-item's tiles, by rising price; without those that the device cannot run or
    the code generator refuses.  None if kernels of their own, which take `apart` seconds, are far better.

    several: are several wanted, or the cheapest by closed price alone?
    """
    most = (FAR if several else 1.0) * (1 if ends_of(x) is None else 2) * apart  # half of the tiles may be left out
    if not may_be_on_units(x) and operations_seconds((x.tile, x.last), profile) > most:
        return []
    ways = sorted(_ways(x, profile, limits), key=lambda w: w.order.best)
    best = ways[0].order.best if ways else 0.0
    if best > most:
        return []
    near = [w for w in ways if w.order.best <= (CLOSE if several else 1) * best]
    counts = chain(GENERATED[:1], repeat(GENERATED[1])) if several else repeat(1)
    found = [f for w, count in zip(near, counts, strict=False) for f in _found(w, count)]
    found.sort(key=lambda f: f.choice.seconds)
    first = {(f.pieces, _shape(dict(f.choice.sizes))): f for f in reversed(found)}
    return sorted(first.values(), key=lambda f: f.choice.seconds)[: 2 * KEPT]


def _ways(x: TileChain, profile: Profile, limits: DeviceLimits) -> Iterator[_Way]:
    yield from (_Way(x, order) for order in _ranked(chain_structures(x), profile, limits))
    for count in _numbers_of_pieces(x, profile):
        require_time()
        with suppress(EggliftError):
            pieces = in_pieces(x, count)
            for order in _ranked(parts_structures(pieces.chain), profile, limits):
                yield _Way(pieces.chain, order, pieces, count)


def _ranked(structures: Iterable[Structure], profile: Profile, limits: DeviceLimits) -> Iterator[Ranked]:
    for s in structures:
        with suppress(EggliftError):
            if order := ranked(s, profile, limits):
                yield order


def _numbers_of_pieces(x: TileChain, profile: Profile) -> list[int]:
    """As many as fill the device with groups, of enough columns each."""
    batch = prod(number(d) for d in x.last.dims if d not in (x.rows, x.columns))
    groups = -(-number(x.rows) // TILE) * batch
    wanted = {1 << max(0, (w * profile.compute_units // groups).bit_length() - 1) for w in WAVES}
    n = number(x.middle)
    return sorted(z for z in wanted if z > 1 and n % z == 0 and n >= z * SHORTEST)


def _found(way: _Way, count: int) -> Iterator[Found]:
    s = way.order.structure
    assert s.tile is not None
    for i in _shapes(way.order, count):
        require_time()
        point = way.order.search.point(way.order.sizes(i), way.order.launch_of(i))
        if not isinstance(point, Point):
            continue
        loops = account_of(s.tile.stage, s.sign, s.tile.schedule, dict(point.sizes))
        account = joined([loops, Account(f"{text_of(way.chain.last)}\n  {way.chain}", ())])
        choice = Choice(s.sign, point.term, point.sizes, point.launch, point.estimate, account)
        if way.pieces is None:
            yield Found(choice)
        else:
            yield Found(choice, way.count, way.pieces.added, arrays_of(way.pieces, point.term))


def _shapes(order: Ranked, count: int) -> list[int]:
    """The best assignment of each shape of tiles, the cheapest first."""
    best: dict[tuple[int, ...], int] = {}
    for i in range(len(order.seconds)):
        best.setdefault(_shape(order.sizes(i)), i)
        if len(best) == count or order.seconds[i] > CLOSE * order.best:
            break
    return list(best.values())


def _shape(sizes: dict[str, int]) -> tuple[int, ...]:
    """Of a tile, and of what a work-item has of it; the same of the result."""
    rows, columns = (sizes.get(f"c{i}", 1) * sizes.get(f"q{i}", 1) for i in (0, 1))
    return sizes["m0"], sizes["n1"], sizes["n5"], rows, columns
