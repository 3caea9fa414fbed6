"""The half of a symmetric result in blocks, which are then laid out twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from egglift.egraph.schedules.choice import Parts
from egglift.egraph.schedules.ranking import Ranked
from egglift.egraph.stages.mirrored import can_mirror, mirrored, said
from egglift.egraph.stages.stage import Stage, number
from egglift.egraph.stages.symmetry import symmetric_dims

SIDES, BLOCKS = (64, 128), 4  # of blocks of a symmetric result, and how many each way it has at least


def halves(stage: Stage, reassociate: bool, ranked: Callable[[Stage], list[Ranked]]) -> Iterator[Parts]:
    """Two stages in place of one: A A^T as its blocks on and above the diagonal, and these laid out both ways.

    None where the result is not known to be symmetric.  ranked: schedules of a stage, the cheapest first.
    """
    pair = symmetric_dims(stage, reassociate) if stage.reductions else None
    if pair is None or not can_mirror(stage, pair):
        return
    for side in SIDES:
        if number(pair[0]) >= BLOCKS * side:
            parts, added = mirrored(stage, pair, side)
            first, last = ranked(parts), ranked(added)
            if first and last:
                yield Parts(f"half by {side}", parts, added, first, last, said(stage, pair, side))
