"""Random candidates: what a model that ranks well must tell apart, beside those that the search proposes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.sizes import Point, Search, varied
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.saturation.saturate import saturate

#: points that are drawn until one has a price
DRAWS = 20
#: points of each structure that the search prices, and how many of them it proposes
TRIES, PROPOSED = 16, 2


def random_points(searches: Sequence[tuple[str, Search]], rng: Random) -> Iterator[tuple[str, Point]]:
    """Random points of random structures, for ever; structures that have none are left out."""
    alive = list(searches)
    while alive:
        name, search = pick = rng.choice(alive)
        for _ in range(DRAWS):
            wish: dict[str, int] = {}
            for symbol in search.order:
                wish[symbol] = rng.choice(search.options(symbol, wish))
            point = search.point(wish, rng.choice(search.launches()))
            if isinstance(point, Point):
                yield name, point
                break
        else:
            alive.remove(pick)


def sampled(program: Any, profile: Profile, limits: Any, count: int, seed: int = 0) -> list[tuple[str, Point]]:
    """What the search proposes for a program, and random candidates up to `count` that differ: structure, point."""
    graph = saturate(program).graph
    structures = Extractor(graph, weights(profile)).run()
    searches = [(f.sign, Search(f.term, graph.symbols, profile, limits)) for f in structures]
    points: dict[object, tuple[str, Point]] = {}
    for name, search in searches:
        for p in varied(search.run(TRIES), PROPOSED):
            points.setdefault(kernels(p), (name, p))
    for (name, p), _ in zip(random_points(searches, Random(seed)), range(5 * count), strict=False):
        if len(points) >= count:
            break
        points.setdefault(kernels(p), (name, p))
    return list(points.values())


def kernels(p: Point) -> object:
    """What a point's launches are, whatever its sizes are called."""
    return tuple((k.source, k.global_size, k.local_size) for k in p.plan.kernels)
