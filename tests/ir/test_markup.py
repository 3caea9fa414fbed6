"""HTML as trees: what is text stays text."""

from __future__ import annotations

from egglift.ir.markup import html, tag


def test_text_and_attributes_are_escaped() -> None:
    written = html(tag("p", "a < b & ", tag("b", "<i>"), " c", title='"x"', class_="note"))
    assert written == '<p title="&quot;x&quot;" class="note">a &lt; b &amp; <b>&lt;i&gt;</b> c</p>'


def test_attributes_that_are_nothing_are_left_out() -> None:
    assert (
        html(tag("div", None, "", hidden=True, id=None, open=False, data_tip="t"))
        == '<div hidden="" data-tip="t"></div>'
    )


def test_numbers_of_pictures_are_short() -> None:
    assert html(tag("rect", x=1 / 3, y=2.0)) == '<rect x="0.33" y="2"></rect>'
