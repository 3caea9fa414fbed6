"""The best sizes of stages that read rows once: few, so each is generated, and the exact model prices it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import prod

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.model.estimate import Estimate, estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.one_reading import OneReading, Sizes, in_parts
from egglift.egraph.stages.stage import Stage, number
from egglift.ir.check import type_of
from egglift.ir.deadline import require_time
from egglift.ir.errors import EggliftError
from egglift.ir.patterns import Expr
from egglift.ir.types import leaves

ITEMS = (1024, 512, 256, 128, 64, 32)  # of a group
HELD = 64  # elements of a row that an item has at most
WAVES = {"gpu": (1, 2, 4), "cpu": (1, 4)}  # groups, or work-items of a CPU, for each compute unit
VECTOR = {"gpu": 16, "cpu": 256}  # bytes that are read together: on a CPU, as many as hide the time of a sum
FEW = 4  # rows that a part has at least


@dataclass(frozen=True)
class Reading:
    """Parts of a result, each of rows that are read once, under a launch and with its price; and what adds them."""

    term: Expr
    added: Stage
    sizes: Sizes
    launch: Launch
    estimate: Estimate


def readings(x: OneReading, profile: Profile, limits: DeviceLimits) -> list[Reading]:
    """The cheapest first; without those that the device cannot run or the code generator refuses."""
    found = []
    for sizes in _sizes(x, profile, limits):
        require_time()
        with suppress(EggliftError):
            term, added = in_parts(x, sizes, profile.kind)
            launch = Launch(sizes.items)
            price = estimate(compile_term(term, launch, limits), profile)
            found.append(Reading(term, added, sizes, launch, price))
    return sorted(found, key=lambda r: r.estimate.seconds)


def _sizes(x: OneReading, profile: Profile, limits: DeviceLimits) -> list[Sizes]:
    size = max(scalar.size for r in x.last.reductions for _, scalar in leaves(type_of(r.element)))
    lanes, columns, gpu = max(1, VECTOR[profile.kind] // size), number(x.columns), profile.kind == "gpu"
    fit = [n for n in ITEMS if n * lanes < 2 * columns and columns <= HELD * n and n <= limits.group_size]
    batch = prod(number(d) for d in x.last.dims if d != x.columns)
    parts = {max(1, w * profile.compute_units // batch) for w in WAVES[profile.kind]}
    usual = [n for n in sorted(parts) if n * FEW <= number(x.rows)]
    return [Sizes(n, items, lanes) for items in (fit[:3] if gpu else (1,)) for n in usual]
