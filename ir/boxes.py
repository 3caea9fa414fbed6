"""Where the boxes of a picture lie: layers from top to bottom, what belongs together below each other.

Layers by the longest way from a leaf, edges over several layers by way points, orders by the means of neighbours
(Sugiyama's method).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
Point = tuple[float, float]

GAP, RISE, WAY = 18.0, 26.0, 10.0  # between neighbours, between layers, for an edge that passes by
SWEEPS = 6


@dataclass
class Place:
    """A box or a way point: its size, its layer, and its upper left corner once it has one."""

    width: float
    height: float
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    #: neighbours, and where an edge meets them: 0.5 for the middle from left to right
    above: list[tuple[Place, float]] = field(default_factory=list, repr=False)
    below: list[tuple[Place, float]] = field(default_factory=list, repr=False)

    def at(self, part: float) -> float:
        """So far from left to right: 0.5 is the middle."""
        return self.x + self.width * part


@dataclass
class Laid(Generic[K]):
    """Boxes with their places, the ways of edges from (box, box, number of the edge) and the size of the whole."""

    places: dict[K, Place]
    ways: dict[tuple[K, K, int], list[Point]]
    width: float
    height: float


def laid(sizes: dict[K, tuple[float, float]], parts: dict[K, Sequence[K]]) -> Laid[K]:
    """Places for boxes of these sizes; parts: what each is made of, which lies above it; parts come first in both."""
    places = {k: Place(*size) for k, size in sizes.items()}
    for k, kids in parts.items():
        places[k].layer = 1 + max((places[kid].layer for kid in kids), default=-1)
    for k in places:  # a leaf stands right above who reads it
        users = [places[u].layer for u, kids in parts.items() if k in kids]
        if not parts[k] and users:
            places[k].layer = min(users) - 1
    layers: list[list[Place]] = [[] for _ in range(1 + max(q.layer for q in places.values()))]
    chains = {}
    for k, kids in parts.items():
        for i, kid in enumerate(kids):
            chains[kid, k, i] = _chain(places[kid], places[k], (i + 1) / (len(kids) + 1))
    for q in [*places.values(), *(way for chain in chains.values() for way in chain[1:-1])]:
        layers[q.layer].append(q)
    width, height = _placed(layers)
    ways = {edge: _way(chain, (edge[2] + 1) / (len(parts[edge[1]]) + 1)) for edge, chain in chains.items()}
    return Laid(places, ways, width, height)


def _chain(start: Place, end: Place, part: float) -> list[Place]:
    """An edge with a way point in every layer between; it meets its end at that part of its width."""
    chain = [start, *(Place(WAY, 0.0, layer) for layer in range(start.layer + 1, end.layer)), end]
    for a, b in pairwise(chain):
        a.below.append((b, part if b is end else 0.5))
        b.above.append((a, 0.5))
    return chain


def _way(chain: Sequence[Place], part: float) -> list[Point]:
    """The points of an edge."""
    start, *between, end = chain
    inner = [(q.at(0.5), y) for q in between for y in (q.y, q.y + q.height)]
    return [(start.at(0.5), start.y + start.height), *inner, (end.at(part), end.y)]


def _placed(layers: Sequence[list[Place]]) -> Point:
    """Gives all a corner; width and height of the whole."""
    y = 0.0
    for layer in layers:
        tallest, x = max(q.height for q in layer), 0.0
        for q in layer:
            q.x, q.y, q.height = x, y, q.height or tallest
            x += q.width + GAP
        y += tallest + RISE
    for sweep in range(SWEEPS):  # the last one goes up
        for layer in reversed(layers) if sweep % 2 else layers:
            _align(layer, down=sweep % 2 == 0)
    everything = [q for layer in layers for q in layer]
    left = min(q.x for q in everything)
    for q in everything:
        q.x -= left
    return max(q.at(1.0) for q in everything), y - RISE


def _align(layer: list[Place], down: bool) -> None:
    """Orders a layer by the means of its neighbours above (or below), and moves each as near as there is room."""
    wish = {}
    for q in layer:
        near = q.above if down else q.below
        wish[id(q)] = sum(n.at(part) for n, part in near) / len(near) if near else q.at(0.5)
    layer.sort(key=lambda q: wish[id(q)])
    edge = float("-inf")
    for q in layer:
        q.x = max(edge, wish[id(q)] - q.width / 2)
        edge = q.at(1.0) + GAP
    back = sum(q.at(0.5) - wish[id(q)] for q in layer) / len(layer)
    for q in layer:
        q.x -= back
