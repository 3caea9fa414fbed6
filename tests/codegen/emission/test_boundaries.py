"""How grids go on beyond their edges, in compiled stencils: every mode, as written and in overlapped tiles."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.rules.phases import Limits
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.patterns import Expr
from egglift.ir.traverse import instantiate, tile_symbols
from tests.deep import every
from tests.harness import compute

SHAPE = (37, 36, 35)


def beyond(i: Any, n: int) -> Any:
    """Every other element, backwards from the other end."""
    return el.where((i >= 0) & (i < n), i, n - 1 - 2 * el.abs(i % 5))


MODES: dict[str, Any] = {
    "clamp": "clamp",
    "mirror": "mirror",
    "wrap": "wrap",
    "constant": ("constant", 7),
    "function": beyond,
}


def stencil(dims: int, mode: Any) -> el.Value:
    """Far and near neighbours along every axis, each with a weight of its own."""

    def f(w: Any) -> Any:
        total = w[(2,) * dims]
        for axis in range(dims):
            for k in (0, 1, 3, 4):
                total = total + (5 * axis + k + 2) * w[tuple(k if a == axis else 2 for a in range(dims))]
        return total

    return el.stencil(f, (5,) * dims, 1, 2, 2, mode, el.array("x", el.i32, SHAPE[:dims]))


def given(dims: int) -> Any:
    return np.random.default_rng(dims).integers(-9, 9, SHAPE[:dims]).astype(np.int32)


def assert_right(e: el.Value, term: Expr, dims: int, launch: Launch) -> None:
    x = given(dims)
    assert (compute(term, launch, x=x) == el.interpret(e, x=x).ravel()).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_a_grid_goes_on_as_it_should(dims: int, mode: str) -> None:
    e = stencil(dims, MODES[mode])
    assert_right(e, el.as_program(e), dims, Launch(16))


@pytest.mark.parametrize("modes", [["wrap", "clamp"], ["mirror", ("constant", 3)], [beyond, "wrap"]])
def test_rows_and_columns_go_on_each_in_its_own_way(modes: list[Any]) -> None:
    e = stencil(2, modes)
    assert_right(e, el.as_program(e), 2, Launch(16))


@pytest.mark.parametrize(("dims", "mode", "profile"), every(3, (1, 2), (*MODES, "mixed"), ("nvidia_h200", "pocl_cpu")))
def test_tiles_go_on_as_the_grid_does(dims: int, mode: str, profile: str) -> None:
    e = stencil(dims, MODES.get(mode, ["wrap", "mirror"][:dims]))
    rng, term = Random(mode + profile), el.as_program(e)
    found = rng.choice(Extractor(saturate(term, limits=Limits(seconds=30)).graph, weights(presets()[profile])).run())
    sizes = {s: rng.choice((2, 4) if s[0] in "vw" else (2, 3, 8)) for s in sorted(tile_symbols(found.term))}
    assert_right(e, instantiate(found.term, sizes), dims, Launch(8))


def test_a_stencil_is_iterated_by_launches_of_one_kernel() -> None:
    def step(g: Any) -> Any:
        return el.stencil(lambda w: w[0, 1] + w[1, 0] - w[1, 2] + 2 * w[2, 1], (3, 3), 1, 1, 1, "wrap", g)

    e = el.array("x", el.i32, SHAPE[:2]).iterate(5, step)
    plan = compile_term(el.as_program(e), Launch(16))
    assert len(plan.kernels) == 1 and len(plan.steps) == 5 and len(plan.temporaries) == 2
    assert_right(e, el.as_program(e), 2, Launch(16))
