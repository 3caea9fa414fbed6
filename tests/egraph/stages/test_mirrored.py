"""Halves of symmetric results: blocks of any side, laid out twice, are the whole."""

from __future__ import annotations

import pytest

import egglift as el
from egglift.egraph.schedules.again import placed
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.mirrored import can_mirror, mirrored, said
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.stage import Stage
from egglift.egraph.stages.symmetry import symmetric_dims
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from tests.egraph.staged import exact_inputs, same, whole
from tests.egraph.stages.programs import arr, dot
from tests.egraph.stages.test_symmetry import REGROUPED, SYMMETRIC

PROGRAMS = {
    **SYMMETRIC,
    **REGROUPED,
    "outer dimensions": lambda: arr("A", 6, 3, 5).map(lambda x: arr("A", 6, 3, 5).map(lambda y: el.map(dot, x, y))),
}


def halves(stage: Stage, side: int) -> Expr:
    """A symmetric stage by halves, as patterns."""
    pair = symmetric_dims(stage, True)
    assert pair is not None and can_mirror(stage, pair)
    blocks, laid_out = mirrored(stage, pair, side)
    assert laid_out.type == stage.type
    return placed(as_pattern(laid_out), {blocks.name: as_pattern(blocks)})


@pytest.mark.parametrize("side", [1, 2, 3, 4, 6, 7])
@pytest.mark.parametrize("name", PROGRAMS)
def test_blocks_of_any_side_make_up_the_whole(name: str, side: int) -> None:
    program = as_program(PROGRAMS[name]())
    stages = stages_of(program)
    last = stages.stages[-1]
    assert same(program, whole(stages, {last.name: halves(last, side)}), exact_inputs(program), 1e-4)


def test_half_of_the_blocks_and_the_diagonal_are_computed() -> None:
    (stage,) = stages_of(as_program(arr("A", 12, 5) @ arr("A", 12, 5).T)).stages
    pair = symmetric_dims(stage, True)
    assert pair is not None
    blocks, _ = mirrored(stage, pair, 3)
    assert [d.extent for d in blocks.dims] == [10, 3, 3]
    assert said(stage, pair, 3) == (
        "stage0 is the same with dimensions 0 and 1 exchanged: "
        "10 of 16 blocks of 3 x 3 are computed, the others are these, transposed"
    )


def test_what_is_read_at_both_dimensions_is_not_cut() -> None:
    a, m = arr("A", 6, 5), arr("M", 6, 6)
    program = el.map(lambda r, s, t: el.map(lambda x, y, z: x + (y + z), r, s, t), a @ a.T, m, m.T)
    (stage,) = stages_of(as_program(program)).stages
    pair = symmetric_dims(stage, True)
    assert pair is not None and not can_mirror(stage, pair)
