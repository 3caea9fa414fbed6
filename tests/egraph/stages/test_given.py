"""Reads of a stage that starts within another are its element."""

from __future__ import annotations

import pytest

from egglift.egraph.stages.given import Given, NotGiven
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.egraph.stages.stage import Read, Stage
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.traverse import subterms
from egglift.ir.types import F32
from tests.egraph.stages.programs import add_up, arr


def centred() -> Stages:
    return stages_of(as_program(arr("A", 5, 7).map(lambda r: r.map(lambda v: v - add_up(r) / 7))))


def test_what_is_computed_of_an_array_is_computed_of_its_element() -> None:
    first, last = centred().stages
    names, x = last.names, p.Input(first.name, first.type)
    element = p.Arg(F32)
    doubled = p.Map(p.Apply("add", (element, element)), x)
    body = names.with_reads(last.body, lambda r: Read(doubled, r.dims) if r.view == x else r)
    assert body != last.body
    inside = Given({first.name: first}).within(Stage(last.name, last.dims, body, names))
    (given,) = inside.given
    assert p.Apply("add", (given, given)) in set(subterms(inside.body))


def test_only_elements_at_one_place_are_given() -> None:
    first, last = centred().stages
    given = Given({first.name: first})
    inside = given.within(last)
    assert given.at[first.name] == last.dims[:1]
    assert len(inside.given) == 1
    names, x = last.names, p.Input(first.name, first.type)
    turned = names.with_reads(last.body, lambda r: Read(p.Roll(1, x), r.dims) if r.view == x else r)
    with pytest.raises(NotGiven):
        Given({first.name: first}).within(Stage(last.name, last.dims, turned, names))
