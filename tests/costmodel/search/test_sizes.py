"""Sizes for tile symbols: legal, priced, and different enough to be worth measuring."""

import egglift as el
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Search, roles, varied
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.check import type_of
from egglift.ir.traverse import tile_symbols

GPU = presets()["nvidia_h200"]


def search(n: int = 100_003) -> Search:
    graph = saturate(el.as_program(el.array("x", el.f32, n).reduce(el.add, 0.0))).graph
    best = Extractor(graph, weights(GPU)).run()[0]
    return Search(best.term, graph.symbols, GPU, DeviceLimits(compute_units=132, warp=32))


def test_every_point_is_a_program_without_symbols() -> None:
    points = search().run(8)
    assert points
    for point in points:
        assert not tile_symbols(point.term)
        assert str(type_of(point.term)) == "f32"


def test_points_come_cheapest_first_and_are_different_programs() -> None:
    points = search().run(20)
    assert [p.estimate.seconds for p in points] == sorted(p.estimate.seconds for p in points)
    assert len({(p.plan.source, *(k.global_size for k in p.plan.kernels)) for p in points}) == len(points)


def test_searching_further_never_finds_worse() -> None:
    s = search()
    few = s.run(3)[0].estimate.seconds
    assert s.run(20)[0].estimate.seconds <= few


def test_a_symbol_knows_which_level_it_shares_out() -> None:
    s = search(1 << 22)
    kinds = {s.tiles[name].kind: role for name, role in roles(s.term).items() if name in s.tiles}
    assert kinds["w"] == "vec"
    assert "workgroup" in roles(s.term).values()


def test_a_varied_sample_starts_with_the_best_and_repeats_little() -> None:
    points = search().run(30)
    sample = varied(points, 5)
    assert sample[0] is points[0]
    assert len({p.sizes for p in sample}) == len(sample) == 5
    assert all(p.estimate.seconds <= 1.3 * points[0].estimate.seconds for p in sample)


def test_sizes_never_exceed_what_they_cut() -> None:
    for point in search(3).run(8):
        assert all(size >= 1 for _, size in point.sizes)
