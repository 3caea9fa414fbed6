"""Into how many pieces the reductions of a stage are shared out, where its results alone do not fill a device."""

from __future__ import annotations

from math import prod

from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.stages.sharing import longest
from egglift.egraph.stages.stage import Stage, number

WAVES = (2, 8)  # work-groups for each compute unit that a shared reduction aims at
ONE_RESULT = (2, 8, 32)  # where parts are added by one group: units that are done early take what is left
MORE_WAVES = (16, 32)  # where a GPU has some, but too few for units to come out even
SHORTEST, SHORTEST_OF_MORE = 16, 512  # elements of a piece, at least
TILE = 64  # of results, for each dimension, that a group is reckoned to compute
ROW = 512  # of results of the last dimension, those that a CPU's work-item goes through


def numbers_of_pieces(stage: Stage, profile: Profile) -> list[int]:
    """As many as fill the device with groups, of enough elements each; none where results do that.

    A stage that reduces.  Powers of two, rising.
    """
    n = longest(stage.reductions).extent
    assert isinstance(n, int)
    units, groups = profile.compute_units, _groups(stage, profile)
    if groups < WAVES[0] * units:
        waves, shortest = (WAVES if stage.dims or profile.kind == "cpu" else ONE_RESULT), SHORTEST
    elif groups < WAVES[1] * units and profile.kind == "gpu":
        waves, shortest = MORE_WAVES, SHORTEST_OF_MORE
    else:
        return []
    wanted = {1 << max(0, (w * units // groups).bit_length() - 1) for w in waves}
    return sorted(z for z in wanted if 2 <= z <= n // shortest)


def _groups(stage: Stage, profile: Profile) -> int:
    """Of how many groups the results are, of a tile or, on a CPU, of a row each."""
    extents = [number(d) for d in stage.dims]
    tiles = [TILE] * (len(extents) - 1) + [TILE if profile.kind == "gpu" else ROW]
    groups = prod(-(-extent // tile) for extent, tile in zip(extents, tiles, strict=False))
    if profile.kind == "cpu":
        return groups
    return max(groups, -(-prod(extents) // TILE**2))  # a tile may go along several short dimensions
