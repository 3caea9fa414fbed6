"""Pictures of programs: every pattern has a box, boxes keep apart, and a large program is none."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

import egglift as el
from egglift.ir.boxes import laid
from egglift.ir.formulas import formula
from egglift.ir.markup import html
from egglift.ir.picture import MOST, picture
from egglift.ir.traverse import bodies
from tests.page_parser import Page

x = el.array("x", el.f32, 8)
A = el.array("A", el.f32, (4, 8))


def titles(program: el.Value) -> list[str]:
    """The headings of all boxes."""
    svg = picture(program.expr)
    assert svg is not None
    return [t.text for t in Page(html(svg)).root.all("text", "kind")]


def test_a_picture_has_a_box_for_each_pattern() -> None:
    assert sorted(titles(x.map(lambda v: v * 2.0).reduce(el.add))) == ["map", "reduce add from 0", "x"]


def test_a_body_is_drawn_within_its_pattern() -> None:
    assert sorted(titles(A.map(lambda row: row.roll(3)))) == ["A", "arg", "map", "roll 3"]


def test_a_scalar_body_is_a_formula() -> None:
    (body,) = bodies(x.map(lambda v: (v + 1.0) * el.exp(v)).expr)
    assert formula(body) == "(arg + 1) * exp(arg)"
    assert formula(x.expr.__class__("n", el.f32)) == "n"


def test_what_is_no_formula_has_none() -> None:
    (body,) = bodies(A.map(lambda row: row.reduce(el.add)).expr)
    assert formula(body) is None


def test_a_body_shared_again_and_again_is_refused_at_once() -> None:
    v = el.scalar("v", el.f32)
    for _ in range(200):
        v = v * v
    assert formula(v.expr) is None


@pytest.mark.parametrize("seed", range(5))
def test_boxes_keep_apart_and_arrows_go_down(seed: int) -> None:
    kids = {
        i: tuple(dict.fromkeys(j for j in ((i * 7 + seed) % max(1, i), i - 1, i // 2) if 0 <= j < i)) for i in range(12)
    }
    found = laid({i: (20.0 + 13 * (i * seed % 5), 30.0) for i in kids}, kids)
    for a, b in combinations(found.places.values(), 2):
        beside = a.x + a.width <= b.x + 1e-6 or b.x + b.width <= a.x + 1e-6
        assert beside or a.y + a.height <= b.y or b.y + b.height <= a.y
    assert all(up[1] <= down[1] for way in found.ways.values() for up, down in pairwise(way))
    assert all(q.x >= 0 and q.x + q.width <= found.width + 1e-6 for q in found.places.values())


def test_a_program_too_large_to_be_drawn_is_shown_as_text() -> None:
    large = x
    for i in range(MOST):
        large = el.concat(large, large[: 4 + i % 3])[:8]
    assert picture(large.expr) is None
    shown = large._repr_html_()
    assert "<pre>" in shown and "more lines" in shown and len(shown) < 10_000


def test_a_notebook_shows_a_value_as_its_picture() -> None:
    assert "<svg" in x._repr_html_() and "http" not in x._repr_html_()
