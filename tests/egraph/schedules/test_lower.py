"""Stages under schedules, as kernels on the device: what they compute is what their program means."""

from __future__ import annotations

from itertools import cycle
from random import Random

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.measurement.expected_results import NdArray, flatten
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Search
from egglift.egraph.schedules.lower import lower, operands
from egglift.egraph.schedules.schedule import Keep, Loop, Schedule
from egglift.egraph.schedules.structures import structures
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.stage import Stage
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr, Level
from egglift.ir.traverse import subterms
from egglift.ir.types import Array
from tests.egraph.staged import exact_inputs, only_stage, result, same, whole
from tests.egraph.stages.programs import PROGRAMS, add_up, arr, product
from tests.fuzz.guarded import run_all
from tests.fuzz.stages import drawn_point

PROFILES = {"gpu": "nvidia_h200", "cpu": "pocl_cpu"}
#: programs whose kernels are built on every run; the others with -m deep
QUICK = (
    "product of 7 5 33",
    "product of i8",
    "reachable",
    "product of a transposed",
    "A^T A",
    "three batches",
    "convolution by steps of 2",
    "nearest",
    "sum and maximum",
    "tuple of sums",
    "exp(A) @ B",
    "masked product",
    "column sums",
    "sum of a matrix",
    "rotation of 4",
    "layer",
    "sum of repeated",
    "neighbours",
)


def plans(name: str, kind: str, count: int) -> list[Plan]:
    """Kernels of random structures of one of the program's stages, its sizes at random."""
    rng, device = Random(name + kind), open_device("pocl")
    stages = stages_of(as_program(PROGRAMS[name]()))
    found = [(s, x) for s in stages.stages for x in structures(s, kind, True)]
    made = []
    for stage, x in rng.sample(found, len(found)):
        if len(made) == count:
            break
        term = whole(stages, {stage.name: p.To("global", x.term)})
        term = term.x if isinstance(term, p.To) else term
        point = drawn_point(Search(term, x.tiles, presets()[PROFILES[kind]], device.limits), rng)
        if point is not None:
            made.append(point.plan)
    return made


def wrong(name: str, plans: list[Plan]) -> list[str]:
    """The kernels that compute something else."""
    program = as_program(PROGRAMS[name]())
    inputs = exact_inputs(program)
    expected = result(program, inputs)
    found = []
    for plan, actual in zip(plans, run_all(open_device("pocl"), plans, {k: flatten(v) for k, v in inputs.items()})):
        if isinstance(actual, EggliftError) or not close(expected, actual):
            found.append(f"{actual}\n{plan.source}")
    return found


def close(expected: list[NdArray], actual: list[NdArray]) -> bool:
    pairs = zip(expected, actual, strict=True)
    return all(np.allclose(a.reshape(-1), b.reshape(-1), rtol=1e-4, atol=1e-4, equal_nan=True) for a, b in pairs)


@pytest.mark.parametrize(("name", "kind"), list(zip(QUICK, cycle(("gpu", "cpu")))))
def test_kernels_of_schedules_compute_their_program(name: str, kind: str) -> None:
    made = plans(name, kind, 1)
    assert made
    assert not wrong(name, made)


@pytest.mark.deep
@pytest.mark.parametrize("kind", ("gpu", "cpu"))
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_of_all_schedules_compute_their_program(name: str, kind: str) -> None:
    assert not wrong(name, plans(name, kind, 6))


def lanes(program: Expr) -> Expr:
    """The term of a program's only stage by lanes, its sizes as symbols."""
    found = structures(only_stage(program), "gpu", True)
    return next(x.term for x in found if x.sign.endswith("lanes"))


def test_tuples_of_several_rows_are_combined_by_halves() -> None:
    x = arr("x", 64, 1024)
    trees = [t for t in subterms(lanes(as_program(el.argmax(x, axis=1)))) if isinstance(t, p.Tree)]
    assert [isinstance(type_of(t), Array) for t in trees] == [True]
    assert not any(isinstance(t, p.Tree) for t in subterms(lanes(as_program(x.map(add_up)))))


def plain(stage: Stage, *more: Keep) -> Schedule:
    """One loop after the other, nothing cut."""
    reduced = [d for r in stage.reductions[:1] for d in r.dims]
    own = [Loop(d, 0, "own", Level("seq")) for d in stage.dims]
    return Schedule((*own, *more, *(Loop(d, 0, "sequential") for d in reduced)), ())


def test_a_loop_that_nothing_reads_has_its_length() -> None:
    program = PROGRAMS["repeated"]()
    stage = only_stage(program)
    assert same(program, lower(stage, plain(stage)), exact_inputs(as_program(program)))


def test_what_is_left_of_two_cut_reductions_follows() -> None:
    program = as_program(arr("x", 3, 5, 7).map(add_up))
    stage, inputs = only_stage(program), exact_inputs(program)
    (i, (j, k)) = stage.dims[0], stage.reductions[0].dims
    steps = (Loop(i, 0, "own", Level("seq")), *(Loop(d, n, "sequential") for n in (0, 1) for d in (j, k)))
    assert same(program, lower(stage, Schedule(steps, ((j, (2,)), (k, (4,))))), inputs)


def test_a_schedule_without_a_loop_is_no_program() -> None:
    stage = only_stage(product(3, 5, 7))
    steps = plain(stage).steps
    with pytest.raises((AssertionError, ValueError, LookupError, EggliftError)):
        assert same(product(3, 5, 7), lower(stage, Schedule(steps[1:], ())), exact_inputs(as_program(product(3, 5, 7))))


def test_operands_are_what_reductions_read_of_fewer_dimensions() -> None:
    stage = only_stage(PROGRAMS["third operand"]())
    (i, j), (k,) = stage.dims, stage.reductions[0].dims
    assert sorted((o.dims for o in operands(stage)), key=len) in ([(k,), (i, k), (j, k)], [(k,), (j, k), (i, k)])
