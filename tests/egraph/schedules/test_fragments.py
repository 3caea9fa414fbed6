"""Products of doubles on matrix units: which programs have them, and that their kernels compute the program."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.measurement.expected_results import sample_inputs
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.schedules.account import account_of
from egglift.egraph.schedules.ranking import ranked
from egglift.egraph.schedules.structures import Structure, structures
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from tests.codegen.emulated_fragments import UNOPTIMISED, emulated
from tests.deep import every
from tests.harness import run

pytestmark = pytest.mark.short

H200 = presets()["nvidia_h200"]
#: what the emulation leaves of local memory
LIMITS = replace(H200.limits, local_bytes=24 << 10, half_functions=False)


def arr(name: str, *shape: int, t: Any = el.f64) -> Any:
    return el.array(name, t, shape)


def two_sums(a: Any, b: Any, c: Any) -> Any:
    """(A B)^2 + (A C)^2, element by element."""

    def dot(r: Any, v: Any) -> Any:
        return el.reduce(el.add, 0.0, el.map(lambda x, y: x * y, r, v))

    rows = el.zip(b.T, c.T)
    return a.map(lambda r: rows.map(lambda bc: dot(r, bc[0]) * dot(r, bc[0]) + dot(r, bc[1]) * dot(r, bc[1])))


#: programs with a product of doubles in them, by what is beside the plain one
PRODUCTS: dict[str, Callable[[], Any]] = {
    "whole tiles": lambda: arr("A", 64, 64) @ arr("B", 64, 32),
    "tiles that reach beyond the edges": lambda: arr("A", 67, 40) @ arr("B", 40, 21),
    "both transposed": lambda: arr("A", 48, 65).T @ arr("B", 33, 48).T,
    "a matrix by itself": lambda: arr("A", 50, 68).T @ arr("A", 50, 68),
    "computed factors": lambda: el.exp(arr("A", 64, 32)) @ (arr("B", 32, 16) * 2.0 + 1.0),
    "weights": lambda: (arr("A", 32, 66) * arr("w", 32)[:, None]).T @ arr("A", 32, 66),
    "what follows it": lambda: el.tanh(arr("A", 70, 32) @ arr("B", 32, 24) * 0.1) + arr("c", 24),
    "two sums of one loop": lambda: two_sums(arr("A", 66, 32), arr("B", 32, 20), arr("C", 32, 20)),
    "batches": lambda: arr("A", 3, 66, 32) @ arr("B", 3, 32, 17),
}


def fragments(program: Any, reassociate: bool = True) -> list[Structure]:
    stages = stages_of(as_program(program), reassociate).stages
    return [s for stage in stages for s in structures(stage, "gpu", reassociate) if s.sign.endswith("fragments")]


def point(s: Structure, limits: DeviceLimits = LIMITS, **sizes: int) -> Point | str:
    """Its kernels with sizes by kind of tile; or why there are none."""
    search = Search(s.term, s.tiles, H200, limits)
    wish = {**search.start(), **{n: sizes[t.kind] for n, t in s.tiles.items() if t.kind in sizes}}
    return search.point(wish, search.launches()[0])


SMALL = {"m": 16, "n": 16, "k": 16, "R": 2, "E": 1, "f": 0}
TALL = {"m": 64, "n": 8, "k": 32, "R": 4, "E": 1, "f": 1}
ACROSS = {"m": 16, "n": 16, "k": 16, "R": 2, "E": 2, "f": 1}


@pytest.mark.parametrize(("name", "sizes"), every(3, PRODUCTS, (SMALL, TALL, ACROSS)))
def test_kernels_of_fragments_compute_their_program(name: str, sizes: dict[str, int]) -> None:
    program = as_program(PRODUCTS[name]())
    data = sample_inputs(program, 0)
    (s,) = fragments(program)
    expected = np.asarray(evaluate(as_pattern(s.stage), data)).reshape(-1)  # as the stage writes it
    found = point(s, **sizes)
    assert isinstance(found, Point), found
    assert "multiply_f64_16x8x16(" in found.plan.source
    (actual,) = run(emulated(found.plan), {name: np.asarray(x) for name, x in data.items()}, UNOPTIMISED)
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-11)


def test_sums_in_order_and_of_other_types_have_none() -> None:
    assert fragments(PRODUCTS["whole tiles"]())
    assert not fragments(PRODUCTS["whole tiles"](), reassociate=False)
    assert not fragments(arr("A", 32, 64, t=el.f32) @ arr("B", 64, 32, t=el.f32))
    assert not fragments(arr("A", 32, 64) @ arr("v", 64))


@pytest.mark.parametrize("shape", [(33, 16, 4), (5, 16, 32), (33, 15, 32)])
def test_what_is_shorter_than_a_fragment_has_none(shape: tuple[int, int, int]) -> None:
    rows, steps, columns = shape
    assert not fragments(arr("A", rows, steps) @ arr("B", steps, columns))
    assert fragments(arr("A", 9, 16) @ arr("B", 16, 5))  # whose tiles reach beyond the edges


@pytest.mark.parametrize(
    ("limits", "sizes", "why"),
    [
        (
            replace(LIMITS, matrix_units=()),
            SMALL,
            "adds up products of f64 in f64, which this device has no matrix units for",
        ),
        (LIMITS, {**SMALL, "m": 8}, r"groups of 4 times a multiple of 8 work-items, not of \(4, 4, 1\)"),
        (LIMITS, {**SMALL, "R": 1}, "has 1 x 4 results of a work-item, and 16 steps"),
        (LIMITS, {**SMALL, "k": 8}, "has 2 x 4 results of a work-item, and 8 steps"),
    ],
)
def test_what_no_unit_can_do_is_refused(limits: DeviceLimits, sizes: dict[str, int], why: str) -> None:
    (s,) = fragments(PRODUCTS["whole tiles"]())
    assert re.search(why, str(point(s, limits, **sizes)))


def test_sums_that_are_no_products_have_none() -> None:
    """Manhattan distances: each step depends on a row and a column at once."""
    x, y = arr("A", 32, 64), arr("B", 32, 64)
    assert not fragments(x.map(lambda a: y.map(lambda b: el.abs(a - b).reduce(el.add, 0.0))))
    assert not fragments(x.map(lambda a: y.map(lambda b: (a * b * (a - b)).reduce(el.add, 0.0))))
    best = el.operator(lambda a, b: el.maximum(a, b), neutral=-np.inf)
    assert not fragments(x.map(lambda a: y.map(lambda b: (a * b).reduce(best, -np.inf))))
    assert [s.sign for s in fragments(PRODUCTS["batches"]())] == ["tile 12 fragments"]


def test_closed_prices_leave_out_what_the_device_cannot_do() -> None:
    (s,) = fragments(arr("A", 2048, 2048) @ arr("B", 2048, 2048))
    assert ranked(s, H200, replace(H200.limits, matrix_units=())) is None
    found = ranked(s, H200, H200.limits)
    assert found is not None
    for i in range(0, len(found.seconds), 50):
        sizes = found.sizes(i)
        assert isinstance(found.search.point(sizes, found.launch_of(i)), Point), sizes


def test_units_are_estimated_to_be_faster_than_multiply_adds() -> None:
    stage = stages_of(as_program(arr("A", 2048, 2048) @ arr("B", 2048, 2048)), True).stages[0]
    best = {s.sign: ranked(s, H200, H200.limits) for s in structures(stage, "gpu", True)}
    units, plain = best["tile 01 fragments"], best["tile 01 chunks"]
    assert units is not None and plain is not None
    assert units.best < plain.best


def test_the_kernel_of_a_product_on_matrix_units(request: pytest.FixtureRequest) -> None:
    (s,) = fragments(arr("A", 128, 64) @ arr("B", 64, 128))
    found = point(s, H200.limits, m=64, n=32, k=16, R=4, E=2, f=1)
    assert isinstance(found, Point)
    path = Path(__file__).with_name("product_on_matrix_units.cl")
    if request.config.getoption("--update-golden"):
        path.write_text(found.plan.source)
    assert found.plan.source == path.read_text(), "pytest --update-golden writes what it looks like now"


def test_an_account_says_who_multiplies() -> None:
    (s,) = fragments(PRODUCTS["whole tiles"]())
    assert "for 2 inside: on matrix units" in account_of(s.stage, s.sign, s.schedule, {}).text
