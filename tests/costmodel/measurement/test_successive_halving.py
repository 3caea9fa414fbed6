"""Rounds of measuring, without a device: times are looked up."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from statistics import fmean

import pytest

from benchmarks.rounds import RESULTS, alike, in_rounds, play, recorded
from egglift.costmodel.measurement.successive_halving import EFFORTS, Entrant, Round, corrected, next_round


def entrants(*estimates: float, kind: str = "") -> list[Entrant]:
    return [Entrant(e, kind) for e in estimates]


def tried(race: list[Entrant], times: dict[int, float | None]) -> list[Entrant]:
    return [replace(e, tried=True, seconds=times[i]) if i in times else e for i, e in enumerate(race)]


def test_the_first_round_looks_at_the_best_by_the_model() -> None:
    assert next_round(entrants(5, 1, 4, 2, 3, 6, 7, 8), 0, 4) == Round((1, 3, 4), (1, 3, 4), EFFORTS[0])


def test_the_first_round_sees_close_kinds_too() -> None:
    race = [*entrants(1, 1.01, 1.02, 1.03, 1.04, kind="a"), Entrant(1.06, "b"), Entrant(1.2, "c")]
    step = next_round(race, 0, 4)
    assert step is not None
    assert step.fresh == (0, 1, 5)  # two by the model, and the best of b; c is not close


def test_the_first_round_sees_what_was_found_in_another_way() -> None:
    laws = [Entrant(1 + i / 100, f"{i}", way="laws") for i in range(8)]
    near, far = (Entrant(e, "rows", way="schedules") for e in (1.5, 2.5))
    assert next_round([*laws, near], 0, 8) == Round((0, 1, 2, 8, 3, 4), (0, 1, 2, 8, 3, 4), EFFORTS[0])
    assert next_round([*laws, far], 0, 8) == Round((0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5), EFFORTS[0])


def test_what_seems_hopeless_is_looked_at_last() -> None:
    race = entrants(1, 2, 100, 3000)
    step = next_round(race, 0, 4)
    assert step is not None and step.fresh == (0, 1)
    again = next_round(tried(race, {0: None, 1: None}), 0, 4)
    assert again is not None and again.fresh == (2,)


def test_half_of_them_stay_and_are_timed_longer_each_round() -> None:
    race = entrants(*(1 + i / 100 for i in range(8)))
    rounds, _ = play(race, [1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.0], 8)
    assert [r.effort for r in rounds] == list(EFFORTS)
    assert [r.timed for r in rounds] == [(0, 1, 2, 3, 4, 5), (5, 4, 3, 6, 7), (7, 6)]
    assert [r.fresh for r in rounds] == [(0, 1, 2, 3, 4, 5), (6, 7), ()]


def test_no_more_than_asked_for_are_looked_at_if_one_is_right() -> None:
    for measurements in range(1, 12):
        _, race = play(entrants(*range(1, 31)), [float(i) for i in range(1, 31)], measurements)
        assert sum(e.tried for e in race) <= measurements
        assert race[0].tried


def test_where_none_is_right_the_next_are_tried_briefly() -> None:
    race = tried(entrants(1, 2, 3, 4, 5), {0: None, 1: None})
    assert next_round(race, 0, 2) == Round((2, 3), (2, 3), EFFORTS[0])
    assert next_round(tried(race, {2: None, 3: None, 4: None}), 0, 2) is None


def test_what_was_measured_corrects_the_model_kind_by_kind() -> None:
    race = [Entrant(1, "a", True, 4.0), Entrant(2, "a"), Entrant(1, "b", True, 1.0), Entrant(2, "b"), Entrant(2, "c")]
    same, a, _, b, c = corrected(race)
    assert a > c > b
    assert c == pytest.approx(2 * exp(log(4.0) / 2))  # of all that was measured, the median
    assert same == pytest.approx(exp((log(4.0) + log(4.0) / 2) / 2))


def test_the_corrected_model_brings_in_what_it_put_behind() -> None:
    race = [Entrant(1, "a"), Entrant(1.1, "a"), Entrant(1.2, "b"), Entrant(1.22, "a"), Entrant(1.25, "b")]
    race = tried(race, {0: 2.0, 1: 2.2, 2: 1.3})
    step = next_round(race, 1, 4)
    assert step is not None
    assert step.fresh == (4,)


def test_what_the_corrected_model_finds_hopeless_is_left_out() -> None:
    race = tried(entrants(1, 1.1, 1.2, 50, 60), {0: 1.0, 1: 1.1, 2: 1.2})
    step = next_round(race, 1, 5)
    assert step is not None
    assert step.fresh == ()


def test_on_records_rounds_choose_as_well_as_the_first_ones() -> None:
    """Sixteen programs of up to a hundred candidates: the chosen one's time over the best one's, geometric mean."""
    programs = list(recorded(RESULTS / "pocl_ranking.json"))
    assert len(programs) == 16
    for measurements in (8, 12, 24):
        plain, halved = ([choose(rows, measurements) for rows in programs] for choose in (alike, in_rounds))
        assert fmean(log(q) for q, _, _ in halved) <= fmean(log(q) for q, _, _ in plain) + 0.001
        assert sum(built for _, built, _ in halved) <= sum(built for _, built, _ in plain)
        assert sum(seconds for _, _, seconds in halved) < 0.6 * sum(seconds for _, _, seconds in plain)
