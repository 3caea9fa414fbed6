"""What a kernel says of itself: what bounds it, and how it follows from its program."""

from __future__ import annotations

from pathlib import Path

import pytest

import egglift as el
from egglift.egraph.rules.book import book


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test starts without records."""
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))


def product(n: int = 64) -> el.Value:
    return el.array("A", el.f32, (n, n)) @ el.array("B", el.f32, (n, n))


def test_an_explanation_gives_the_numbers_of_tile_lengths() -> None:
    kernel = el.optimize(product(), "pocl", measure="none")
    text = kernel.explain()
    shown = [name for name, value in kernel.chosen.parameters.items() if f"\n  {name} = {value}: " in text]
    assert shown
    assert text.startswith(kernel.chosen.bound)


def test_an_explanation_shows_each_law_with_what_it_changed() -> None:
    kernel = el.optimize(product(), "pocl", measure="none")
    text = kernel.explain()
    assert all(book()[name].equation in text and book()[name].cited in text for name in kernel.chosen.laws)
    assert "`egglift laws NAME`" in text
    assert "\n    -> " in text and "Checked: " in text


def test_a_remembered_kernel_is_explained_as_it_was() -> None:
    x = el.array("x", el.f32, 5000)
    first = el.optimize(el.reduce(el.add, 0.0, x * x), "pocl", measure="none")
    second = el.optimize(el.reduce(el.add, 0.0, x * x), "pocl", measure="none")
    assert [c.form for c in second.candidates] == [c.form for c in first.candidates]
    assert second.explain() == first.explain()
