"""Programs of stages that count: a row each for a group, in local memory, or for a CPU's work-item."""

from __future__ import annotations

from contextlib import suppress
from math import prod

from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.stages.as_pattern import computed
from egglift.egraph.stages.stage import Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import element_type, merged
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError
from egglift.ir.patterns import Expr, Level
from egglift.ir.types import Scalar

TRIES = 4  # launches that are generated and priced
GROUPS, ITEMS = (8, 32), (1, 4)  # parts for each unit of a GPU, and of a CPU
SHORTEST = 1 << 12  # elements of a part, at least


def whole_counts(stage: Stage, profile: Profile, limits: DeviceLimits) -> list[Point]:
    """Programs that count whole rows, the cheapest first; none where a group has no place for so many counts."""
    with suppress(EggliftError):
        return Search(_rows(stage, profile.kind), {}, profile, limits).run(TRIES)[:1]
    return []


def lengths_of_parts(stage: Stage, profile: Profile) -> list[int]:
    """Lengths of parts that are worth trying; none where there are rows enough to go round."""
    n, rows = number(stage.dims[-1]), prod(map(number, stage.dims[:-1]))
    shares = [s * profile.compute_units for s in (GROUPS if profile.kind == "gpu" else ITEMS)]
    lengths = [max(SHORTEST, -(-n // max(1, s // rows))) for s in shares]
    return list(dict.fromkeys(c for c in lengths if 2 * c <= n))


def _rows(stage: Stage, kind: str) -> Expr:
    """Each row by a group, or by a work-item of a CPU."""
    outer, n = stage.dims[:-1], number(stage.dims[-1])
    assert stage.counts is not None
    whole = computed(stage.names, stage.dims, stage.body)
    rows = merged(whole, 0, len(outer)) if outer else p.Split(n, whole)
    pattern = p.Count if isinstance(type_of(stage.body), Scalar) else p.Sums
    body = pattern(stage.counts.length, stage.counts.type, p.Arg(element_type(rows)))
    found: Expr = p.Map(body, rows, Level("workgroup" if kind == "gpu" else "global", 0))
    for d in reversed(outer[1:]):
        found = p.Split(d.extent, found)
    return found if outer else p.Join(found)
