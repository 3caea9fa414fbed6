"""Ways of stages within blocks, one for each shape of a group, and those that go together.

Where groups take blocks in turn, what a stage has found is in registers of its items: all items of a group are all
stages' then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.block_structures import inside
from egglift.egraph.schedules.nest import digits_of
from egglift.egraph.schedules.ranking import Ranked, ranked
from egglift.egraph.schedules.ways import Way
from egglift.egraph.stages.stage import Dim, Stage
from egglift.ir.errors import EggliftError

SHAPES = 6  # shapes of groups of a stage and a way that are tried beside all others of the other stages
CLOSE = {"gpu": 1.5, "cpu": 4.0}  # times as slow as its best, by closed price, may a stage's ways be: a cache helps all
CLOSE_ALIKE = 6.0  # the same where all stages have as many items: then none waits for others


@dataclass(frozen=True)
class Option:
    """A way of a stage within blocks, with sizes, the items of a group in each dimension, and the price of it alone."""

    way: Way
    sizes: dict[str, int] = field(compare=False)
    items: tuple[int, ...]
    seconds: float


def options_of(stage: Stage, blocks: Sequence[Dim], profile: Profile, limits: DeviceLimits) -> list[Option]:
    """The cheapest of each way and shape of groups, by closed price."""
    found = list[Option]()
    for way, s in inside(stage, blocks, profile.kind):
        with suppress(EggliftError):
            if (r := ranked(s, profile, limits, several=False)) is not None:
                found += _of_each_shape(way, r, profile.kind)
    return sorted(found, key=lambda o: o.seconds)


def _of_each_shape(way: Way, r: Ranked, kind: str) -> Iterator[Option]:
    gpu, near = kind == "gpu", int(np.searchsorted(r.seconds, CLOSE_ALIKE * r.best, side="right"))
    s, columns = r.structure, {name: c[:near] for name, c in r.columns.items()}
    shape = [np.ones(near), np.ones(near)]
    for d in digits_of(s.schedule, columns, frozenset(d for q in s.stage.reductions for d in q.dims)) if gpu else ():
        if d.role == "item":
            shape[d.dim] = np.maximum(shape[d.dim], d.count)
    firsts = dict[tuple[int, ...], int]()
    for k in range(near):
        firsts.setdefault((int(shape[0][k]), int(shape[1][k])), k)
    for items, k in firsts.items():
        yield Option(way, r.sizes(k), items, float(r.seconds[k]))


def side_by_side(
    options: Sequence[Sequence[Option]], kind: str, count: int, in_turn: bool = False
) -> Iterator[tuple[Option, ...]]:
    """One option of each stage, so many times: those that take least, where items that a stage has not wait for it;
    then half as many of which all have as many items.

    in_turn: do groups take blocks in turn?  Then all have.
    """

    def price(picked: Sequence[Option]) -> float:
        items = prod(map(max, zip(*(o.items for o in picked), strict=True)))
        return float(sum(o.seconds * items / prod(o.items) for o in picked))

    alike = sorted(_alike(options), key=price)
    if in_turn:
        yield from alike[:count]
        return
    others = sorted(product(*(list(_near(own, CLOSE[kind])) for own in options)), key=price)[:count]
    yield from dict.fromkeys([*others, *alike[: count // 2]])


def _near(options: Sequence[Option], close: float) -> Iterator[Option]:
    """The first options of a stage, of each way."""
    count = Counter[Way]()
    for o in options:
        count[o.way] += 1
        if o.seconds <= close * options[0].seconds and count[o.way] <= SHAPES:
            yield o


def _alike(options: Sequence[Sequence[Option]]) -> Iterator[tuple[Option, ...]]:
    """The cheapest option of each stage for each shape of groups that all have."""
    by_items = [dict[tuple[int, ...], Option]() for _ in options]
    for known, own in zip(by_items, options, strict=True):
        for o in own:
            known.setdefault(o.items, o)
    first, *others = by_items
    for items in first:
        if all(items in known for known in others):
            yield tuple(known[items] for known in by_items)
