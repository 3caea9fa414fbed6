"""Charts from plain data: ticks, points, bars and roofs."""

from __future__ import annotations

from math import inf

import pytest

from egglift.costmodel.search.around import SizeMap
from egglift.ir.markup import html
from egglift.ir.plain_numbers import duration, plain
from egglift.pages.axes import axis
from egglift.pages.candidates import Row, chart, table
from egglift.pages.machine import Launch, Level, amount, hierarchy, roofline
from egglift.pages.size_map import heat_map
from tests.page_parser import Page


@pytest.mark.parametrize("values", [(1e-6, 1e-3), (3e-5, 5e-5), (60.0, 61.0), (0.1, 0.1), (1.0, 1e9)])
def test_an_axis_has_a_few_ticks_within_its_ends(values: tuple[float, float]) -> None:
    found = axis("x", values, plain)
    assert 3 <= len(found.ticks) <= 16
    assert all(found.low <= x <= found.high for x in found.ticks)
    assert all(0 <= found.part(x) <= 1 for x in values)


def row(structure: str, estimate: float, measured: float | None, chosen: bool = False) -> Row:
    return Row(structure, estimate, measured, "measured" if measured else "by the model", "m0=4", chosen)


def test_measured_candidates_are_points_against_estimates() -> None:
    drawn = chart([row("a", 1e-5, 2e-5, True), row("b", 2e-5, 2e-5), row("c", 3e-5, None)])
    assert drawn is not None
    spots = Page(html(drawn)).root.all("circle")
    assert sorted(str(s.attributes["data-tip"]).splitlines()[0] for s in spots) == ["a", "b"]
    assert spots[-1].attributes["class"] == "spot chosen", "the chosen one is drawn over the others"


def test_candidates_without_numbers_have_no_chart_but_a_row() -> None:
    rows = [row("a", inf, None)]
    assert chart(rows) is None
    assert "a" in Page(html(table(rows))).root.text


def test_a_bar_is_as_long_as_its_bytes() -> None:
    levels = [Level("cache", 4e6, 1e9, 1e-3, ""), Level("memory", 1e6, 0.0, None, "")]
    bars = Page(html(hierarchy(levels))).root.all("div", "bar")
    assert [b.attributes["style"] for b in bars] == ["width: 100.0%", "width: 25.0%"]


def test_a_kernel_that_only_moves_has_no_roofline() -> None:
    moves, adds = Launch("k0", 0.0, 1e6, 1e-3, False), Launch("k1", 1e6, 1e6, 1e-3, True)
    roofs, peaks = [("memory", 1e10)], [("f32", 1e12)]
    assert roofline([moves], roofs, peaks) is None
    drawn = roofline([moves, adds], roofs, peaks)
    assert drawn is not None
    (spot,) = Page(html(drawn)).root.all("circle")
    assert spot.attributes["data-tip"] == "k1: 1 G/s, 1 operations per byte\n1 ms measured"


def test_a_map_has_a_cell_for_each_pair_and_marks_one() -> None:
    seconds = {(4, 8): 1e-6, (4, 16): 2e-6, (8, 8): 4e-6}
    found = SizeMap(("m0", "n0"), (4, 8), (8, 16), seconds, (4, 8), {"m0": 4.0, "n0": 2.0}, True)
    cells = Page(html(heat_map(found))).root.all("g", "cell")
    tips = [str(c.attributes["data-tip"]) for c in cells]
    assert tips[0] == f"m0 = 4, n0 = 8\n{duration(1e-6)}" and tips[1].endswith("2 times the best")
    assert ["chosen" in str(c.attributes["class"]) for c in cells] == [True, False, False, False]
    assert "none" in str(cells[3].attributes["class"])


def test_amounts_have_prefixes() -> None:
    assert [amount(x, "B") for x in (12.0, 4.19e6, 3e12)] == ["12 B", "4.19 MB", "3 TB"]
