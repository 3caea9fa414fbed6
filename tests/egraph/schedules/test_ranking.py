"""All assignments of a structure, ranked by closed prices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Point, Search
from egglift.costmodel.search.space import assignments
from egglift.egraph.schedules.ranking import BEST, MOST, Ranked, ranked
from egglift.egraph.schedules.structures import structures
from egglift.egraph.schedules.ways import CPU_BOTH, CPU_LANES, CPU_MOVED, CPU_PACKED, CPU_SWEPT, CPU_WHOLE
from egglift.ir.patterns import Expr
from tests.deep import every, sampled
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import add_up, arr, product

PROFILES = ("nvidia_h200", "pocl_cpu")


def all_ranked(program: Any, name: str, limits: DeviceLimits | None = None) -> list[Ranked]:
    profile = presets()[name]
    found = (ranked(s, profile, limits or profile.limits) for s in structures(only_stage(program), profile.kind, True))
    return [r for r in found if r is not None]


@pytest.mark.parametrize("name", PROFILES)
def test_all_assignments_are_looked_at(name: str) -> None:
    profile = presets()[name]
    for r in all_ranked(arr("A", 1024, 512).T.map(add_up), name, DeviceLimits(1 << 20, 1 << 30, 1 << 30)):
        order = [s for s in r.search.order if s[0] not in "af"]  # those come last, for the best of the others
        tiles = r.structure.tiles
        space = assignments(order, tiles, r.search.roles, profile, {}, MOST)
        if len(order) == len(r.search.order):
            seen = set(zip(*(r.columns[s].tolist() for s in order), strict=True))
            assert seen <= set(zip(*(space[s].tolist() for s in order), strict=True))
            assert len(r.seconds) <= len(r.launches) * len(space[order[0]])
            if name == "nvidia_h200":
                assert len(seen) == len(space[order[0]])


@pytest.mark.parametrize("name", PROFILES)
def test_the_cheapest_come_first_and_have_kernels(name: str) -> None:
    for r in all_ranked(product(256, 96, 128), name):
        assert (np.diff(r.seconds) >= 0).all()
        for i in r.varied(5):
            assert isinstance(r.search.point(r.sizes(i), r.launch_of(i)), Point)


def test_each_way_to_fetch_ahead_has_a_best_assignment() -> None:
    (chunks,) = (r for r in all_ranked(product(256, 256, 256), "nvidia_h200") if r.structure.sign == "tile 01 chunks")
    assert sorted(chunks.sizes(i)["f0"] for i in chunks.fetched()) == [0, 1, 2]
    assert chunks.fetched()[0] == 0
    assert len(chunks.points(chunks.fetched())) == 3


def test_a_sample_leads_to_the_cheapest(monkeypatch: pytest.MonkeyPatch) -> None:
    of_all = all_ranked(product(256, 96, 128), "nvidia_h200")
    monkeypatch.setattr("egglift.egraph.schedules.ranking.SAMPLE", 64)
    of_few = all_ranked(product(256, 96, 128), "nvidia_h200")
    assert sum(len(r.seconds) for r in of_few) < sum(len(r.seconds) for r in of_all)
    for few, others in zip(of_few, of_all, strict=True):
        assert few.best <= 1.01 * others.best


def test_what_fetches_nothing_ahead_has_no_such_ways() -> None:
    found = [r for r in all_ranked(arr("A", 256, 128).map(add_up), "nvidia_h200") if "f0" not in r.columns]
    assert found and all(r.fetched() == [] for r in found)


def test_no_group_is_larger_than_the_device_allows() -> None:
    limits = DeviceLimits(group_size=256, local_bytes=4 << 10, compute_units=132, warp=32, branch_barriers=True)
    found = all_ranked(product(256, 256, 256), "nvidia_h200", limits)
    assert found
    for r in found:
        for i in (0, len(r.seconds) // 2, len(r.seconds) - 1):
            point = r.search.point(r.sizes(i), r.launch_of(i))
            assert isinstance(point, Point), point
            (kernel,) = point.plan.kernels
            assert np.prod(kernel.local_size) <= 256
            assert kernel.local_bytes <= 4 << 10


def test_a_device_without_room_has_no_assignments() -> None:
    limits = DeviceLimits(group_size=1, local_bytes=16, compute_units=1, warp=1)
    signs = {r.structure.sign for r in all_ranked(arr("A", 256, 256).T, "nvidia_h200", limits)}
    assert signs == set()


def test_what_is_generated_differs() -> None:
    for r in all_ranked(product(256, 96, 128), "nvidia_h200"):
        chosen = r.varied(6)
        assert chosen[0] == 0
        assert len(set(chosen)) == len(chosen) <= 6
        assert len(chosen) == 6 or r.seconds[len(chosen) : BEST].size == 0 or r.seconds[len(chosen)] > 1.3 * r.best


def test_what_is_generated_first_has_blocks_of_other_shapes() -> None:
    for r in all_ranked(product(1024, 1024, 512), "nvidia_h200"):
        if {"m0", "n1"} <= set(r.columns):
            near = r.seconds <= 1.3 * r.best
            count = len(set(zip(r.columns["m0"][near].tolist(), r.columns["n1"][near].tolist(), strict=True)))
            shapes = [(r.sizes(i)["m0"], r.sizes(i)["n1"]) for i in r.varied(4)]
            assert len(set(shapes)) == min(count, 4), r.structure.sign


LONG: dict[str, Callable[[], Any]] = {
    "product": lambda: product(512, 256, 512),
    "sums of rows": lambda: arr("A", 2048, 512).map(add_up),
}


@pytest.mark.parametrize(("program", "name"), every(4, LONG, PROFILES))
def test_the_search_of_all_is_no_worse_than_a_descent(program: str, name: str) -> None:
    profile = presets()[name]
    for r in all_ranked(LONG[program](), name):
        points = [r.search.point(r.sizes(i), r.launch_of(i)) for i in r.varied(4)]
        best = min(x.estimate.seconds for x in points if isinstance(x, Point))
        descent = Search(_term(r), r.structure.tiles, profile, profile.limits).run(14)
        assert not descent or best <= 1.05 * descent[0].estimate.seconds, r.structure.sign


def _term(r: Ranked) -> Expr:
    return r.structure.term


#: on a CPU: blocks of columns that reach beyond an edge, rows that are columns, pages, pairs that are reduced
CPU_PROGRAMS: dict[str, Callable[[], Any]] = {
    "product": lambda: product(96, 64, 80),
    "product of a transposed": lambda: arr("A", 64, 96).T @ arr("B", 64, 128),
    "batch of products": lambda: el.map(lambda a, b: a @ b, arr("A", 6, 32, 48), arr("B", 6, 48, 64)),
    "sums of columns": lambda: arr("A", 512, 2048).T.map(add_up),
    "sums of rows": lambda: arr("A", 256, 512).map(add_up),
    "places of most": lambda: arr("A", 256, 512).map(el.argmax),
    "place of most": lambda: el.argmax(arr("v", 1 << 14)),
    "transposition": lambda: arr("A", 512, 1024).T,
}


def some_priced(r: Ranked, most: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of the first choice and of some others: as the closed form has them, and as the exact model does."""
    rows = np.random.default_rng(0).permutation(np.arange(1, len(r.seconds)))[: most - 1]
    points = {int(i): r.search.point(r.sizes(int(i)), r.launch_of(int(i))) for i in (0, *rows)}
    exact = {i: x.estimate.seconds for i, x in points.items() if isinstance(x, Point)}
    return r.seconds[list(exact)], np.array([*exact.values()])


#: those that take longest; their kinds are seen by others, too
LONGER = ("batch of products", "product of a transposed", "places of most")


@pytest.mark.parametrize("name", sampled(CPU_PROGRAMS, lambda name: name not in LONGER))
def test_closed_prices_of_a_cpu_are_exact(name: str) -> None:
    for r in all_ranked(CPU_PROGRAMS[name](), "pocl_cpu", DeviceLimits(compute_units=2)):
        closed, exact = some_priced(r)
        assert np.median(closed / exact) == pytest.approx(1, abs=0.05), r.structure.sign
        slower = exact[:, None] > 1.02 * exact  # one than the other, and not about as fast
        assert not slower.any() or (closed[:, None] > closed)[slower].mean() > 0.9, r.structure.sign
        assert exact[0] <= 1.05 * exact.min(), r.structure.sign


def test_every_way_of_a_cpu_has_closed_prices() -> None:
    found = {r.structure.sign for make in CPU_PROGRAMS.values() for r in all_ranked(make(), "pocl_cpu")}
    for way in (CPU_WHOLE, CPU_PACKED, CPU_BOTH, CPU_SWEPT, CPU_LANES, CPU_MOVED):
        assert any(sign.endswith(way.name) for sign in found), way.name
