"""Sizes for structures: which assignments are tried, and that they fit."""

from __future__ import annotations

import pytest

import egglift as el
from egglift.codegen.imperative import Launch, Limits
from egglift.costmodel.profile import presets
from egglift.costmodel.search import Point, Search
from egglift.egraph.extract import Extractor
from egglift.egraph.saturate import saturate
from egglift.egraph.weights import weights
from egglift.ir.lifting import as_program
from egglift.ir.traverse import tile_symbols


def searches(n: int, preset: str) -> list[Search]:
    """The structures of a sum of squares of n numbers."""
    x = el.array("x", el.f32, n)
    graph = saturate(as_program(x.map(lambda v: v * v).reduce(el.add, 0.0))).graph
    profile = presets()[preset]
    return [Search(f.term, graph.symbols, profile, Limits()) for f in Extractor(graph, weights(profile)).run()]


@pytest.mark.parametrize("preset", ["pocl_cpu", "nvidia_h200"])
@pytest.mark.parametrize("n", [3, 70, 1000, 1 << 20])
def test_every_structure_has_a_price_at_its_first_sizes(n: int, preset: str) -> None:
    for search in searches(n, preset):
        point = search.point(search.start(), search.launches()[0])
        assert isinstance(point, Point), f"{search.term}: {point}"
        assert not tile_symbols(point.term)


@pytest.mark.parametrize("preset", ["pocl_cpu", "nvidia_h200"])
def test_sizes_are_cut_to_the_lengths_they_tile_and_lanes_to_powers_of_two(preset: str) -> None:
    for search in searches(23, preset):
        for wish in (5, 7, 1000):
            point = search.point(dict.fromkeys(search.order, wish), Launch(32, 4))
            assert isinstance(point, Point), f"{search.term}: {point}"
            for name, size in point.sizes:
                assert 1 <= size <= 23
                if search.tiles[name].kind in ("v", "w"):
                    assert size & (size - 1) == 0


def test_points_are_sorted_by_price_and_none_is_priced_twice() -> None:
    for search in searches(1 << 16, "pocl_cpu"):
        points = search.run(tries=8)
        assert [p.estimate.seconds for p in points] == sorted(p.estimate.seconds for p in points)
        assert len({(p.sizes, p.launch) for p in points}) == len(points)
        assert len(search.tried) <= 8
