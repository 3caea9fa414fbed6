"""What a kernel says of itself: what bounds it, and how it follows from its program."""

from __future__ import annotations

from pathlib import Path

import pytest

import egglift as el
from egglift.egraph.explanation.derivation import Derivation
from egglift.egraph.rules.book import book

pytestmark = pytest.mark.short


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test starts without records."""
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))


@pytest.fixture
def by_the_book(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates of the rule book alone: those of schedules have accounts, not derivations."""
    monkeypatch.setattr("egglift.search.by_schedules", lambda *_, **__: [])


def product(n: int = 64) -> el.Value:
    return el.array("A", el.f32, (n, n)) @ el.array("B", el.f32, (n, n))


def squares() -> el.Value:
    x = el.array("x", el.f32, 5000)
    return el.reduce(el.add, 0.0, x * x)


def test_an_explanation_gives_the_numbers_of_tile_lengths(by_the_book: None) -> None:
    kernel = el.optimize(squares(), "pocl", measure="none")
    text = kernel.explain()
    shown = [name for name, value in kernel.chosen.parameters.items() if f"\n  {name} = {value}: " in text]
    assert shown
    assert text.startswith(kernel.chosen.bound)


def test_a_schedule_is_explained_by_its_stages_and_loops() -> None:
    kernel = el.optimize(product(), "pocl", measure="none")
    scheduled = next(c for c in kernel.candidates if c.account is not None)
    text = str(scheduled.account)
    assert text.startswith("stage0[0 < 64, 1 < 64] = (add for 2 < 64 of (mul A[0,2]")
    assert "for 0 by m0: global1" in text and "keep operand 0 in private memory" in text
    assert scheduled.account.laws == ("split", "interchange", "keep")


def test_an_explanation_shows_each_law_with_what_it_changed(by_the_book: None) -> None:
    kernel = el.optimize(squares(), "pocl", measure="none")
    text = kernel.explain()
    assert all(book()[name].equation in text and book()[name].cited in text for name in kernel.chosen.laws)
    assert "`egglift laws NAME`" in text
    assert "\n    -> " in text and "Checked: " in text


def test_a_remembered_kernel_is_explained_as_it_was() -> None:
    first, second = (el.optimize(squares(), "pocl", measure="none") for _ in range(2))
    assert [c.form for c in second.candidates] == [c.form for c in first.candidates]
    assert second.explain() == first.explain()


def test_without_schedules_a_kernel_has_a_derivation() -> None:
    x = el.array("x", el.f32, 300)
    kernel = el.optimize(x * 2.0 + 1.0, "pocl", measure="none", without=["schedules"])
    assert isinstance(kernel.derivation, Derivation)
