"""The stencils of the catalogue, compiled and run: as they are written, and as they are found for a GPU and a CPU.

Sizes are such that no tile divides them.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import egglift as el
from benchmarks.programs.catalogue import Entry, Size
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.errors import CodegenError
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from egglift.ir.traverse import instantiate, tile_symbols
from tests.deep import every
from tests.egraph.rules.test_stencils import ENTRIES, STENCILS
from tests.harness import run

#: by the number of dimensions
ODD: dict[int, Size] = {1: (103,), 2: (37, 41), 3: (35, 34, 37)}
TILES = {"y": (3, 5, 8), "x": (5, 8, 16), "h": (2, 3), "e": (1, 2, 3), "v": (2, 4), "w": (2, 4)}


def size_of(e: Entry) -> Size:
    return ODD[len(e.sizes[0])]


def assert_right(e: Entry, term: Expr, launch: Launch) -> None:
    """The term computes what NumPy does."""
    given = e.inputs(*size_of(e), np.random.default_rng(0))
    leaves = {name: tuple(value) if isinstance(value, tuple) else np.asarray(value) for name, value in given.items()}
    plan = compile_term(term, launch)
    for got, expected in zip(run(plan, leaves), flatten(e.reference(**given)), strict=True):
        assert np.allclose(got, np.ravel(expected), rtol=1e-4, atol=1e-5)


def test_there_are_all_that_there_should_be() -> None:
    assert {e.name.split("-")[0] for e in ENTRIES} == set(STENCILS)
    assert {len(e.sizes[0]) for e in ENTRIES} == {1, 2, 3}


@pytest.mark.parametrize("e", ENTRIES, ids=lambda e: e.name)
def test_the_interpreter_agrees_with_numpy(e: Entry) -> None:
    for size in e.sizes[:3]:
        given = e.inputs(*size, np.random.default_rng(0))
        for got, expected in zip(
            flatten(evaluate(el.as_program(e.program(*size)), given)), flatten(e.reference(**given)), strict=True
        ):
            assert got.dtype == expected.dtype
            assert np.allclose(got, expected, rtol=1e-4, atol=1e-5), size


@pytest.mark.parametrize("e", every(4, ENTRIES), ids=lambda e: e.name)
def test_it_runs_as_it_is_written(e: Entry) -> None:
    assert_right(e, el.as_program(e.program(*size_of(e))), Launch(16))


@pytest.mark.parametrize(
    ("e", "profile"), every(8, ENTRIES, ("nvidia_h200", "pocl_cpu")), ids=lambda v: getattr(v, "name", v)
)
def test_it_runs_as_it_is_found(e: Entry, profile: str) -> None:
    """One of what is found, in tiles of some sizes: which, differs from program to program."""
    rng = Random(e.name + profile)
    graph = saturate(el.as_program(e.program(*size_of(e)))).graph
    found = Extractor(graph, weights(presets()[profile])).run()
    for f in rng.sample(found, len(found)):
        sizes = {s: rng.choice(TILES.get(s[0], (1, 2, 3))) for s in sorted(tile_symbols(f.term))}
        term, launch = instantiate(f.term, sizes), Launch(rng.choice((4, 16)))
        if fits(term, launch):
            return assert_right(e, term, launch)
    raise AssertionError([f.sign for f in found])


def fits(term: Expr, launch: Launch) -> bool:
    """Has a small device room for it?"""
    try:
        compile_term(term, launch)
    except CodegenError as error:
        assert "memory" in str(error)
        return False
    return True
