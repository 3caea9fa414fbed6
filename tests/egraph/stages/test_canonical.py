"""Stages under names that say nothing."""

from __future__ import annotations

import egglift as el
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.canonical import canonical, unnamed
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.stage import Stage
from egglift.egraph.stages.stage_text import text_of
from egglift.ir import patterns as p
from egglift.ir.traverse import subterms
from egglift.ir.types import F32, Array


def product(a: str, b: str, n: int = 7) -> Stage:
    first, second = el.array(a, el.f32, (5, n)), el.array(b, el.f32, (n, 6))
    (stage,) = stages_of(el.as_program(first @ second)).stages
    return stage


def test_stages_that_differ_in_names_have_one_form() -> None:
    assert canonical([product("A", "B")]).key == canonical([product("P", "Q")]).key


def test_stages_of_other_lengths_have_other_forms() -> None:
    assert canonical([product("A", "B")]).key != canonical([product("A", "B", 8)]).key


def test_what_is_read_twice_is_not_what_is_read_of_two() -> None:
    def total(a: str, b: str) -> Stage:
        x, y = el.array(a, el.f32, 9), el.array(b, el.f32, 9)
        (stage,) = stages_of(el.as_program((x * y).sum())).stages
        return stage

    assert canonical([total("x", "x")]).key != canonical([total("x", "y")]).key


def test_a_form_says_its_program_in_the_stages_own_names() -> None:
    stage = product("A", "B")
    form = canonical([stage])
    assert form.named(as_pattern(form.stages[0])) is as_pattern(stage)
    assert form.told(text_of(form.stages[0])) == text_of(stage)


def test_names_of_several_stages_go_together() -> None:
    A = el.array("A", el.f32, (4, 9))
    stages = stages_of(el.as_program(A / (A * A).sum(axis=1, keepdims=True))).stages
    form = canonical(stages)
    first, last = form.stages
    read = {t.name for t in subterms(as_pattern(last)) if isinstance(t, p.Input)}
    assert first.name in read and form.own[first.name] == stages[0].name


def test_dimensions_that_matter_are_part_of_a_form() -> None:
    stage = product("A", "B")
    rows, columns = stage.dims
    assert canonical([stage], (rows,)).key != canonical([stage], (columns,)).key


def test_terms_that_read_other_inputs_are_one_without_names() -> None:
    x, y = (p.Input(name, Array(4, F32)) for name in "xy")
    assert unnamed(p.Zip((x, y))) is unnamed(p.Zip((y, x))) is not unnamed(p.Zip((x, x)))
