"""Grids of windows in the e-graph: what is found, that it means the same, and how large the graph is."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks.programs.catalogue import Entry, entries
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.rules.phases import Limits
from egglift.egraph.saturation.saturate import check_domains, saturate
from egglift.egraph.soundness.check_laws import drawn
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.notation import as_expr
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.traverse import instantiate
from tests.deep import every
from tests.egraph.graph.test_membership import leaves_of
from tests.programs import values_for

STENCILS = (
    "jacobi_1d",
    "heat_1d",
    "game_of_life",
    "gaussian_blur",
    "sobel",
    "gradient",
    "convolution_17",
    "jacobi_2d",
    "stencil_2d",
    "srad",
    "hotspot_2d",
    "jacobi_3d",
    "poisson",
    "heat_3d",
    "hotspot_3d",
    "acoustic",
)
ENTRIES = [e for e in entries() if e.name.split("-")[0] in STENCILS]


def grid(name: str, *shape: int) -> Any:
    return el.array(name, el.i32, shape)


def cross(w: Any) -> Any:
    return w[0, 1] + 2 * w[1, 0] - w[1, 2] + 3 * w[2, 1]


def three_points(mode: Any = "mirror") -> Any:
    return el.stencil(lambda w: w[0] - 2 * w[1] + 3 * w[2], 3, 1, 1, 1, mode, grid("x", 39))


def several_rows() -> Any:
    both = el.zip(grid("x", 38).pad(2, 1, "wrap").slide(4, 1), grid("y", 38), grid("z", 38))
    return both.map(lambda w, a, b: w[0] * a - w[3] * b)


def nine_points() -> Any:
    return el.stencil(lambda w: w.join().reduce(el.maximum), (3, 3), 1, 1, 1, "clamp", grid("x", 35, 38))


def other_sizes() -> Any:
    f = lambda w: w[0, 0] - 5 * w[1, 3] + w[1, 1]  # noqa: E731
    return el.stencil(f, (2, 4), 1, [0, 2], [1, 1], ["wrap", ("constant", 3)], grid("x", 35, 38))


def three_grids() -> Any:
    x, y, z = (grid(name, 34, 37) for name in "xyz")
    return el.stencil(lambda w, a, b: cross(w) + a * b, (3, 3), 1, 1, 1, "clamp", x, y, z)


def windows_of_two_grids() -> Any:
    windows = (el.slide2d(3, 1, el.pad2d(1, 1, "wrap", grid(name, 34, 37))) for name in "xy")
    return el.map_nd(lambda v, w: cross(v) - w[1, 1], 2, *windows)


def windows_of_pairs() -> Any:
    pairs = el.map(el.zip, grid("x", 34, 37), grid("y", 34, 37))
    return el.stencil(lambda w: w[0, 1][0] * w[2, 2][1] - w[1, 1][0], (3, 3), 1, 1, 1, "mirror", pairs)


def two_outputs() -> Any:
    return el.stencil(lambda w: (w[0, 1] - w[2, 1], w[1, 0] - w[1, 2]), (3, 3), 1, 1, 1, "clamp", grid("x", 36, 34))


def in_space() -> Any:
    x, y = grid("x", 34, 33, 35), grid("y", 34, 33, 35)
    return el.stencil(lambda w, q: w[0, 1, 1] - 2 * w[1, 2, 0] + w[2, 1, 2] * q, (3, 3, 3), 1, 1, 1, "clamp", x, y)


def two_steps() -> Any:
    once = el.stencil(cross, (3, 3), 1, 1, 1, "clamp", grid("x", 34, 37))
    return el.stencil(cross, (3, 3), 1, 1, 1, "clamp", once)


def separable() -> Any:
    bell = np.array([1, 4, 6, 4, 1], np.int32)
    return el.convolution2d(np.outer(bell, bell), "clamp", grid("x", 35, 36))


def large_window() -> Any:
    return el.convolution2d(grid("w", 7, 7), "mirror", grid("x", 35, 36))


def by_a_function() -> Any:
    return three_points(lambda i, n: (i + n) % n)


PROGRAMS: dict[str, Callable[[], Any]] = {
    f.__name__: f
    for f in (
        three_points,
        several_rows,
        nine_points,
        other_sizes,
        three_grids,
        windows_of_two_grids,
        windows_of_pairs,
        two_outputs,
        in_space,
        two_steps,
        separable,
        large_window,
        by_a_function,
    )
}


# ---------------------------------------------------------------------------------------- the graph


@pytest.mark.parametrize("e", every(6, ENTRIES), ids=lambda e: e.name)
def test_every_stencil_saturates_within_the_limits(e: Entry) -> None:
    program = as_expr(e.program(*next(s for s in e.sizes if min(s) > 60)))
    saturated = saturate(program, limits=Limits(seconds=30), check=True)
    assert saturated.stopped == "fixpoint"
    assert saturated.rows < 10_000


@pytest.mark.parametrize("name", every(2, PROGRAMS))
def test_members_compute_what_the_stencil_computes(name: str) -> None:
    e = as_expr(PROGRAMS[name]())
    inputs = values_for(e)
    expected = leaves_of(evaluate(e, inputs))
    rng, graph = Random(name), saturate(e, limits=Limits(seconds=30), check=True).graph
    different: set[Expr] = set()
    for _ in range(12):
        member = instantiate(drawn(graph, rng, 14), {s: rng.randint(1, 5) for s in graph.symbols})
        type_of(member)
        different.add(member)
        used = {name: inputs[name] for name in inputs_of(member)}
        assert leaves_of(evaluate(member, used)) == expected
    assert len(different) > 3


@pytest.mark.parametrize("name", every(3, PROGRAMS))
def test_bodies_are_applied_to_what_they_take(name: str) -> None:
    check_domains(as_expr(PROGRAMS[name]()), limits=Limits(seconds=30))


# ---------------------------------------------------------------------------------------- what is found


def structures(name: str, profile: str = "nvidia_h200") -> list[str]:
    """The signatures of what is found for a program of the catalogue, at a size that fills a device."""
    (e,) = (e for e in ENTRIES if e.name == name)
    graph = saturate(as_expr(e.program(*e.sizes[-1])), limits=Limits(seconds=30)).graph
    return [f.sign for f in Extractor(graph, weights(presets()[profile])).run()]


@pytest.mark.parametrize("name", ["jacobi_2d-9", "hotspot_2d", "gradient", "jacobi_3d-7", "acoustic"])
def test_tiles_are_found_in_local_memory_and_in_registers(name: str) -> None:
    found = structures(name)
    assert any("[lc]" in sign for sign in found) and any("[pc]" in sign for sign in found)


def test_items_of_the_grid_may_compute_several_outputs_each() -> None:
    """G: a level of the grid; e and v: rows and columns of a work-item; L: a level of a work-group."""
    assert any(sign.startswith("G1e") and "Gv" in sign and "L" not in sign for sign in structures("jacobi_2d-9"))


def test_separated_weights_are_two_kernels() -> None:
    assert "[g{" in structures("convolution_17-gaussian")[0]
    assert not any("[g{" in sign for sign in structures("convolution_17-general"))


def test_two_convolutions_of_one_size_keep_their_own_weights() -> None:
    """The query of `separate` must not be one that egglog joins wrongly: it then takes the other's factors too."""
    a, b = (el.array(name, el.i32, (12, 12)) for name in "ab")
    weights = [np.outer(u, v).astype("int32") for u, v in (([1, 2, 1], [1, 2, 1]), ([1, 0, 3], [5, 1, 1]))]
    e = as_expr(el.tuple(*(el.convolution2d(w, "clamp", x) for w, x in zip(weights, (a, b)))))
    saturated, inputs, rng = saturate(e, laws=["separate"]), values_for(e), Random(1)
    assert {law.name: law.matches for law in saturated.laws} == {"separate": 2}
    expected = evaluate(e, inputs)
    for _ in range(20):
        found = evaluate(drawn(saturated.graph, rng, 20), inputs)
        assert all(np.array_equal(one, other) for one, other in zip(expected, found))
