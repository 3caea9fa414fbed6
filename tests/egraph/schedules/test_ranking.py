"""All assignments of a structure, ranked by closed prices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Point, Search
from egglift.costmodel.search.space import assignments
from egglift.egraph.schedules.ranking import BEST, MOST, Ranked, ranked
from egglift.egraph.schedules.structures import structures
from egglift.ir.patterns import Expr
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


@pytest.mark.parametrize("name", PROFILES)
def test_the_search_of_all_is_no_worse_than_a_descent(name: str) -> None:
    profile = presets()[name]
    for program in (product(512, 256, 512), arr("A", 2048, 512).map(add_up)):
        for r in all_ranked(program, name):
            points = [r.search.point(r.sizes(i), r.launch_of(i)) for i in r.varied(4)]
            best = min(x.estimate.seconds for x in points if isinstance(x, Point))
            descent = Search(_term(r), r.structure.tiles, profile, profile.limits).run(14)
            assert not descent or best <= 1.05 * descent[0].estimate.seconds, r.structure.sign


def _term(r: Ranked) -> Expr:
    return r.structure.term
