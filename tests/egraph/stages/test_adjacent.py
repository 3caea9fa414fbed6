"""Dimensions that lie together in everything that is read are one, and only these."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import egglift as el
from egglift.egraph.schedules.structures import structures
from egglift.egraph.stages.adjacent import adjoined, adjoined_along
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.stage import Stage, number
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, only_stage, same, sized, whole
from tests.egraph.stages.programs import arr


def lengths(stage: Stage) -> tuple[list[int], list[list[int]]]:
    return [number(d) for d in stage.dims], [[number(d) for d in r.dims] for r in stage.reductions]


PROGRAMS: dict[str, tuple[Any, list[int], list[int]]] = {
    "pairs of both": (el.einsum("abcd,ijcd->ijab", arr("W", 2, 3, 4, 5), arr("T", 6, 7, 4, 5)), [42, 6], [20]),
    "three at once": (el.einsum("abck,kj->abcj", arr("X", 2, 3, 4, 5), arr("Y", 5, 6)), [24, 6], [5]),
    "what is reduced in another order": (el.einsum("icd,jcd->ij", arr("U", 2, 3, 4), arr("V", 5, 3, 4)), [2, 5], [12]),
    "a batch of both": (el.einsum("bik,bkj->bij", arr("P", 2, 3, 4), arr("Q", 2, 4, 5)), [2, 3, 5], [4]),
    "across": (el.einsum("abk,bak->ab", arr("R", 3, 4, 5), arr("S", 4, 3, 5)), [3, 4], [5]),
    "part of an axis": (el.einsum("abk,kj->abj", arr("G", 3, 6, 5)[:, 1:5], arr("H", 5, 6)), [3, 4, 6], [5]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_dimensions_that_lie_together_are_one(name: str) -> None:
    program, dims, reduced = PROGRAMS[name]
    stage, _ = adjoined(only_stage(as_program(program)))
    assert lengths(stage) == (dims, [reduced])


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kind", ("gpu", "cpu"))
def test_structures_of_fewer_dimensions_mean_the_same(name: str, kind: str) -> None:
    program, rng = as_program(PROGRAMS[name][0]), Random(name)
    stages, inputs = stages_of(program), exact_inputs(program)
    (stage,) = stages.stages
    found = list(structures(stage, kind, True))
    assert found
    for x in rng.sample(found, min(len(found), 3)):
        assert same(program, whole(stages, {stage.name: sized(x, rng)}), inputs, 1e-4), x.sign


def test_what_is_computed_of_elements_alone_keeps_its_dimensions() -> None:
    stage = only_stage(as_program(arr("x", 3, 4) * 2.0))
    assert adjoined(stage) == (stage, ())


def along(*programs: Any) -> list[list[int]]:
    stages = stages_of(as_program(el.tuple(*programs))).stages
    _, found = adjoined_along(stages, arr("I", 2, 3, 4, 5).expr)
    return [lengths(s)[0] for s, _ in found]


def test_axes_that_all_readers_have_together_are_one_for_all() -> None:
    images = arr("I", 2, 3, 4, 5)
    assert along(images.sum(axis=(0, 2, 3)), el.maximum(images, 0)) == [[3], [2, 3, 20]]


def test_axes_that_one_reader_has_apart_stay_apart() -> None:
    images = arr("I", 2, 3, 4, 5)
    assert along(images.sum(axis=(0, 1, 3)), el.maximum(images, 0)) == [[4], [6, 4, 5]]
    assert along(images.sum(axis=3), images.max(axis=2)) == [[6, 4], [6, 5]]
