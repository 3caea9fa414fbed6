"""What the model knows of products in tiles: the order of the sizes that were measured on a device is its order."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.model.estimate import Estimate
from egglift.costmodel.model.operation_counts import tally
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.schedules.rows import row_structures, rows_of
from egglift.egraph.schedules.structures import Structure, structures
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.ir.lifting import as_program
from tests.egraph.schedules.test_rows import standardised
from tests.egraph.stages.programs import add_up, arr

GPU = presets()["nvidia_h200"]


@cache
def tiles() -> Structure:
    """A product of 4096 in tiles, whose reduction goes in chunks."""
    (stage,) = stages_of(as_program(arr("A", 4096, 4096) @ arr("B", 4096, 4096))).stages
    return next(s for s in structures(stage, "gpu", True) if s.sign == "tile 01 chunks")


def point(s: Structure, **sizes: int) -> Point:
    search = Search(s.term, s.tiles, GPU, DeviceLimits(group_size=1024, local_bytes=48 << 10))
    found = search.point({**search.start(), **sizes}, search.launches()[0])
    assert isinstance(found, Point), found
    return found


def price(**sizes: int) -> Estimate:
    usual: dict[str, Any] = {"m0": 128, "n1": 128, "q0": 2, "q1": 2, "c0": 4, "c1": 4, "k2": 16, "f0": 1, "a0": 4}
    return point(tiles(), **{**usual, "a1": 4, **sizes}).estimate


def test_fewer_items_with_more_results_pay() -> None:
    assert price(n1=256, q1=4).seconds < price().seconds < price(q1=1, n1=64).seconds


def test_two_buffers_cost_about_what_registers_ahead_cost() -> None:
    assert price(f0=2, a0=0, a1=0).seconds == pytest.approx(price(a0=0, a1=0).seconds, rel=0.15)


def test_a_lone_group_that_waits_has_nothing_else_to_do() -> None:
    few, many = {"m0": 128, "n1": 256, "q1": 4}, {"m0": 64, "n1": 64}
    assert price(f0=0, **few).seconds > 1.1 * price(f0=1, **few).seconds
    assert price(f0=0, **many).seconds < 1.1 * price(f0=1, **many).seconds


def test_addresses_of_unrolled_loops_are_computed_once() -> None:
    long, short = (tally(point(tiles(), f0=2, k2=k).plan.kernels[0], GPU).issue for k in (16, 4))
    assert long < short


def test_what_is_read_ahead_is_in_flight_and_nobody_waits() -> None:
    ahead, waiting = (tally(point(tiles(), f0=f).plan.kernels[0], GPU) for f in (1, 0))
    assert ahead.flight >= waiting.flight
    assert ahead.waits < waiting.waits / 10


def test_a_row_that_a_group_reads_again_comes_from_memory_once() -> None:
    (row,) = rows_of(stages_of(as_program(arr("A", 4096, 16384).map(lambda r: standardised(r, 16384)))))
    kernel = next(iter(row_structures(row, True)))
    wide, narrow = (point(kernel, l1=lanes, w1=4).estimate for lanes in (1024, 64))
    once = 2 * 4 * 4096 * 16384
    assert wide.kernels[0].bytes == pytest.approx(once, rel=0.01)  # few rows are under way: the cache holds them
    assert narrow.kernels[0].bytes == pytest.approx(1.5 * once, rel=0.01)


def test_lanes_take_groups_as_large_as_they_say() -> None:
    (stage,) = stages_of(as_program(arr("A", 512, 16384).map(add_up))).stages
    rows = next(s for s in structures(stage, "gpu", True) if s.sign == "tile 0 row")
    assert point(rows, l1=512, w1=4).plan.kernels[0].local_size == (512,)


def test_a_row_for_each_item_is_slow_even_unrolled() -> None:
    (stage,) = stages_of(as_program(arr("A", 1 << 22, 32).map(add_up))).stages
    found = {s.sign: s for s in structures(stage, "gpu", True)}
    together = point(found["tile 0 chunks"], n0=128, q0=1, c0=1, k1=32, a0=1, f0=0)
    apart = point(found["tile 0 whole"], n0=128, q0=1, c0=1)
    assert apart.estimate.seconds > 1.4 * together.estimate.seconds
    assert isinstance(together.launch, Launch)


def test_tiles_of_warp_groups_are_in_the_order_of_their_times() -> None:
    """Times on an H200, of products in tf32; what units read of local memory tells the first two apart."""
    rounded = stages_of(
        as_program(arr("A", 4096, 4096) @ arr("B", 4096, 4096)), by=Partitioning(again=256, rounded=True)
    )
    s = next(s for s in structures(rounded.stages[-1], "gpu", True) if s.sign == "tile 01 warp groups")
    search = Search(s.term, s.tiles, GPU, GPU.limits)
    times = {(128, 256, 1, 4): 367e-6, (256, 128, 2, 4): 400e-6, (128, 128, 1, 5): 414e-6, (64, 256, 1, 5): 480e-6}
    found = []
    for (m, n, q, buffers), measured in times.items():
        at = search.point({"m0": m, "n1": n, "k2": 32, "q0": q, "F0": buffers}, search.launches()[0])
        assert isinstance(at, Point) and at.estimate.seconds == pytest.approx(measured, rel=0.4)
        assert tally(at.plan.kernels[0], GPU).fed == 4 * 4096**3 * (1 / 64 + 1 / n)
        found.append(at.estimate.seconds)
    assert found == sorted(found)


def test_five_warps_of_a_unit_take_as_long_as_eight() -> None:
    """576 x 4096 x 4096: 1152 groups are nine warps for each of 132 units, 576 of twice the results are five."""
    (stage,) = stages_of(as_program(arr("A", 576, 4096) @ arr("B", 4096, 4096))).stages
    s = next(s for s in structures(stage, "gpu", True) if s.sign == "tile 01 chunks")
    usual: dict[str, Any] = {"q0": 2, "q1": 2, "c0": 4, "c1": 4, "k2": 16, "f0": 1, "a0": 4, "a1": 4, "n1": 64}
    nine, five = point(s, **usual, m0=32), point(s, **{**usual, "q0": 4}, m0=64)
    assert five.estimate.seconds > 1.15 * nine.estimate.seconds
