"""Programs of stages that count: whole rows, and parts that are added."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import Launch, Plan
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.again import placed
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.count_choices import lengths_of_parts, whole_counts
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.counts import counted_in_parts
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.sharing import shared_out
from egglift.egraph.stages.stage_text import text_of
from egglift.ir import patterns as p
from egglift.ir.errors import EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.value import typed
from tests.deep import every
from tests.egraph.staged import exact_inputs, result, same, whole
from tests.egraph.stages.programs import arr
from tests.fuzz.guarded import run_all
from tests.oclgrind import LIMITS, examine

pytestmark = pytest.mark.short

GPU, CPU = presets()["nvidia_h200"], presets()["pocl_cpu"]
SMALL: dict[str, Callable[[], Any]] = {
    "a vector": lambda: el.bincount(arr("i", 101, t=el.i32), 5),
    "of what is computed": lambda: el.bincount(arr("i", 64, t=el.i32) * 2 + 1, 6),
    "unsigned": lambda: el.bincount(arr("i", 45, t=el.u8), 7),
    "rows": lambda: arr("R", 6, 23, t=el.i16).map(lambda r: el.bincount(r, 4)),
    "what follows": lambda: el.bincount(arr("i", 30, t=el.i32), 5) * 2 + 1,
    "sums": lambda: typed(p.Sums(5, el.f32, el.zip(arr("i", 101, t=el.i32), arr("x", 101)).expr)),
    "sums of rows": lambda: arr("R", 6, 23, t=el.i16).map(
        lambda r: typed(p.Sums(4, el.f64, r.map(lambda v: el.tuple(v, 2.0 * v.cast(el.f64))).expr))
    ),
    "what precedes": lambda: el.bincount(arr("R", 9, 4, t=el.i32).map(lambda r: r.sum()), 5),
}


def terms(name: str, kind: str) -> list[Expr]:
    """The whole program: what counts as it is executed, whole and in parts."""
    stages, profile = stages_of(as_program(SMALL[name]())), CPU if kind == "cpu" else GPU
    (stage,) = (s for s in stages.stages if s.counts is not None)
    (point,) = whole_counts(stage, profile, profile.limits)
    found = [whole(stages, {stage.name: point.term})]
    for length in (1, 4, 7):
        parts, added = counted_in_parts(stage, length)
        (point,) = whole_counts(parts, profile, profile.limits)
        term = placed(as_pattern(added), {parts.name: p.To("global", point.term)})
        found.append(whole(stages, {stage.name: term}))
    return found


@pytest.mark.parametrize("name", SMALL)
def test_counts_of_parts_are_added_in_parts_with_a_rest(name: str) -> None:
    program = as_program(SMALL[name]())
    stages, inputs = stages_of(program), exact_inputs(program)
    (stage,) = (s for s in stages.stages if s.counts is not None)
    counted, added = counted_in_parts(stage, 1)
    for pieces in (2, 3, 4):
        first, last = shared_out(added, pieces)
        term = placed(as_pattern(last), {first.name: as_pattern(first)})
        assert same(program, whole(stages, {stage.name: placed(term, {counted.name: as_pattern(counted)})}), inputs)


@pytest.mark.parametrize("name", SMALL)
def test_stages_that_count_mean_their_program(name: str) -> None:
    program = as_program(SMALL[name]())
    inputs = exact_inputs(program)
    assert same(program, whole(stages_of(program)), inputs)
    for term in terms(name, "gpu"):
        assert same(program, term, inputs)


@pytest.mark.parametrize(("name", "kind"), every(2, SMALL, ("gpu", "cpu")))
def test_kernels_count(name: str, kind: str) -> None:
    device, program = open_device("pocl"), as_program(SMALL[name]())
    inputs = exact_inputs(program)
    (expected,) = result(program, inputs)
    made = [compile_term(term, Launch(16), device.limits) for term in terms(name, kind)]
    for plan, actual in zip(made, run_all(device, made, {k: flatten(v) for k, v in inputs.items()}), strict=True):
        assert not isinstance(actual, EggliftError), f"{actual}\n{plan.source}"
        np.testing.assert_array_equal(actual[0].reshape(expected.shape), expected, err_msg=plan.source)


def test_counting_at_the_same_time_is_no_race() -> None:
    jobs: list[tuple[Plan, dict[str, Any]]] = []
    for name in ("a vector", "rows", "sums", "sums of rows"):
        inputs = {k: flatten(v) for k, v in exact_inputs(as_program(SMALL[name]())).items()}
        jobs += [(compile_term(term, Launch(16), LIMITS), inputs) for term in terms(name, "gpu")]
    assert any("atomic_add(&s" in plan.source for plan, _ in jobs)
    for (plan, _), report in zip(jobs, examine(jobs), strict=True):
        assert report.clean, f"{report}\n{plan.source}"


def test_a_lone_work_item_adds_without_atomics() -> None:
    assert all("atomic" not in compile_term(term, Launch(16), CPU.limits).source for term in terms("rows", "cpu"))


@pytest.mark.parametrize("profile", [GPU, CPU], ids=["gpu", "cpu"])
def test_a_long_vector_is_counted_in_parts(profile: Any) -> None:
    program = as_program(el.bincount(arr("i", 1 << 22, t=el.i32), 256))
    assert scheduled(program, profile, profile.limits, True)[0].sign.startswith("parts of ")


def test_short_vectors_and_many_rows_are_not_cut() -> None:
    short, rows = arr("i", 1000, t=el.i32), arr("R", 1 << 14, 1 << 10, t=el.i32)
    for program in (el.bincount(short, 9), rows.map(lambda r: el.bincount(r, 9))):
        (stage,) = (s for s in stages_of(as_program(program)).stages if s.counts is not None)
        assert lengths_of_parts(stage, GPU) == []


def test_more_counts_than_local_memory_holds_are_not_a_groups() -> None:
    (stage, *_) = stages_of(p.Count(1 << 16, el.i32, arr("i", 1 << 10, t=el.i32).expr)).stages
    assert whole_counts(stage, GPU, GPU.limits) == []
    (stage, *_) = stages_of(as_program(el.bincount(arr("i", 1 << 10, t=el.i32), 1 << 16))).stages
    assert whole_counts(stage, GPU, GPU.limits)


def test_stages_that_count_say_so_in_words() -> None:
    texts = [text_of(s) for s in stages_of(as_program(SMALL["rows"]())).stages]
    assert texts[0] == "along0[0 < 6, 1 < 4] = (count for 1 < 23 of R[0,1])"
    texts = [text_of(s) for s in stages_of(as_program(SMALL["a vector"]())).stages]
    assert texts[0] == "along0[0 < 5] = (count for 0 < 101 of i[0])"
