"""Options: equal ones share a record, others do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import egglift as el
from egglift.costmodel.measurement.measuring import Measuring
from egglift.costmodel.profiles.profile import presets
from egglift.options import Laws, Options, texts, useful

USUAL = Options()


@pytest.mark.parametrize(
    "other",
    [
        Options(cache=False),
        Options(measuring=Measuring(isolate=False)),
        Options(measuring=Measuring(deadline=1.0)),
    ],
)
def test_where_results_are_kept_and_measured_changes_none(other: Options) -> None:
    assert other == USUAL
    assert other.decisive == USUAL.decisive


@pytest.mark.parametrize(
    "other",
    [
        Options(fast_math=True),
        Options(measure="none"),
        Options(Laws(reassociate=False)),
        Options(Laws(rules=(";;; mine",))),
        Options(Laws(disabled=("split-k",))),
        Options(Laws(tf32=True)),
        Options(measuring=Measuring(measurements=3)),
        Options(measuring=Measuring(budget=1.0)),
    ],
)
def test_all_else_changes_the_key_of_a_record(other: Options) -> None:
    assert other != USUAL
    assert repr(other.decisive) != repr(USUAL.decisive)


def test_unless_it_measures_its_effort_is_not_in_the_key() -> None:
    few = Options(measure="none", measuring=Measuring(measurements=3))
    assert few.decisive == Options(measure="none").decisive


def test_a_budget_is_in_the_key_as_it_ends_the_search_too() -> None:
    short = Options(measure="none", measuring=Measuring(budget=1.0))
    assert short.decisive != Options(measure="none").decisive


@pytest.mark.parametrize("wrong", [{"measurements": 0}, {"budget": -1.0}, {"budget": float("nan")}, {"deadline": 0.0}])
def test_numbers_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(el.ArgumentError, match=name):
        Measuring(**wrong)


def test_a_wrong_word_and_a_single_text_are_refused() -> None:
    with pytest.raises(el.ArgumentError, match='measure is "sample" or "none"'):
        Options(measure="all")
    with pytest.raises(el.ArgumentError, match=r"rules=\[text\]"):
        texts(";;; mine")


def test_a_device_of_many_units_shares_out_single_reductions() -> None:
    small = replace(presets()["nvidia_h200"], compute_units=2)
    assert useful(Laws(), presets()["nvidia_h200"]) == Laws()
    assert useful(Laws(), small).disabled == ("split-k", "split-row")
