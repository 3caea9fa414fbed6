"""From a program to candidates: when the laws are searched, and when schedules are enough."""

from __future__ import annotations

from typing import Any

from egglift.candidate import Candidate
from egglift.costmodel.profiles.profile import presets
from egglift.ir.lifting import as_program
from egglift.options import Laws
from egglift.search import searched, served
from tests.egraph.stages.programs import add_up, arr, product

GPU = presets()["nvidia_h200"]


def found(program: Any, laws: Laws = Laws()) -> list[Candidate]:
    return searched(as_program(program), GPU, GPU.limits, laws)


def by_laws(candidates: list[Candidate]) -> list[Candidate]:
    return [c for c in candidates if c.account is None and c.structure != "naive"]


def test_a_product_at_its_best_needs_no_laws() -> None:
    candidates = found(product(2048, 2048, 2048))
    assert by_laws(candidates) == []
    assert any(c.account is not None for c in candidates)


def test_half_of_a_symmetric_product_needs_no_laws() -> None:
    """The laws compute all of it: they are not faster."""
    a = arr("A", 2048, 2048)
    candidates = found(a @ a.T)
    assert by_laws(candidates) == []
    assert "half by" in candidates[1].structure
    assert any("half by" not in c.structure for c in candidates[2:])


def test_a_sum_that_takes_as_long_as_its_reads_needs_no_laws() -> None:
    assert by_laws(found(arr("A", 1 << 14, 1 << 14).T.map(add_up))) == []


def test_where_neighbours_are_read_laws_are_searched() -> None:
    x = arr("x", 1 << 20)
    assert by_laws(found(x[2:] - 2 * x[1:-1] + x[:-2]))


def test_where_none_are_read_schedules_are_enough() -> None:
    assert by_laws(found(product(64, 64, 64))) == []
    assert by_laws(found(add_up(arr("x", 1 << 20)))) == []


def test_a_users_laws_are_always_searched() -> None:
    program = as_program(product(2048, 2048, 2048))
    assert served(program, 3.6e-4, GPU, Laws())
    assert not served(program, 3.6e-4, GPU, Laws(rules=("; a law of their own",)))


def test_nothing_is_served_before_there_is_a_schedule() -> None:
    assert not served(as_program(product(2048, 2048, 2048)), float("inf"), GPU, Laws())


def test_what_is_faster_than_the_bound_reads_less_than_all() -> None:
    program = as_program(arr("x", 1 << 26).slide(2, 1).take(16).map(add_up))
    assert not served(program, GPU.launch, GPU, Laws())


def test_schedules_are_left_out_as_a_law_is() -> None:
    candidates = found(product(64, 64, 64), Laws(disabled=("schedules",)))
    assert by_laws(candidates)
    assert all(c.account is None for c in candidates)
