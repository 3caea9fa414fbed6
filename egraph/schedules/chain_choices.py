"""The best sizes of chains of contractions: ranked by closed price, the few best priced exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.sizes import Point
from egglift.egraph.schedules.account import Account, account_of, joined
from egglift.egraph.schedules.chain_structure import chain_structure
from egglift.egraph.schedules.choice import KEPT, Choice
from egglift.egraph.schedules.ranking import Ranked, ranked
from egglift.egraph.schedules.structures import Structure
from egglift.egraph.schedules.tile_chains import TileChain
from egglift.egraph.stages.stage_text import text_of
from egglift.ir import tile_kinds as kinds
from egglift.ir.deadline import require_time
from egglift.ir.errors import EggliftError

GENERATED = 12  # shapes of tiles that are generated: how many registers a device's compiler spares, no price knows
#: kinds of symbols that say what shape tiles have; the others are chosen for each shape
SHAPES = (kinds.BLOCK_ROWS, kinds.BLOCK_COLUMNS, kinds.CHUNKS, kinds.CHUNK)


def chain_choices(x: TileChain, profile: Profile, limits: DeviceLimits) -> list[Choice]:
    """The cheapest of several shapes of tiles; without those that the device cannot run or the generator refuses."""
    found = []
    for structure, point in _points(x, profile, limits):
        assert structure.tile is not None
        sizes = dict(point.sizes)
        loops = account_of(structure.tile.stage, structure.sign, structure.tile.schedule, sizes)
        account = joined([loops, Account(f"{text_of(x.last)}\n  {x}", ())])
        found.append(Choice(structure.sign, point.term, point.sizes, point.launch, point.estimate, account))
    return sorted(found, key=lambda c: c.seconds)[:KEPT]


def _points(x: TileChain, profile: Profile, limits: DeviceLimits) -> Iterator[tuple[Structure, Point]]:
    with suppress(EggliftError):
        structure = chain_structure(x)
        if structure is None or (order := ranked(structure, profile, limits)) is None:
            return
        for i in _shapes(order):
            require_time()
            point = order.search.point(order.sizes(i), order.launch_of(i))
            if isinstance(point, Point):
                yield structure, point


def _shapes(order: Ranked) -> list[int]:
    """The best assignment of each shape of tiles, the cheapest first."""
    letters = {kind.letter for kind in SHAPES}
    best: dict[tuple[int, ...], int] = {}
    for i in range(len(order.seconds)):
        best.setdefault(tuple(n for name, n in order.sizes(i).items() if name[0] in letters), i)
        if len(best) == GENERATED:
            break
    return list(best.values())
