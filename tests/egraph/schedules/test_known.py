"""What is searched once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules import stage_choices
from egglift.egraph.schedules.choice import Choice
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.known import KNOWN, Known

PROFILE = presets()["nvidia_h200"]


def floats(name: str, *shape: int) -> Any:
    return el.array(name, el.f32, shape)


@pytest.fixture
def ranked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The structures whose sizes were ranked."""
    KNOWN.clear()
    found: list[str] = []
    usual = stage_choices.ranked

    def counted(structure: Any, *others: Any) -> Any:
        found.append(structure.sign)
        return usual(structure, *others)

    monkeypatch.setattr(stage_choices, "ranked", counted)
    yield found
    KNOWN.clear()


def search(program: Any) -> list[Choice]:
    return scheduled(el.as_program(program), PROFILE, PROFILE.limits, reassociate=True)


def product(i: int) -> Any:
    return floats(f"A{i}", 256, 128) @ floats(f"B{i}", 128, 512)


def test_equal_stages_of_a_program_are_searched_once(ranked: list[str]) -> None:
    search((product(0), product(1)))
    two = len(ranked)
    KNOWN.clear()
    ranked.clear()
    search(tuple(map(product, range(6))))
    assert len(ranked) == two > 0


def test_stages_of_other_programs_are_searched_once(ranked: list[str]) -> None:
    search((product(0), floats("x", 64) + 1))
    ranked.clear()
    search((product(7), floats("y", 64) + 1))
    assert not ranked


def test_stages_of_other_lengths_are_searched_anew(ranked: list[str]) -> None:
    search((product(0), floats("x", 64) + 1))
    ranked.clear()
    search((product(0), floats("x", 65) + 1))
    assert ranked


def test_what_is_known_reads_the_inputs_of_its_program(ranked: list[str]) -> None:
    search((product(0), product(1)))
    best, *_ = search((product(2), product(3)))
    program = el.as_program((product(2), product(3)))
    rng = np.random.default_rng(0)
    inputs = {
        name: rng.standard_normal([256, 128] if name[0] == "A" else [128, 512]).astype(np.float32)
        for name in ("A2", "A3", "B2", "B3")
    }
    for a, b in zip(el.interpret(best.term, **inputs), el.interpret(program, **inputs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)
    assert "A2" in best.account.text and "array0_" not in best.account.text


def test_what_time_cut_short_is_kept_for_no_other_search(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Known()
    with monkeypatch.context() as patch:
        patch.setattr("egglift.egraph.schedules.known.left", lambda: 0.0)
        assert known.once("a", lambda: 1) == 1
    assert known.once("a", lambda: 2) == 2
    assert known.once("a", lambda: 3) == 2


def test_the_last_of_many_are_known() -> None:
    known = Known(most=2)
    for key in "abc":
        known.once(key, lambda key=key: key)  # type: ignore[misc]
    assert known.once("c", lambda: "new") == "c" and known.once("a", lambda: "new") == "new"
