"""Every structure of a stage means what the stage means, whatever its sizes are."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.schedules.structures import structures, ways
from egglift.egraph.schedules.ways import EACH, PATCH
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.traverse import subterms
from tests.deep import every
from tests.egraph.staged import composed, exact_inputs, only_stage, same, sized, whole
from tests.egraph.stages.programs import PROGRAMS


@pytest.mark.parametrize(("name", "kind"), every(4, PROGRAMS, ("gpu", "cpu", "cpu, frugal")))
def test_structures_mean_what_their_stage_means(name: str, kind: str) -> None:
    kind, _, frugal = kind.partition(", ")
    rng = Random(name + kind)
    program = as_program(PROGRAMS[name]())
    stages, inputs = stages_of(program, True, Partitioning(bool(frugal))), exact_inputs(program)
    found = [(s, x) for s in stages.stages for x in structures(s, kind, True)]
    assert found or all(not s.dims for s in stages.stages)
    for stage, x in rng.sample(found, min(len(found), 2)):
        assert same(program, whole(stages, {stage.name: sized(x, rng)}), inputs, 1e-4), (stage, x.sign)


def matrices() -> tuple[Any, Any]:
    return el.array("A", el.i64, (3, 7)), el.array("P", (el.i64, el.i64), 7)


@pytest.mark.parametrize("kind", ("gpu", "cpu"))
def test_operators_that_do_not_commute_keep_their_order(kind: str) -> None:
    pairs = el.array("P", (el.i64, el.i64), (3, 4, 7))
    program = as_program(pairs.map(lambda m: el.reduce(composed, (1, 0), el.join(m))))
    stage, inputs, rng = only_stage(program), exact_inputs(program), Random(1)
    found = list(structures(stage, kind, True))
    assert found
    for x in found:
        for _ in range(4):
            term = sized(x, rng)
            assert same(program, term, inputs), (x.sign, term)


@pytest.mark.parametrize("kind", ("gpu", "cpu"))
def test_folds_keep_their_order(kind: str) -> None:
    x = el.array("x", el.i64, (3, 4, 7))
    program = as_program(x.map(lambda m: el.fold(lambda a, v: a * 3 + v, 1, el.join(m))))
    stage, inputs, rng = only_stage(program), exact_inputs(program), Random(1)
    assert len(stage.reductions[0].dims) == 2
    found = list(structures(stage, kind, True))
    assert found
    for s in found:
        assert same(program, sized(s, rng), inputs), s.sign


def test_no_order_is_changed_where_sums_are_not_reassociated() -> None:
    x = el.array("x", el.f32, (3, 4, 7))
    program = as_program(x.map(lambda m: el.reduce(el.add, 0.0, el.join(m))))
    stage = only_stage(program, reassociate=False)
    for kind in ("gpu", "cpu"):
        for s in structures(stage, kind, False):
            order = [loop.dim for loop in s.schedule.loops if loop.dim in stage.reductions[0].dims]
            assert order == sorted(order, key=stage.reductions[0].dims.index), s.sign
            assert not any(loop.kind == "item" and loop.dim in stage.reductions[0].dims for loop in s.schedule.loops)


def test_short_rows_of_a_result_are_columns_of_one_tile() -> None:
    program = as_program(PROGRAMS["convolution"]())
    stage, inputs, rng = only_stage(program), exact_inputs(program), Random(3)
    found = {s.sign: s for s in structures(stage, "gpu", True)}
    whole_rows = [sign for sign in found if sign.startswith("tile 123") or sign.startswith("tile 023")]
    assert {sign.split(" ", 2)[2] for sign in whole_rows} == {"chunks", "chunks in turn", "whole"}
    for sign in whole_rows:
        assert same(program, sized(found[sign], rng), inputs), sign


def test_chunks_in_turn_keep_what_one_place_of_a_window_reads() -> None:
    program = as_program(PROGRAMS["convolution"]())
    stage = only_stage(program)
    reduced = stage.reductions[0].dims
    found = {s.sign: s for s in structures(stage, "gpu", True)}
    order = [loop.dim for loop in found["tile 13 chunks in turn"].schedule.loops if loop.dim in reduced]
    longest = max(reduced, key=lambda d: d.extent)
    assert order[: len(reduced) - 1] == [d for d in reduced if d != longest]
    ordinary = [loop.dim for loop in found["tile 13 chunks"].schedule.loops if loop.dim in reduced]
    assert ordinary[0] == longest


def test_what_lanes_have_found_is_combined_by_halves() -> None:
    stage = only_stage(el.array("A", el.f32, (8, 96)).map(lambda r: el.reduce(el.add, 0.0, r)))
    (lanes,) = (s for s in structures(stage, "cpu", True) if s.sign.endswith("lanes"))
    assert any(isinstance(t, p.Tree) for t in subterms(lanes.term))


def test_borders_and_parts_of_several_axes_need_no_tiles() -> None:
    """A padded matrix lies as it did, though its rows are padded across."""
    n, x = 32, el.array("x", el.f32, (32, 32))
    near = np.pad(x, 2, mode="edge")
    blurred = only_stage(sum(near[i : i + n, j : j + n] for i in range(5) for j in range(5)))
    assert EACH in ways(blurred, "gpu", True)
    assert EACH not in ways(only_stage(near.T[:n, :n] + x), "gpu", True)


def rotated(t: Any = el.f32) -> Any:
    """An image at places that are computed of an input."""
    image, angle = el.array("image", t, (13, 17)), el.scalar("angle", el.f32)
    y, x = np.arange(13)[:, None], np.arange(17)[None, :]
    rows = np.clip(np.floor(y * np.cos(angle) + x * np.sin(angle)), 0, 12).astype(el.i32)
    return image[rows, np.clip(x - y, 0, 16)] * 2


def test_what_reads_anywhere_is_computed_in_patches() -> None:
    program = as_program(rotated())
    stage, inputs, rng = only_stage(program), exact_inputs(program), Random(4)
    found = {s.sign: s for s in structures(stage, "gpu", True)}
    assert {"tile 01 patch", "tile 01 alone", "tile 01 each"} <= set(found)
    for s in found.values():
        assert same(program, sized(s, rng), inputs), s.sign
    assert PATCH not in ways(only_stage(el.array("x", el.f32, (8, 8)) + 1), "gpu", True)
