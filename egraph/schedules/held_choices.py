"""The best sizes of teams whose items hold rows in registers: a few are generated, and priced by the exact model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from math import gcd

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.account import Account
from egglift.egraph.schedules.choice import Choice
from egglift.egraph.schedules.held_rows import held_row, in_registers
from egglift.egraph.schedules.row_teams import RowStages, Sizes
from egglift.egraph.schedules.rows import Row
from egglift.egraph.stages.given import NotGiven
from egglift.egraph.stages.stage import number
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.check import type_of
from egglift.ir.deadline import require_time
from egglift.ir.errors import EggliftError
from egglift.ir.types import leaves

EACH = (32, 16, 8)  # elements of a row that an item has at most
LEAST, GROUP = 32, 128  # items of a team; of a group, where more than one team is in it
VECTOR = 16  # bytes that are read together
CHOICES, CLOSE = 2, 1.3  # sizes of teams that may be chosen, and times as slow as the best by the model


def held_choices(row: Row, profile: Profile, limits: DeviceLimits, several: bool = True) -> list[Choice]:
    """The cheapest first, of which there are none where rows are too long to be held.

    several: may it be one of some that are measured?  Else only the best is wanted.
    """
    try:
        x = held_row(row)
    except NotGiven:
        return []
    text = "\n".join([*map(text_of, x.starts), text_of(x.last), "  each row is held in registers"])
    found = [c for s in _sizes(x, limits) for c in _priced(row, x, s, text, profile, limits)]
    found.sort(key=lambda c: c.seconds)
    return [c for c in found if c.seconds <= CLOSE * found[0].seconds][: CHOICES if several else 1]


def _priced(
    row: Row, x: RowStages, sizes: Sizes, text: str, profile: Profile, limits: DeviceLimits
) -> Iterator[Choice]:
    """The choice of that size; none where the device cannot run it, or the code generator refuses."""
    require_time()
    with suppress(EggliftError):
        term, launch = in_registers(row, x, sizes), Launch(sizes.items * sizes.teams)
        price = estimate(compile_term(term, launch, limits), profile)
        said = tuple((name, n) for name, n in asdict(sizes).items() if name in ("items", "lanes", "teams"))
        yield Choice("held rows", term, said, launch, price, Account(text, ()))


def _sizes(x: RowStages, limits: DeviceLimits) -> Iterator[Sizes]:
    """Teams whose items have few elements each; small ones are several of a group."""
    size = max(scalar.size for _, scalar in leaves(type_of(x.last.body)))
    columns = number(x.columns)
    lanes = gcd(max(1, VECTOR // size), columns)
    most = (1 << (-(-columns // each) - 1).bit_length() for each in EACH)
    for items in dict.fromkeys(max(n, LEAST) for n in most):
        for teams in sorted({1, max(1, GROUP // items)}) if items <= limits.group_size else ():
            yield Sizes(-(-number(x.rows) // teams), items, lanes, teams)
