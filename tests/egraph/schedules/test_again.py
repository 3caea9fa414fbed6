"""A schedule that was chosen is made again from its steps: the same program of the same lengths, and one of others."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.again import made_again, structures_again
from egglift.egraph.schedules.choice import Choice
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.steps import Steps, steps_from
from egglift.ir.errors import CodegenError
from egglift.ir.run_time_lengths import at_lengths, liked
from egglift.ir.traverse import tile_symbols
from tests.run_time_programs import PROGRAMS

CHOSEN = [("pocl_cpu", "gemv"), ("pocl_cpu", "sum"), ("pocl_cpu", "transpose"), ("nvidia_h200", "gemv")]
CHOSEN += [("nvidia_h200", "sum"), ("nvidia_h200", "scal"), ("nvidia_h200", "transpose")]


def choices(device: str, name: str) -> list[Choice]:
    profile = presets()[device]
    return scheduled(liked(PROGRAMS[name].expr), profile, profile.limits, reassociate=True)


@pytest.mark.parametrize("device, name", CHOSEN)
def test_steps_make_the_very_term_that_was_chosen(device: str, name: str) -> None:
    kind = presets()[device].kind
    found = choices(device, name)
    assert found
    for c in found:
        assert isinstance(c.made, Steps)
        assert made_again(liked(PROGRAMS[name].expr), c.made, kind, reassociate=True) is c.term
        assert steps_from(json.loads(json.dumps(asdict(c.made)))) == c.made


def test_the_structures_of_steps_have_all_sizes_that_were_chosen() -> None:
    for c in choices("pocl_cpu", "sum"):
        assert isinstance(c.made, Steps)
        found = structures_again(liked(PROGRAMS["sum"].expr), c.made, "cpu", reassociate=True)
        assert all(set(sizes) == set(tile_symbols(structure.term)) for structure, sizes in found)
        assert sorted(n for _, sizes in found for n in sizes.values()) == sorted(n for _, n in c.sizes)


def test_stages_that_start_within_others_are_made_again() -> None:
    row = el.array("A", el.f32, (512, 256))
    norms = el.as_program(row.map(lambda r: r.map(lambda v: v / r.reduce(el.add, 0.0))))
    profile = presets()["nvidia_h200"]
    found = [c for c in scheduled(norms, profile, profile.limits, True) if c.sign.startswith("row")]
    assert found
    for c in found:
        assert isinstance(c.made, Steps) and made_again(norms, c.made, "gpu", reassociate=True) is c.term


@pytest.mark.parametrize("of", [lambda v: v / el.sqrt(np.sum(v * v, axis=1, keepdims=True)), lambda v: v[:, ::-1]])
def test_gathered_elements_are_made_again(of: Callable[[Any], Any]) -> None:
    program, profile = el.as_program(of(el.array("v", el.f32, (1 << 16, 3)))), presets()["nvidia_h200"]
    found = [c for c in scheduled(program, profile, profile.limits, True) if c.sign.endswith("gathered")]
    assert found
    for c in found:
        assert isinstance(c.made, Steps) and made_again(program, c.made, "gpu", reassociate=True) is c.term


def test_elements_of_short_reductions_are_made_again() -> None:
    x, profile = el.array("x", el.f32, 1 << 20), presets()["nvidia_h200"]
    program = el.as_program(np.stack((x, 2 * x, np.exp(x)), axis=0).max(axis=0))
    found = [c for c in scheduled(program, profile, profile.limits, True) if c.sign.endswith("each")]
    assert found
    for c in found:
        assert isinstance(c.made, Steps) and made_again(program, c.made, "gpu", reassociate=True) is c.term


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_make_an_equal_program_of_other_lengths(name: str, kind: str) -> None:
    p = PROGRAMS[name]
    plain = at_lengths(p.expr, p.lengths({"n": 37, "m": 23, "k": 41}))
    term = made_again(plain, p.cpu if kind == "cpu" else p.gpu, kind, reassociate=True)
    data = p.data({"n": 37, "m": 23, "k": 41})
    assert el.interpret(term, **data) == pytest.approx(p.meaning(*data.values()), rel=1e-4)


def test_steps_of_another_program_are_refused() -> None:
    softmax, gemv = PROGRAMS["softmax"], PROGRAMS["gemv"]
    with pytest.raises(CodegenError, match="2 stages, and not 1"):
        made_again(liked(softmax.expr), gemv.cpu, "cpu", reassociate=True)
