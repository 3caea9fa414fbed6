"""Programs as stages, and whether what is made of these means the same."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from random import Random
from typing import Any

import numpy as np

import egglift as el
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.measurement.expected_results import NdArray, flatten
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Search
from egglift.egraph.schedules.again import placed
from egglift.egraph.schedules.scan_structures import ScanStructure
from egglift.egraph.schedules.structures import Structure
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.stage import Stage
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.traverse import instantiate
from tests.fuzz.data import random_inputs

#: sizes that are drawn until some fit
TRIES = 30
#: x -> a x + b composed with x -> c x + d: associative, not commutative, with a neutral element
composed = el.operator(
    lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), commutative=False, neutral=(1, 0), name="composed"
)
#: the last of two: associative, not commutative
last = el.operator(lambda a, b: b, commutative=False, name="last")


def whole(stages: Stages, terms: Mapping[str, Expr] = {}) -> Expr:
    """The program of all stages: those with a name in `terms` as these say, the others as their patterns."""
    found: dict[str, Expr] = {}
    for s in stages.stages:
        found[s.name] = placed(terms.get(s.name, as_pattern(s)), found)
    return placed(stages.result, found)


def exact_inputs(program: Expr, seed: int = 0) -> dict[str, Any]:
    """Small whole numbers for all inputs: sums and products of a few are exact in any order."""
    return random_inputs(program, "exact", seed)


def result(program: Any, inputs: Mapping[str, Any]) -> list[NdArray]:
    """What the interpreter makes of a program, leaf by leaf."""
    e = as_program(program)
    return flatten(evaluate(e, {name: inputs[name] for name in inputs_of(e)}))


def same(a: Any, b: Any, inputs: Mapping[str, Any], tolerance: float = 0.0) -> bool:
    """Do two programs mean the same on these inputs?  Exactly, or to a relative tolerance."""
    pairs = list(zip(result(a, inputs), result(b, inputs), strict=True))
    return all(
        x.shape == y.shape and x.dtype == y.dtype and np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)
        for x, y in pairs
    )


def texts(
    program: Any, reassociate: bool = True, frugal: bool = False, again: float = inf, down: bool = False
) -> list[str]:
    """The stages of a program as texts, once they were found to mean the same."""
    e = as_program(program)
    stages = stages_of(e, reassociate, Partitioning(frugal, again, down=down))
    inputs = exact_inputs(e)
    assert same(e, whole(stages), inputs, 1e-4)
    return [text_of(s) for s in stages.stages]


def only_stage(program: Any, reassociate: bool = True, frugal: bool = False) -> Stage:
    """The stage of a program that has one."""
    (stage,) = stages_of(as_program(program), reassociate, Partitioning(frugal)).stages
    return stage


def sized(structure: Structure | ScanStructure, rng: Random) -> Expr:
    """A structure with random small sizes that fit the lengths; AssertionError if none of many do."""
    search = Search(structure.term, structure.tiles, presets()["generic_gpu"], DeviceLimits())
    for _ in range(TRIES):
        wish = {s: rng.choice((0, 1, 2) if s.startswith("f") else (1, 2, 3, 4, 5, 8)) for s in search.order}
        found = instantiate(structure.term, search.fitting(wish))
        try:
            type_of(found)
            return found
        except ShapeError:
            pass
    raise AssertionError(f"{structure.sign}: no sizes fit")
