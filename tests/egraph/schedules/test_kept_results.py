"""Elements that are short arrays: a group gathers them in local memory, and writes them in the order of memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, Plan
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.schedules.account import account_of, laws_of
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.ranking import ranked
from egglift.egraph.schedules.structures import Structure, structures
from egglift.egraph.schedules.ways import ALONE, GATHERED, WAYS
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.stage import Stage
from egglift.ir import patterns as p
from egglift.ir.errors import EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.traverse import instantiate
from tests.deep import every
from tests.egraph.staged import exact_inputs, only_stage, result, same, sized
from tests.egraph.stages.programs import Value, add_up, arr
from tests.fuzz.guarded import run_all
from tests.oclgrind import LIMITS, examine

pytestmark = pytest.mark.short

H200 = presets()["nvidia_h200"]


def stacked(count: int, *lengths: int, t: Any = el.f32) -> Value:
    """So many multiples of each element of an array."""
    x = arr("x", *lengths, t=t)
    return np.stack([x + x * k for k in range(count)], axis=-1)


def rotated(n: int) -> Value:
    """Vectors of three, crossed with one."""
    v, by = arr("v", n, 3), arr("u", 3)
    return v + np.cross(np.broadcast_to(by, (n, 3)), v)


def stage_of(name: str) -> Stage:
    """The only stage of a program; of "two by three", its six numbers as two rows of three."""
    stage = only_stage(PROGRAMS[name]())
    return replace(stage, body=p.Split(3, stage.body)) if name == "two by three" else stage


PROGRAMS: dict[str, Callable[[], Value]] = {
    **{f"{c} of {n}": lambda c=c, n=n: stacked(c, n) for c, n in ((2, 33), (3, 37), (4, 29), (5, 31), (3, 64), (8, 9))},
    **{f"3 of {t}": lambda t=t: stacked(3, 41, t=getattr(el, t)) for t in ("u8", "f16", "f64", "i32")},
    "rows of pixels": lambda: stacked(3, 5, 7),
    "vectors": lambda: rotated(35),
    "two by three": lambda: stacked(6, 19),
}


def of_way(stage: Stage, name: str) -> list[Structure]:
    return [s for s in structures(stage, "gpu", True) if s.sign.endswith(f" {name}")]


@pytest.mark.parametrize("way", ("gathered", "alone"))
@pytest.mark.parametrize("name", PROGRAMS)
def test_gathered_elements_are_those_of_the_stage(name: str, way: str) -> None:
    stage, rng = stage_of(name), Random(name)
    found, meant = of_way(stage, way), as_pattern(stage)
    assert found
    for s in found:
        for _ in range(2):
            assert same(meant, sized(s, rng), exact_inputs(meant)), s.sign


def plans(name: str, limits: DeviceLimits, count: int) -> list[Plan]:
    """Kernels of both ways, their sizes at random: vectors of each width, with padded rows and without."""
    rng, found = Random(name), list[Plan]()
    for s in (s for way in ("gathered", "alone") for s in of_way(stage_of(name), way)):
        search = Search(s.term, s.tiles, H200, limits)
        for _ in range(count):
            options = {"w": (2, 4, 8), "l": (4, 8, 16), "a": (0, 1, 4)}
            sizes = {symbol: rng.choice(options[symbol[0]]) for symbol in search.order}
            found.append(compile_term(instantiate(s.term, sizes), Launch(64, rng.choice((1 << 20, 2))), limits))
    assert found
    return found


@pytest.mark.parametrize("name", every(5, PROGRAMS))
def test_kernels_that_gather_compute_their_program(name: str) -> None:
    device, program = open_device("pocl"), as_pattern(stage_of(name))
    inputs = exact_inputs(program)
    (expected,) = result(program, inputs)
    made = plans(name, device.limits, 3)
    for plan, actual in zip(made, run_all(device, made, {k: flatten(v) for k, v in inputs.items()}), strict=True):
        assert not isinstance(actual, EggliftError), f"{actual}\n{plan.source}"
        np.testing.assert_allclose(actual[0].reshape(expected.shape), expected, 1e-3, 1e-3, err_msg=plan.source)


@pytest.mark.parametrize("name", ["3 of 37", "4 of 29", "two by three"])
def test_kernels_that_gather_have_no_races(name: str) -> None:
    program = as_pattern(stage_of(name))
    inputs = exact_inputs(program)
    (expected,) = result(program, inputs)
    made = plans(name, LIMITS, 2)
    given = {k: flatten(v) for k, v in inputs.items()}
    for plan, report in zip(made, examine([(x, given) for x in made]), strict=True):
        assert report.clean, f"{report}\n{plan.source}"
        np.testing.assert_allclose(report.outputs[0].reshape(expected.shape), expected, 1e-4, 1e-4)


def test_the_kernel_that_gathers_elements_of_three(request: pytest.FixtureRequest) -> None:
    (s,) = of_way(only_stage(stacked(3, 1 << 10)), "gathered")
    search = Search(s.term, s.tiles, H200, H200.limits)
    found = search.point(search.fitting({"w0": 4, "l0": 32, "a1": 0}), search.launches()[0])
    assert isinstance(found, Point), found
    path = Path(__file__).with_name("gathered_elements_of_three.cl")
    if request.config.getoption("--update-golden"):
        path.write_text(found.plan.source)
    assert found.plan.source == path.read_text(), "pytest --update-golden writes what it looks like now"


# ---------------------------------------------------------------------------------------- when, and at what price


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
def test_gathered_elements_are_the_cheapest(count: int) -> None:
    best = scheduled(as_program(stacked(count, 1 << 22)), H200, H200.limits, True)[0]
    assert best.sign.endswith("gathered")
    floor = 4 * (1 + count) * (1 << 22) / H200.bandwidth
    assert best.seconds < 1.4 * floor + H200.launch


@pytest.mark.parametrize("count", [2, 3, 4])
def test_both_models_agree_on_elements_that_are_arrays(count: int) -> None:
    stage = only_stage(stacked(count, 1 << 22))
    for s in (*of_way(stage, "gathered"), *of_way(stage, "alone")):
        found = ranked(s, H200, H200.limits)
        assert found is not None
        point = found.search.point(found.sizes(0), found.launch_of(0))
        assert isinstance(point, Point), point
        assert found.best == pytest.approx(point.estimate.seconds, rel=0.02), s.sign


def test_scalars_and_sums_are_not_gathered() -> None:
    for program in (arr("x", 64) + 1, arr("A", 8, 64).map(add_up)):
        assert not {s.sign.split()[-1] for s in structures(only_stage(program), "gpu", True)} & {"gathered", "alone"}
    assert not {"gathered", "alone"} & set(WAYS["cpu"])
    assert WAYS["gpu"]["gathered"] == GATHERED and WAYS["gpu"]["alone"] == ALONE


def test_an_account_says_that_results_are_kept() -> None:
    (s,) = of_way(only_stage(stacked(3, 64)), "gathered")
    assert laws_of(s.schedule) == ("split", "interchange", "keep-result")
    assert "keep results in local memory" in account_of(s.stage, s.sign, s.schedule, {}).text
