"""The best sizes of stages that read rows once: few, so each is generated, and the exact model prices it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import gcd, prod

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.model.estimate import Estimate, estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.account import Account
from egglift.egraph.schedules.choice import Choice, Found
from egglift.egraph.schedules.one_reading import OneReading
from egglift.egraph.schedules.row_teams import Sizes
from egglift.egraph.schedules.rows_in_turn import RowParts, in_parts
from egglift.egraph.stages.stage import number
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.check import type_of
from egglift.ir.deadline import require_time
from egglift.ir.errors import EggliftError
from egglift.ir.types import leaves

ITEMS = (1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1)  # of a team
GROUP = 256  # items of a group, where more than one team is in it
TRIED = 4  # sizes of teams
CHOICES, CLOSE = 3, 1.3  # sizes of teams that may be chosen, and times as slow as the best by the model
PARTIAL = 8 << 10  # bytes of local memory that are left for partial results of rows
MOST = 96  # elements of a row that an item has at most
WAVES = {"gpu": (1, 2, 4), "cpu": (1, 4)}  # groups, or work-items of a CPU, for each compute unit
VECTOR = {"gpu": 16, "cpu": 256}  # bytes that are read together: on a CPU, as many as hide the time of a sum
FEW = 4  # rows that a team has at least
EVEN = 0.9  # of the parts, if these are then of one length
MANY = 32  # elements of a row that an item has, from which on they may be too many for its registers
#: what items hold in registers: of a row, and of what all rows need
KEPT, ALL_KEPT = ((True, True), (True, False), (False, False)), ((True, True),)


@dataclass(frozen=True)
class Reading:
    """Rows that are read once, in parts, under a launch and with its price."""

    parts: RowParts
    sizes: Sizes
    launch: Launch
    estimate: Estimate


def readings(x: OneReading, profile: Profile, limits: DeviceLimits, several: bool = True) -> list[Reading]:
    """The cheapest first; without those that the device cannot run or the code generator refuses.

    several: are all looked at?  Else one of each size of teams, and then all of the best of these sizes.
    """
    sizes = _sizes(x, profile, limits)
    first = sizes if several else list({s.items: s for s in reversed(sizes)}.values())
    found = [r for s in first for r in _priced(x, s, profile, limits)]
    found.sort(key=lambda r: r.estimate.seconds)
    if found and not several:
        others = [s for s in sizes if s.items == found[0].sizes.items and s not in first]
        found += [r for s in others for r in _priced(x, s, profile, limits)]
    return sorted(found, key=lambda r: r.estimate.seconds)


def _priced(x: OneReading, sizes: Sizes, profile: Profile, limits: DeviceLimits) -> Iterator[Reading]:
    """The reading of that size; none where the device cannot run it, or the code generator refuses."""
    require_time()
    with suppress(EggliftError):
        parts = in_parts(x, sizes, profile.kind)
        launch = Launch(sizes.items * sizes.teams)
        yield Reading(parts, sizes, launch, estimate(compile_term(parts.kernel, launch, limits), profile))


def reading_choices(x: OneReading, profile: Profile, limits: DeviceLimits, several: bool = True) -> list[Found]:
    """The best of each size of teams as choices, those near the best of all: what the model errs about in one, shows
    beside another.  On a CPU none if something is wanted of rows: one item would hold it for all."""
    if x.wanted and profile.kind == "cpu":
        return []
    account = Account("\n".join([*map(text_of, x.starts), f"{text_of(x.last)}\n  {x}"]), ())
    found = []
    ranked = readings(x, profile, limits, several)
    best = {r.sizes.items if profile.kind == "gpu" else r.sizes.parts: r for r in reversed(ranked)}
    near = [r for r in ranked if r in best.values() and r.estimate.seconds <= CLOSE * ranked[0].estimate.seconds]
    for r in near[:CHOICES]:
        sizes = tuple((name, int(n)) for name, n in sorted(asdict(r.sizes).items()))
        choice = Choice("one reading", r.parts.kernel, sizes, r.launch, r.estimate, account)
        found.append(Found(choice, 1, r.parts.added, r.parts.arrays, x.wanted))
    return found


def _sizes(x: OneReading, profile: Profile, limits: DeviceLimits) -> list[Sizes]:
    elements = [type_of(r.element) for r in x.last.reductions]
    size = max(scalar.size for t in elements for _, scalar in leaves(t))
    lanes, columns = max(1, VECTOR[profile.kind] // size), number(x.columns)
    if profile.kind == "cpu":
        return [Sizes(n, 1, lanes) for n in _parts(x, profile, 1)]
    lanes = gcd(lanes, columns)  # what begins elsewhere is not read by vectors
    sums = columns * sum(scalar.size for t in elements for _, scalar in leaves(t))
    found = []
    fit = [n for n in ITEMS if n * lanes < 2 * columns and columns <= MOST * n and n <= limits.group_size]
    for items in dict.fromkeys(_even(n, columns // lanes) for n in fit[:TRIED]):
        most = max(1, min(GROUP // items, (limits.local_bytes - PARTIAL) // sums))
        teams = 1 << (most.bit_length() - 1)
        for held, beside in KEPT if columns > MANY * items else ALL_KEPT:
            found += [Sizes(n, items, lanes, teams, held, beside) for n in _parts(x, profile, teams)]
    return found


def _even(items: int, columns: int) -> int:
    """So many items, or some fewer of which each has as many columns, or vectors of these."""
    return next((n for n in range(items, items // 2, -1) if columns % n == 0), items)


def _parts(x: OneReading, profile: Profile, teams: int) -> list[int]:
    """As many as fill the device, of as many rows each, if some fewer are."""
    batch = prod(number(d) for d in x.last.dims if d != x.columns)
    wanted = {max(1, w * profile.compute_units // batch) for w in WAVES[profile.kind]}
    rows = number(x.rows)
    even = (next((m for m in range(n, int(EVEN * n), -1) if rows % (m * teams) == 0), n) for n in wanted)
    return [n for n in sorted(even) if n * teams * FEW <= rows]
