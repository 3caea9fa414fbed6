"""Programs of many shared producers: what is stored, each part searched alone, and one candidate made of all."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import egglift as el
from benchmarks.programs.catalogue import entries
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.measurement.expected_results import expect, flatten, sample_inputs
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.extraction.weights import weights
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.options import Laws
from egglift.parts import Parts, in_parts
from egglift.search import AT_BEST, explored, searched
from tests.deep import sampled
from tests.towers import horner, lowered, prefix_sums, products, pyramid, row_sums, smoothed, squares

pytestmark = pytest.mark.short

CPU, GPU = presets()["pocl_cpu"], presets()["nvidia_h200"]
LAWS = Laws()
TOWERS: dict[str, Callable[[int, int], Expr]] = {
    "prefix sums": prefix_sums,
    "squares": squares,
    "a pyramid": pyramid,
    "a stencil": smoothed,
    "reductions": lowered,
    "products": lambda steps, n: products(steps, 12),
    "rows": lambda steps, n: row_sums(steps, 7, n),
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test starts without records, and searches the laws, which make parts, also by short searches."""
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    monkeypatch.setattr("egglift.search.AT_BEST", AT_BEST)


def cut(program: Expr) -> Parts:
    parts = in_parts(program, weights(CPU))
    assert parts is not None
    return parts


@pytest.mark.parametrize("steps", [8, 20])
def test_each_step_of_prefix_sums_is_a_part(steps: int) -> None:
    assert len(cut(prefix_sums(steps)).programs) == steps


def test_what_is_read_at_one_place_is_one_part_of_one_map() -> None:
    (program,) = cut(squares(30)).programs
    assert sum(isinstance(t, p.Map) for t in subterms(program)) == 1


def test_where_memory_is_dear_and_launches_too_parts_are_larger() -> None:
    counts = [len(q.programs) for w in (CPU, GPU) if (q := in_parts(pyramid(24), weights(w)))]
    assert counts[0] > counts[1] > 1


def test_short_arrays_are_not_worth_a_launch() -> None:
    assert len(cut(pyramid(24, 1 << 20)).programs) > len(cut(pyramid(24, 64)).programs)


def test_many_maps_are_one() -> None:
    (program,) = cut(horner(30)).programs
    assert isinstance(program, p.Map) and not isinstance(program.x, p.Map)


def test_parts_that_differ_by_what_they_read_are_equal() -> None:
    assert len(set(cut(products(6)).programs)) == 1
    assert len(set(cut(smoothed(12)).programs)) == 1


@pytest.mark.parametrize("name", TOWERS)
def test_the_parts_together_are_the_program(name: str) -> None:
    program = TOWERS[name](6, 300)
    for profile in (CPU, GPU):
        parts = in_parts(program, weights(profile))
        if parts is not None:
            whole, inputs = parts.whole(parts.programs), sample_inputs(program)
            assert type_of(whole) == type_of(program)
            np.testing.assert_allclose(el.interpret(whole, **inputs), el.interpret(program, **inputs), rtol=1e-5)


def test_no_program_of_the_catalogue_is_cut() -> None:
    for entry in entries():
        for sizes in entry.sizes:
            program = as_program(entry.program(*sizes))
            assert not any(in_parts(program, weights(profile)) for profile in (CPU, GPU)), (entry.name, sizes)


@pytest.mark.parametrize("steps", sampled((5, 8, 20), lambda steps: steps == 5))
def test_prefix_sums_take_a_pass_a_step(steps: int) -> None:
    naive, *others = searched(prefix_sums(steps), CPU, DeviceLimits(), LAWS)
    best = min(others, key=lambda c: c.estimate)
    assert len(best.plan.kernels) == steps and best.estimate < naive.estimate
    assert "vv0" in best.structure or "vv1" in best.structure  # vectors, as of one step alone


def test_a_candidate_of_parts_names_their_structures_and_numbers() -> None:
    best = explored(prefix_sums(5), CPU, DeviceLimits(), LAWS)[0]
    assert best.structure == f"5 {best.parts[0].structure}" and len(best.parts) == 5
    assert best.parameters.keys() >= {"group_size", "max_groups"} and best.launch.group_size > 0


def test_candidates_of_parts_come_best_first_and_differ() -> None:
    found = explored(prefix_sums(20), CPU, DeviceLimits(), LAWS)
    assert [c.estimate for c in found] == sorted(c.estimate for c in found)
    assert len({(c.term, c.launch) for c in found}) == len(found) > 1


def test_parts_that_schedules_serve_are_not_searched_by_laws() -> None:
    program = prefix_sums(5, 1 << 24)
    assert not explored(program, CPU, DeviceLimits(), LAWS, best=1.0)
    assert explored(program, CPU, DeviceLimits(), LAWS), "nothing is known that is as good"


def test_parts_that_take_too_long_in_any_case_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched_parts: list[Expr] = []

    def nothing(part: Expr, *others: object, **named: object) -> list[object]:
        searched_parts.append(part)
        return []

    monkeypatch.setattr("egglift.search.equal_programs", nothing)
    program = prefix_sums(20, 1 << 24)
    assert not explored(program, GPU, GPU.limits, LAWS, best=1e-6) and not searched_parts
    explored(program, GPU, GPU.limits, LAWS)
    assert searched_parts


def test_steps_of_an_iteration_are_searched_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("egglift.search.TRIES", 4)  # which candidates there are is not asked

    def step(v: el.Value) -> el.Value:
        for k in range(4):
            v = 0.5 * (v + v.pad(1 << k, 0, ("constant", 0.0)).take(9000))
        return v

    program = as_program(el.array("x", el.f32, 9000).iterate(3, step))
    found = [c for c in searched(program, CPU, DeviceLimits(), LAWS) if c.structure.startswith("4 ")]
    assert found and all(len(c.plan.steps) == 12 for c in found)


#: programs that are run on every run; of the others parts are searched, too, and the interpreter puts them together
OFTEN = ("squares", "a stencil", "products")
CASES = sampled(product(TOWERS, (4, 6)), lambda case: case[0] in OFTEN and case[1] == 4)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_optimize_chooses_is_right(case: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    name, steps = case
    monkeypatch.setattr("egglift.search.TRIES", 4)  # which candidates there are is not asked
    kernel = el.optimize(TOWERS[name](steps, 1000), "pocl", measurements=2)
    expected = expect(kernel.program)
    assert expected.disagreement(flatten(kernel(**expected.inputs))) is None


def test_a_kernel_in_parts_is_explained_after_it_was_remembered() -> None:
    first = el.optimize(prefix_sums(6, 4096), "pocl", measure="none")
    again = el.optimize(prefix_sums(6, 4096), "pocl", measure="none")
    assert again.chosen.parts == first.chosen.parts != ()
    text = again.explain()
    assert "In 6 parts" in text and "The low-level program" in text
    assert {"map-global", "vectorise-map"} & set(again.chosen.laws)
