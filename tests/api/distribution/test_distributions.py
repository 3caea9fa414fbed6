"""Each distribution forced in turn, and what is said where the laws have none such."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import egglift as el
from egglift.ir.errors import EggliftError
from tests import several
from tests.api.distribution.programs import PROGRAMS, agree, values

Three = Callable[..., Any]


def forced(name: str, distribution: Any) -> tuple[bool, dict[str, set[str]]]:
    """Is the result right, and how do devices have the inputs?"""
    program = el.as_program(PROGRAMS[name](20))
    kernel, given = several.kernel(program, 2, distribution), values(program)
    right = agree(kernel(**given), el.interpret(program, **given))
    return right, {n: {h for s in kernel.steps.steps for h in s.of(n)} for n in given}


@pytest.mark.parametrize(
    ("name", "distribution", "has"),
    [
        ("total", {"x": "block"}, {"x": {"block"}}),
        ("total", {"x": "copy"}, {"x": {"block"}}),
        ("dot", {"x": "block", "y": "copy"}, {"x": {"block"}, "y": {"block"}}),
        ("product", {"A": "block", "B": "copy"}, {"A": {"block"}, "B": {"copy"}}),
        ("product", {"A": "copy", "B": "block"}, {"A": {"copy"}, "B": {"block"}}),
        ("manhattan", {"B": "block"}, {"A": {"copy"}, "B": {"block"}}),
        ("product", {"A": "single", "B": "single"}, {"A": set(), "B": set()}),
        ("blur", {"x": "overlap"}, {"x": {"overlap"}}),
        ("blur", {"x": "copy"}, {"x": {"overlap"}}),
        ("forces", {"x": "copy"}, {"x": {"block", "copy"}, "y": {"block", "copy"}}),
        ("softmax", "single", {"x": set()}),
        ("softmax", "block", {"x": {"block"}}),
    ],
)
def test_a_forced_distribution_gives_the_same(
    three: Three, name: str, distribution: Any, has: Mapping[str, set[str]]
) -> None:
    assert three(forced, name, distribution) == (True, has)


def refusal(name: str, distribution: Any) -> str:
    with pytest.raises(EggliftError) as caught:
        several.kernel(PROGRAMS[name](20), 2, distribution)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "distribution", "said"),
    [
        ("blur", {"x": "block"}, "x cannot be distributed as block: by the laws that were found it is overlap"),
        ("total", {"x": "overlap"}, "x cannot be distributed as overlap"),
        ("forces", {"x": "block"}, "x"),
        ("total", {"y": "block"}, "no input y to distribute; the program takes x"),
        ("total", {"x": "cyclic"}, "block, overlap, copy, single, not 'cyclic'"),
    ],
)
def test_what_no_law_gives_is_refused_by_name(three: Three, name: str, distribution: Any, said: str) -> None:
    assert said in three(refusal, name, distribution)


def copied_where() -> tuple[int, bool]:
    """How many devices have all of an input that is to be a copy, and is the next call's result right?"""
    program = el.as_program(PROGRAMS["total"](20))
    kernel, given = several.kernel(program, 3, {"x": "copy"}), values(program)
    x = el.Vector(given["x"])
    kernel(x)
    copies = sum(key[1] is None for key in x.held.parts)
    x[3] = 100.0
    return copies, agree(kernel(x), np_total(x))


def np_total(x: el.Vector) -> Any:
    return x.numpy().sum()


def test_a_copy_is_on_every_device(three: Three) -> None:
    assert three(copied_where) == (3, True)
