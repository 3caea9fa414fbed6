"""`egglift laws`: what a reader of the rule book sees."""

from __future__ import annotations

import json

import pytest

from egglift.cli import main
from egglift.egraph.rules.book import book
from egglift.egraph.rules.references import references


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["laws", *arguments]) == 0
    return capsys.readouterr().out


def joined(text: str) -> str:
    """Without the line breaks of a terminal."""
    return " ".join(text.split())


def test_the_book_lists_every_law_with_equation_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    text = joined(shown(capsys))
    assert all(joined(law.equation) in text and law.cited in text for law in book().laws)


def test_a_phase_lists_its_laws_only(capsys: pytest.CaptureFixture[str]) -> None:
    for phase, count in (("simplify", 6), ("fuse", 17), ("tile", 36), ("lower", 30), ("distribute", 18), ("none", 21)):
        entries = shown(capsys, "--phase", phase).split("\n\n")
        assert len(entries) == count
        first = entries[0].splitlines()[0]
        assert ("proofs only" if phase == "none" else phase) in first


def test_one_law_is_shown_with_all_that_its_header_means(capsys: pytest.CaptureFixture[str]) -> None:
    text = joined(shown(capsys, "deal"))
    assert joined(book()["deal"].equation) in text
    assert joined(references()["Hagedorn2018"]) in text
    assert "when: associative (+), commutative (+), neutral (+) e" in text
    assert "commutative f: f <a, b> = f <b, a>" in text
    assert "p: workers that share a reduction" in text
    assert "tile, then: arrays are cut" in text


def test_an_analysis_is_shown_with_the_laws_that_ask_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    text = joined(shown(capsys, "item-windows"))
    assert "of which one work-item computes the outputs" in text
    assert text.endswith("asked for by: interchange-window")


def test_laws_are_data_too(capsys: pytest.CaptureFixture[str]) -> None:
    laws = json.loads(shown(capsys, "--json", "--phase", "lower"))
    assert [law["name"] for law in laws] == [law.name for law in book().laws if "lower" in law.phases]
    one = json.loads(shown(capsys, "reduce-stride", "--json"))
    assert one["phases"] == [] and one["references"] == {"Hagedorn2018": references()["Hagedorn2018"]}
    assert [v["back"] for v in one["variants"]] == ["", "reduce (+) z (stride s x) = reduce (+) z x"]
    assert json.loads(shown(capsys, "closed", "--json"))["meaning"].startswith("closed x: ")


def test_an_unknown_name_is_an_error_that_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["laws", "map-fission"]) == 2
    said = capsys.readouterr().err
    assert "'map-fission'" in said and "map-fusion" in said and "item-windows" in said
